package provider

import "garuda/internal/llm/bedrock"

// Types of provider, as models.json names them, and the wire format of each.
const (
	typeCompatible = "openai-compatible"
	typeResponses  = "openai-responses"
	typeAnthropic  = "anthropic"
	typeGemini     = "gemini"
)

// formats maps a type to llm.Info.Format, which names the client.
var formats = map[string]string{
	typeCompatible: "chat", typeResponses: "responses", typeAnthropic: "anthropic", typeGemini: "gemini",
	typeBedrock: "anthropic", typeVertex: "anthropic",
}

// builtin is a provider that needs no entry in models.json.
type builtin struct {
	// baseURL is empty for a cloud, which has an address for each region.
	name, typ, baseURL string
	// keyEnv is the variable and the credentials entry of the key; empty for none.
	keyEnv string
	// baseEnv is the variable that replaces baseURL; empty for none.
	baseEnv string
	// model is what to take when the user named none and the catalogue has no
	// default, or a better one is known by name.
	model string
	// title is set for the servers that run on the user's machine and are asked
	// whether they answer; their models cost nothing.
	title string
}

// openAIBase is where OpenAI itself is: only there is the Responses API spoken
// without being asked for in models.json.
const openAIBase = "https://api.openai.com/v1"

// builtins are in the order in which a model is looked for when none is named:
// first those whose key is set, then the local servers.
var builtins = []builtin{
	{name: "anthropic", typ: typeAnthropic, baseURL: "https://api.anthropic.com", keyEnv: "ANTHROPIC_API_KEY", baseEnv: "ANTHROPIC_BASE_URL", model: "sonnet"},
	{name: "openai", typ: typeResponses, baseURL: openAIBase, keyEnv: "OPENAI_API_KEY", baseEnv: "OPENAI_BASE_URL"},
	{name: "gemini", typ: typeGemini, baseURL: "https://generativelanguage.googleapis.com", keyEnv: "GEMINI_API_KEY", baseEnv: "GEMINI_BASE_URL"},
	{name: "openrouter", typ: typeCompatible, baseURL: "https://openrouter.ai/api/v1", keyEnv: "OPENROUTER_API_KEY"},
	{name: "deepseek", typ: typeCompatible, baseURL: "https://api.deepseek.com/v1", keyEnv: "DEEPSEEK_API_KEY"},
	{name: "xai", typ: typeCompatible, baseURL: "https://api.x.ai/v1", keyEnv: "XAI_API_KEY"},
	{name: "groq", typ: typeCompatible, baseURL: "https://api.groq.com/openai/v1", keyEnv: "GROQ_API_KEY"},
	{name: "mistral", typ: typeCompatible, baseURL: "https://api.mistral.ai/v1", keyEnv: "MISTRAL_API_KEY", model: "mistral-medium-latest"},
	{name: "bedrock", typ: typeBedrock, keyEnv: bedrock.BearerName},
	{name: "vertex", typ: typeVertex},
	{name: "ollama", typ: typeCompatible, baseURL: "http://localhost:11434/v1", title: "Ollama"},
	{name: "lmstudio", typ: typeCompatible, baseURL: "http://localhost:1234/v1", title: "LM Studio"},
	{name: "llamacpp", typ: typeCompatible, baseURL: "http://localhost:8080/v1", title: "llama.cpp"},
	{name: "vllm", typ: typeCompatible, baseURL: "http://localhost:8000/v1", title: "vLLM"},
}

func builtinNamed(name string) (builtin, bool) {
	for _, b := range builtins {
		if b.name == name {
			return b, true
		}
	}
	return builtin{}, false
}
