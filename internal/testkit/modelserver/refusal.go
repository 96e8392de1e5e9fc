package modelserver

import (
	"fmt"
	"net/http"
)

// Faults of the first group that say what a server does not take, and those of
// what stands between it and the client.
const (
	Permission  = "permission"   // 403: the key may not use this model
	BadImage    = "bad_image"    // 400 that refuses an image, naming its block where the API does
	Content     = "content"      // 400: the content is not allowed
	BadSchema   = "bad_schema"   // 400 that names a tool
	OutputLimit = "output_limit" // 400: max_tokens is above what the model can do
	CallPairs   = "call_pairs"   // 400: a call has no result
	Signature   = "signature"    // 400: what binds the thinking does not fit
	Gateway     = "gateway"      // 502 with a page, as nginx gives it
	Redirect    = "redirect"     // 307 to another address
	Compressed  = "compressed"   // 200, said to be compressed
	Nothing     = "nothing"      // 200 without a body
	HeadersOnly = "headers_only" // 200, and nothing more until the client leaves
)

// refusalWords are the APIs' words for them: anthropic, OpenAI's, gemini.
var refusalWords = map[string][3]words{
	Permission: {
		{403, "permission_error", nil, "Your API key does not have permission to use the specified resource", nil, false},
		{403, "request_forbidden", "unsupported_country_region_territory", "Country, region, or territory not supported", nil, false},
		{403, "PERMISSION_DENIED", nil, "Permission denied on the model.", nil, false},
	},
	BadImage: {
		{400, "invalid_request_error", nil, "messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 5404560 bytes > 5242880 bytes", nil, false},
		{400, "invalid_request_error", "invalid_image_format", "You uploaded an unsupported image.", obj{"param": "messages[0].content[1].image_url"}, false},
		{400, "INVALID_ARGUMENT", nil, "Unable to process input image. Please retry or report it.", nil, false},
	},
	Content: {
		{400, "invalid_request_error", nil, "Output blocked by content filtering policy", nil, false},
		{400, "invalid_request_error", "invalid_prompt", "Your prompt was flagged as potentially violating our usage policy.", nil, false},
		{400, "INVALID_ARGUMENT", nil, "The request was blocked.", nil, false},
	},
	BadSchema: {
		{400, "invalid_request_error", nil, "tools.0.custom.input_schema: JSON schema is invalid.", nil, false},
		{400, "invalid_request_error", "invalid_function_parameters", "Invalid schema for function 'bash'.", obj{"param": "tools[0].function.parameters"}, false},
		{400, "INVALID_ARGUMENT", nil, "* GenerateContentRequest.tools[0].function_declarations[0].parameters.properties[x].items: missing field.\n", nil, false},
	},
	OutputLimit: {
		{400, "invalid_request_error", nil, "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for scripted", nil, false},
		{400, "invalid_request_error", "invalid_value", "max_tokens is too large: 100000. This model supports at most 16384 completion tokens.", obj{"param": "max_tokens"}, false},
		{400, "INVALID_ARGUMENT", nil, "Unable to submit request because it has a maxOutputTokens value of 100000 but the supported range is from 1 (inclusive) to 65537 (exclusive).", nil, false},
	},
	CallPairs: {
		{400, "invalid_request_error", nil, "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1.", nil, false},
		{400, "invalid_request_error", nil, "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.", obj{"param": "messages[1].role"}, false},
		{400, "INVALID_ARGUMENT", nil, "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.", nil, false},
	},
	Signature: {
		{400, "invalid_request_error", nil, "messages.1.content.0: Invalid `signature` in `thinking` block", nil, false},
		{400, "invalid_request_error", "invalid_encrypted_content", "The encrypted content could not be verified.", nil, false},
		{400, "INVALID_ARGUMENT", nil, "Thought signature is not valid.", nil, false},
	},
}

// refusal is the format's words for a kind of refusalWords.
func refusal(kind, format string) (words, bool) {
	all, ok := refusalWords[kind]
	switch format {
	case "anthropic":
		return all[0], ok
	case "gemini":
		return all[2], ok
	}
	return all[1], ok
}

// between answers as what stands between client and server does; false for a
// fault that is none of these.
func (f *Fault) between(w http.ResponseWriter, r *http.Request, closed <-chan struct{}) (status int, ok bool) {
	status = http.StatusOK
	switch f.Kind {
	case Gateway:
		status = http.StatusBadGateway
		if f.Status != 0 {
			status = f.Status
		}
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(status)
		fmt.Fprintf(w, "<html>\r\n<head><title>%d %s</title></head>\r\n<body></body>\r\n</html>\r\n", status, http.StatusText(status))
	case Redirect:
		status = http.StatusTemporaryRedirect
		http.Redirect(w, r, "/elsewhere", status)
	case Compressed:
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Content-Encoding", "zstd")
		fmt.Fprint(w, "\x28\xb5\x2f\xfd")
	case Nothing:
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(status)
	case HeadersOnly:
		w.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(w).Flush() // a client that left is recorded as gone
		select {
		case <-r.Context().Done():
		case <-closed:
		}
	default:
		return 0, false
	}
	return status, true
}
