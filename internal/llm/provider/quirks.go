package provider

import (
	"cmp"
	"net/url"
	"path"
	"slices"
	"strings"

	"garuda/internal/llm"
)

// quirkRow says what is different about some models. It holds for a provider of
// one of the names, or an address on one of the hosts, or for all where it names
// neither; and there for models whose ids match one of the patterns, or for all.
type quirkRow struct {
	providers []string // names of Garuda's own providers
	hosts     []string // a host, or a domain with a leading dot
	models    []string // as in path.Match, but * goes over slashes, and letters are lower case
	why       string
	quirks    llm.Quirks
}

// quirkTable is what is known; of two rows that say something of the same thing
// the later counts. The provider "openai" is known by its address alone: under
// OPENAI_BASE_URL there may be any server.
var quirkTable = []quirkRow{
	// Models, wherever they run.
	{models: []string{"*mistral*", "*mixtral*", "*ministral*", "*magistral*", "*devstral*", "*codestral*", "*pixtral*"},
		why:    "templates and servers refuse a user's message behind a tool's result, and two of one role",
		quirks: llm.Quirks{Alternate: true}},
	{models: []string{"*gemma*"},
		why:    "the template wants user and assistant by turns",
		quirks: llm.Quirks{Alternate: true}},
	{models: []string{"*gemma-2*", "*gemma2*"},
		why:    "the template has no system role",
		quirks: llm.Quirks{SystemRole: "user"}},
	{models: []string{"*kimi*"},
		why:    "the model counts its calls (functions.name:0) and gets worse when the ids are others",
		quirks: llm.Quirks{CallIDs: "own"}},

	// Claude.
	{providers: []string{"vertex"}, hosts: []string{"api.anthropic.com"}, models: []string{"claude-*"},
		why:    "Anthropic searches the web itself; on Vertex too, but not on Bedrock",
		quirks: llm.Quirks{WebSearch: true}},

	// OpenAI.
	{hosts: []string{"api.openai.com", ".api.openai.com", ".openai.azure.com"},
		why:    "max_tokens is refused for models that think; requests of one session share a cache by its key",
		quirks: llm.Quirks{MaxTokensField: "max_completion_tokens", CacheKey: true}},
	{hosts: []string{"api.openai.com", ".api.openai.com"}, models: []string{"gpt-[4-9]*", "o[1-9]*"},
		why:    "web_search is a tool of the Responses API",
		quirks: llm.Quirks{WebSearch: true}},
	{hosts: []string{"api.openai.com", ".api.openai.com", ".openai.azure.com"}, models: []string{"gpt-[5-9]*"},
		why:    "tools with free text came with GPT-5",
		quirks: llm.Quirks{CustomTools: true}},
	{hosts: []string{"api.openai.com", ".api.openai.com", ".openai.azure.com"}, models: []string{"gpt-[5-9]*", "o[1-9]*"},
		why:    "models that think take their instructions from the developer role",
		quirks: llm.Quirks{SystemRole: "developer"}},
	{hosts: []string{"api.openai.com", ".api.openai.com", ".openai.azure.com"}, models: []string{"gpt-5.[1-9]", "gpt-5.[1-9]-mini*", "gpt-5.[1-9]-nano*", "gpt-5.[1-9]-20*"},
		why:    "since GPT-5.1 thinking can be turned off, except in the pro and codex models",
		quirks: llm.Quirks{ThinkOffWord: "none"}},
	{hosts: []string{"api.openai.com", ".api.openai.com", ".openai.azure.com"}, models: []string{"gpt-4.1-nano*"},
		why:    "it repeats one call several times when calls may be parallel, as OpenAI says",
		quirks: llm.Quirks{ParallelCalls: "off"}},

	// OpenRouter.
	{providers: []string{"openrouter"}, hosts: []string{"openrouter.ai"},
		why:    "it has one object for how all its models think",
		quirks: llm.Quirks{ThinkingField: llm.ThinkByReasoning}},
	{providers: []string{"openrouter"}, hosts: []string{"openrouter.ai"}, models: []string{"anthropic/*", "google/gemini*"},
		why:    "their caches want marks on parts of the content",
		quirks: llm.Quirks{CacheControl: true}},
	{providers: []string{"openrouter"}, hosts: []string{"openrouter.ai"},
		models: []string{"openai/gpt-5", "openai/gpt-5-*", "openai/gpt-oss*", "openai/o[1-9]*", "google/gemini-*-pro*", "x-ai/grok-4*", "*-thinking*", "*deepseek-r1*"},
		why:    "their thinking cannot be turned off, and a request to do so is refused",
		quirks: llm.Quirks{ThinksAlways: true}},
	{providers: []string{"openrouter"}, hosts: []string{"openrouter.ai"}, models: []string{"moonshotai/kimi*", "deepseek/*"},
		why:    "a message of the assistant's without its thinking is refused by the provider behind",
		quirks: llm.Quirks{PlaybackAlways: true}},

	// Other services.
	{providers: []string{"deepseek"}, hosts: []string{"api.deepseek.com"},
		why:    "thinking is turned on and off by its type; each message must bring its reasoning_content back, an empty one too",
		quirks: llm.Quirks{ThinkingField: llm.ThinkByType, Efforts: "low,high,max", PlaybackAlways: true}},
	{providers: []string{"xai"}, hosts: []string{"api.x.ai"},
		models: []string{"grok-3", "grok-3-[^m]*", "grok-4", "grok-4-*", "grok-4.20", "grok-4.20-[^m]*", "grok-code*", "grok-build*"},
		why:    "they think as they like and refuse reasoning_effort",
		quirks: llm.Quirks{ThinkingField: llm.ThinkUntold}},
	{providers: []string{"xai"}, hosts: []string{"api.x.ai"}, models: []string{"grok-4.3*"},
		why:    "it can be told not to think",
		quirks: llm.Quirks{ThinkOffWord: "none"}},
	{providers: []string{"xai"}, hosts: []string{"api.x.ai"},
		why:    "web_search is a tool of its Responses API",
		quirks: llm.Quirks{WebSearch: true}},
	{providers: []string{"groq"}, hosts: []string{"api.groq.com"},
		why:    "unknown members of messages are refused, reasoning_content among them",
		quirks: llm.Quirks{Playback: llm.PlaybackNever}},
	{providers: []string{"groq"}, hosts: []string{"api.groq.com"}, models: []string{"*qwen*"},
		why:    "thinking is on (default) or off (none)",
		quirks: llm.Quirks{Efforts: "none,default"}},
	{providers: []string{"groq"}, hosts: []string{"api.groq.com"}, models: []string{"moonshotai/*", "meta-llama/*", "llama*"},
		why:    "reasoning_effort is refused for models that do not think there",
		quirks: llm.Quirks{ThinkingField: llm.ThinkUntold}},
	{hosts: []string{"api.cerebras.ai"},
		why:    "unknown members of messages are refused, reasoning_content among them",
		quirks: llm.Quirks{Playback: llm.PlaybackNever, MaxTokensField: "max_completion_tokens"}},
	{providers: []string{"mistral"}, hosts: []string{"api.mistral.ai"},
		why:    "unknown fields are refused, stream_options among them, and usage comes unasked; ids have nine letters and digits; thinking is a part of the content, high or none",
		quirks: llm.Quirks{NoStreamUsage: true, CallIDs: "short", Alternate: true, Playback: llm.PlaybackContent, Efforts: "none,high"}},
	{providers: []string{"mistral"}, hosts: []string{"api.mistral.ai"}, models: []string{"magistral*"},
		why:    "it always thinks and refuses reasoning_effort",
		quirks: llm.Quirks{ThinkingField: llm.ThinkUntold}},
	{hosts: []string{"api.moonshot.ai", "api.moonshot.cn", "api.kimi.com"},
		why:    "thinking is turned on and off by its type; a message with calls must bring its reasoning_content back",
		quirks: llm.Quirks{ThinkingField: llm.ThinkByType, PlaybackAlways: true}},
	{hosts: []string{"api.moonshot.ai", "api.moonshot.cn", "api.kimi.com"}, models: []string{"kimi-k2-thinking*"},
		why:    "it always thinks",
		quirks: llm.Quirks{ThinkingField: llm.ThinkUntold}},
	{hosts: []string{"api.z.ai", "open.bigmodel.cn"},
		why:    "thinking is turned on and off by its type",
		quirks: llm.Quirks{ThinkingField: llm.ThinkByType}},
	{hosts: []string{"dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com", "dashscope-us.aliyuncs.com"},
		why:    "Qwen's own service has a field for whether to think",
		quirks: llm.Quirks{ThinkingField: llm.ThinkByEnable}},
	{hosts: []string{"api.minimax.io", "api.minimaxi.com"},
		why:    "the thinking stands between tags in the content, and must come back there",
		quirks: llm.Quirks{Playback: llm.PlaybackTags, ThinkingField: llm.ThinkUntold}},

	// Servers on one's own machine.
	{providers: []string{"ollama"},
		why:    "reasoning goes back as it came; none turns thinking off",
		quirks: llm.Quirks{Playback: llm.PlaybackField, ThinkOffWord: "none"}},
	{providers: []string{"lmstudio"},
		why:    "null is refused as content; templates want turns",
		quirks: llm.Quirks{EmptyContent: "string", Alternate: true}},
	{providers: []string{"llamacpp"},
		why:    "thinking is an argument of the template, which wants turns; calls are one by one unless asked for",
		quirks: llm.Quirks{ThinkingField: llm.ThinkByTemplate, Alternate: true, ParallelCalls: "on"}},
	{providers: []string{"vllm"},
		why:    "thinking is an argument of the template, which wants turns; reasoning goes back as it came",
		quirks: llm.Quirks{ThinkingField: llm.ThinkByTemplate, Alternate: true, Playback: llm.PlaybackField}},
	{providers: []string{"lmstudio", "llamacpp", "vllm"}, models: []string{"*llama-3*", "*llama3*"},
		why:    "the template refuses a message with two calls",
		quirks: llm.Quirks{ParallelCalls: "off"}},
	{providers: []string{"lmstudio", "llamacpp", "vllm"}, models: []string{"*deepseek-r1*", "*qwq*", "*qwen3*thinking*"},
		why:    "the template opens <think> itself, so the answer begins inside it",
		quirks: llm.Quirks{ImpliedThink: true}},
}

func (r *quirkRow) matches(provider, host, id string) bool {
	if len(r.providers)+len(r.hosts) > 0 && !slices.Contains(r.providers, provider) && !slices.ContainsFunc(r.hosts, func(h string) bool {
		return host == h || strings.HasPrefix(h, ".") && strings.HasSuffix(host, h)
	}) {
		return false
	}
	return len(r.models) == 0 || slices.ContainsFunc(r.models, func(pattern string) bool {
		// path.Match stops at slashes, which ids are full of.
		ok, err := path.Match(strings.ReplaceAll(pattern, "/", "\x00"), strings.ReplaceAll(id, "/", "\x00"))
		return ok && err == nil // a test reads every pattern
	})
}

// quirksOf gathers what the table says of a model at a base URL, with own, what
// is known of the endpoint, over it.
func quirksOf(provider, base, id string, own llm.Quirks) llm.Quirks {
	host, id := "", strings.ToLower(id)
	if u, err := url.Parse(base); err == nil {
		host = strings.ToLower(u.Hostname())
	}
	var q llm.Quirks
	for i := range quirkTable {
		if r := &quirkTable[i]; r.matches(provider, host, id) {
			q = overlay(q, r.quirks)
		}
	}
	return overlay(q, own)
}

// overlay puts what over says in place of what q says.
func overlay(q, over llm.Quirks) llm.Quirks {
	return llm.Quirks{
		MaxTokensField:    cmp.Or(over.MaxTokensField, q.MaxTokensField),
		TextToolCalls:     cmp.Or(over.TextToolCalls, q.TextToolCalls),
		NoStreamUsage:     over.NoStreamUsage || q.NoStreamUsage,
		ResponsesFallback: over.ResponsesFallback || q.ResponsesFallback,
		ThinkingField:     cmp.Or(over.ThinkingField, q.ThinkingField),
		Efforts:           cmp.Or(over.Efforts, q.Efforts),
		ThinkOffWord:      cmp.Or(over.ThinkOffWord, q.ThinkOffWord),
		ThinksAlways:      over.ThinksAlways || q.ThinksAlways,
		Playback:          cmp.Or(over.Playback, q.Playback),
		PlaybackAlways:    over.PlaybackAlways || q.PlaybackAlways,
		ImpliedThink:      over.ImpliedThink || q.ImpliedThink,
		SystemRole:        cmp.Or(over.SystemRole, q.SystemRole),
		Alternate:         over.Alternate || q.Alternate,
		EmptyContent:      cmp.Or(over.EmptyContent, q.EmptyContent),
		CallIDs:           cmp.Or(over.CallIDs, q.CallIDs),
		ParallelCalls:     cmp.Or(over.ParallelCalls, q.ParallelCalls),
		CacheKey:          over.CacheKey || q.CacheKey,
		CacheControl:      over.CacheControl || q.CacheControl,
		CustomTools:       over.CustomTools || q.CustomTools,
		WebSearch:         over.WebSearch || q.WebSearch,
	}
}
