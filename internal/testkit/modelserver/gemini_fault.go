package modelserver

// detail is an entry of a google.rpc.Status's details.
func detail(typ string, fields obj) map[string]any {
	fields["@type"] = "type.googleapis.com/google.rpc." + typ
	return fields
}

func details(list ...any) map[string]any { return map[string]any{"details": list} }

var geminiWords = map[string]words{
	RateLimit: {429, "RESOURCE_EXHAUSTED", nil, "You exceeded your current quota, please check your plan and billing details.",
		details(detail("QuotaFailure", obj{"violations": []any{obj{"quotaId": "GenerateRequestsPerMinutePerProjectPerModel"}}}),
			detail("RetryInfo", obj{"retryDelay": "1s"})), false},
	Overloaded:  {503, "UNAVAILABLE", nil, "The model is overloaded. Please try again later.", nil, false},
	ServerError: {500, "INTERNAL", nil, "An internal error has occurred. Please retry.", nil, false},
	Auth: {400, "INVALID_ARGUMENT", nil, "API key not valid. Please pass a valid API key.",
		details(detail("ErrorInfo", obj{"reason": "API_KEY_INVALID", "domain": "googleapis.com"})), false},
	Quota: {429, "RESOURCE_EXHAUSTED", nil, "You exceeded your current quota, please check your plan and billing details.",
		details(detail("QuotaFailure", obj{"violations": []any{obj{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}}})), false},
	Payment:         {402, "FAILED_PRECONDITION", nil, "Your prepayment credits are depleted.", nil, false},
	TooLarge:        {400, "INVALID_ARGUMENT", nil, "Request payload size exceeds the limit: 20971520 bytes.", nil, false},
	ContextOverflow: {400, "INVALID_ARGUMENT", nil, "The input token count (1054016) exceeds the maximum number of tokens allowed (1048576).", nil, false},
	BadRequest:      {400, "INVALID_ARGUMENT", nil, "Unable to submit request because it must have a text parameter.", nil, false},
	NotFound:        {404, "NOT_FOUND", nil, "models/scripted is not found for API version v1beta, or is not supported for generateContent.", nil, false},
	NeedsResponses:  {404, "NOT_FOUND", nil, "not found", nil, false},
}
