package wire

// The spellings of errors, lower case: names are looked for in an error's type,
// code, status and reasons, words in its message. testdata/errors holds answers
// of real servers for them.
var (
	overflowNames = []string{
		"context_length_exceeded",    // OpenAI, Groq, OpenRouter
		"exceed_context_size",        // llama.cpp
		"context_window_exceeded",    // Anthropic, Z.ai
		"contextwindowexceedederror", // LiteLLM
		"model_context_window",
	}
	overflowWords = []string{
		"prompt is too long",                     // Anthropic, Fireworks
		"prompt too long",                        // Ollama
		"exceed context limit",                   // Anthropic: input length and `max_tokens` exceed context limit
		"maximum context length",                 // OpenAI, OpenRouter, DeepSeek, vLLM, SGLang, Mistral
		"maximum prompt length",                  // xAI
		"exceeds the context window",             // OpenAI Responses
		"exceed the configured limit",            // Azure: Input tokens exceed the configured limit of 272000 tokens
		"exceeds the available context size",     // llama.cpp
		"context size has been exceeded",         // LM Studio, llama.cpp
		"context the overflows",                  // LM Studio (its spelling)
		"context overflows",                      // LM Studio
		"greater than the context length",        // LM Studio
		"exceeded max context length",            // Ollama
		"input length exceeds",                   // Ollama: the input length exceeds the context length
		"exceeds the context length",             // Ollama
		"longer than the model's context length", // SGLang, Together
		"longer than the maximum model length",   // vLLM
		"exceeds the maximum allowed length",     // SGLang
		"maximum allowed input length",           // SGLang, Together
		"exceed context window",                  // llama-cpp-python
		"context window exceeds limit",           // MiniMax
		"exceeded model token limit",             // Moonshot
		"input is too long for requested model",  // Bedrock
		"number of tokens allowed",               // Gemini, Vertex
		"range of input length should be",        // Qwen
		"`inputs` tokens + `max_new_tokens`",     // Together, TGI
		"reduce the length of the messages",      // Groq
		"larger than the model's context",
		"contextwindowexceedederror", // LiteLLM, inside its message
	}
	// outputWords are an output limit that is too large by itself: near misses of
	// the overflow, which a smaller conversation does not mend.
	outputWords = []string{
		"max_tokens is too large",                    // OpenAI
		"maximum allowed number of output tokens",    // Anthropic
		"maximum tokens you requested exceed",        // Bedrock, with and without an s
		"`max_tokens` must be less than or equal to", // Groq
		"valid range of max_tokens",                  // DeepSeek
		"has a maxoutputtokens value",                // Vertex
		"max_output_tokens value",                    // Gemini
		"exceeds model's maximum output tokens",      // Ollama
		"max_completion_tokens is too large",         // OpenAI
		"maximum value for `max_tokens`",             // Groq
	}
	tooLargeNames = []string{"request_too_large", "request_entity_too_large"}
	tooLargeWords = []string{
		"request too large", "request entity too large", "request body too large", "payload too large", "content too large",
		"request exceeds the maximum size", // Anthropic
		"request payload size exceeds",     // Gemini
		"request size limit exceeded",      // Bedrock
		"length limit exceeded",            // servers on axum
		"exceeded limit on max bytes",
	}
	quotaNames = []string{
		"insufficient_quota", "billing", "insufficient_balance", "insufficient_credits", "insufficient_user_quota", "payment_required",
		"servicequotaexceeded", // Bedrock
		"budget_exceeded",      // LiteLLM
	}
	quotaWords = []string{
		"credit balance is too low",       // Anthropic
		"exceeded your current quota",     // OpenAI, Gemini
		"insufficient balance",            // DeepSeek, Moonshot
		"insufficient credits",            // OpenRouter
		"requires more credits",           // OpenRouter
		"key limit exceeded",              // OpenRouter
		"api usage limits",                // Anthropic: you have reached your specified API usage limits
		"extra usage is required",         // Anthropic
		"all available credits",           // xAI
		"any credits or licenses",         // xAI
		"budget has been exceeded",        // LiteLLM
		"free-models-per-day",             // OpenRouter
		"prepayment credits are depleted", // Gemini
		"spending limit", "spend limit", "billing hard limit", "account is not active",
	}
	contentWords = []string{
		"requires moderation",            // OpenRouter
		"violates usage guidelines",      // xAI
		"content management policy",      // Azure
		"content filtering policy",       // Anthropic
		"blocked by our safety",          // OpenAI
		"usage policy", "usage policies", // OpenAI
	}
	authNames = []string{
		"authentication", "permission", "invalid_api_key", "unauthorized", "unauthenticated", "api_key_invalid",
		"accessdenied", "unrecognizedclient", "expiredtoken", "invalidsignature", "missingauthenticationtoken", "incompletesignature", // Amazon
		"service_disabled", "consumer_invalid", // Google
		"request_forbidden",
	}
	authWords = []string{
		"incorrect api key",                      // OpenAI, and xAI with a 400
		"api key not valid",                      // Gemini, with a 400
		"api key expired",                        // Gemini, with a 400
		"invalid subscription key",               // Azure
		"no auth credentials found",              // OpenRouter
		"no api key passed in",                   // LiteLLM
		"security token included in the request", // Amazon
	}
	rateNames     = []string{"rate_limit", "ratelimit", "too_many_requests", "toomanyrequests", "resource_exhausted", "throttling"}
	overloadNames = []string{"overloaded", "unavailable", "slow_down", "modelnotready", "capacity_exceeded", "no_kv_space"}
	overloadWords = []string{"overloaded", "at capacity", "server busy", "loading model", "temporarily unavailable", "unable to process your request"}
	serverNames   = []string{"modelstreamerror", "internalserver"} // Bedrock, the first with a 424: its stream broke
	badNames      = []string{"invalid_request", "invalid_argument", "badrequest", "bad_request", "not_found", "invalid_prompt", "validationexception", "failed_precondition"}
	noModelNames  = []string{"model_not_found", "deploymentnotfound", "invalid_model"}
	noModelWords  = []string{"does not exist", "model not found", "not a valid model id", "no endpoints found", "unknown model"}

	// imageNames are in the list of codes that the Responses API documents.
	imageNames = []string{
		"invalid_image", "invalid_base64_image", "image_too_large", "image_too_small", "image_parse_error", "image_content_policy",
		"image_file", "unsupported_image", "empty_image", "failed_to_download_image",
	}
	imageWords = []string{
		"could not process image", "image exceeds", "image dimensions", "image does not match the provided media type", // Anthropic
		"could not process pdf", "pdf specified", "pdf pages may be provided", // Anthropic
		"many images and documents",                                                                      // Bedrock
		"unsupported image", "valid image", "invalid image", "image data", "image_url is only supported", // OpenAI, llama.cpp
		"too many images", "number of images", "images per request",
		"process input image", "provided image is not valid", "unsupported mime type", "document has no pages", // Gemini
		"support image input", "does not support image", "image input is not supported", "not support image", // OpenRouter, LM Studio, llama.cpp
		"required for image input",                                                                                // Ollama
		"failed to load image", "failed to decode image", "cannot identify image file", "image file is truncated", // llama.cpp, vLLM
		"image(s) may be provided", "not a multimodal model", // vLLM
		"unknown variant `image_url`", // DeepSeek
		"image could not be", "image size",
	}
)
