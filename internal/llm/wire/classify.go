package wire

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"garuda/internal/llm"
)

// Failure types an error that arrived inside an answer: data is the event or
// document that holds it.
func (r *Reply) Failure(data []byte) error { return r.classify(data, nil) }

func (r *Reply) classify(body []byte, header http.Header) error {
	// Keys go first: a message that is cut to its length could end in half a key,
	// which nobody would know for one.
	f := parseFailure([]byte(r.client.redact(string(body))))
	if name, _, _ := strings.Cut(header.Get("X-Amzn-Errortype"), ":"); name != "" {
		f.names += " " + name
	}
	f.status = r.status
	if f.status >= 200 && f.status < 300 {
		f.status = 0
		if n, err := strconv.Atoi(f.code); err == nil && n >= 400 && n < 600 {
			f.status = n // OpenRouter and others put the status inside the stream
		}
	}
	if f.message == "" {
		f.message = strings.TrimSpace(f.names)
	}
	if f.message == "" {
		f.message = "no reason given"
		if f.status != 0 {
			f.message = strings.TrimSpace(strings.ToLower(http.StatusText(f.status)) + " (the server gave no reason)")
		}
	}
	e := r.newError(f.kind(), f.message)
	e.Status = f.status
	e.Block = block(f.param, f.message)
	e.RetryAfter = f.retryAfter(e.Kind, header, r.client.clock.Now())
	e.NoRetry = strings.EqualFold(header.Get("X-Should-Retry"), "false")
	e.Image = e.Kind == llm.ErrBadRequest && f.isImage()
	switch {
	case e.Kind == llm.ErrContextOverflow:
		e.Window = f.contextWindow()
	case e.Kind == llm.ErrBadRequest && containsAny(strings.ToLower(f.message), outputWords):
		e.OutputLimit, e.MaxOutput = true, f.maxOutput()
	}
	e.Hint = r.hint(e, &f)
	return e
}

// hint says what the user can do next, where that is known.
func (r *Reply) hint(e *llm.Error, f *failure) string {
	info := r.client.info
	if strings.Contains(f.message, "HTTP request to an HTTPS server") || strings.Contains(f.message, "plain HTTP request was sent to HTTPS") {
		return "the server wants TLS: should the base URL begin with https://?"
	}
	if f.page && e.Kind != llm.ErrTooLarge {
		if e.Kind == llm.ErrServer || e.Kind == llm.ErrOverloaded {
			return "a gateway in front of the model server answered in its place"
		}
		return "this is a page of a proxy or gateway, not an answer of a model API: check the base URL and the proxy settings"
	}
	switch e.Kind {
	case llm.ErrAuth:
		switch {
		case f.status == http.StatusProxyAuthRequired:
			return "check the user and the password in HTTP_PROXY or HTTPS_PROXY"
		case r.client.key == "" && f.status != http.StatusForbidden:
			return "the server wants a key and none is set"
		case info.KeySource != "" && info.KeySource != "none":
			return "check the key from " + info.KeySource
		}
	case llm.ErrContextOverflow:
		if info.Local {
			return r.overflowHint(e.Window)
		}
	case llm.ErrBadRequest:
		switch {
		case f.isMaxTokens():
			return fmt.Sprintf("set maxTokens of %q in models.json to what the server takes", info.Spec)
		case f.status == http.StatusNotFound || f.isNoModel():
			return "check the model's name and the base URL"
		}
	}
	return ""
}

// overflowHint names the settings: Garuda's own, so that it compacts in time, and
// the one that makes a local server's context larger.
func (r *Reply) overflowHint(window int) string {
	info := r.client.info
	tokens := "to what the server really has"
	if window > 0 {
		tokens = fmt.Sprintf("to %d", window)
	}
	larger := "the server's own context setting"
	switch info.Provider {
	case "ollama":
		larger = "num_ctx in Ollama (or OLLAMA_CONTEXT_LENGTH)"
	case "llamacpp":
		larger = "--ctx-size of llama-server"
	case "lmstudio":
		larger = "the context length with which LM Studio loads the model"
	case "vllm":
		larger = "--max-model-len of vLLM"
	}
	return fmt.Sprintf("set contextWindow of %q in models.json %s, or raise %s", info.Spec, tokens, larger)
}
