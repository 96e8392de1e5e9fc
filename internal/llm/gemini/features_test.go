package gemini

import (
	"encoding/base64"
	"testing"

	"garuda/internal/core"
	"garuda/internal/llm/llmtest"
)

func TestFeatures(t *testing.T) {
	const (
		call  = `{"toolCall":{"id":"s1","toolType":"GOOGLE_SEARCH_WEB","args":{"queries":["garuda bird"]}},"thoughtSignature":"cw=="}`
		reply = `{"toolResponse":{"id":"s1","toolType":"GOOGLE_SEARCH_WEB","response":{"search_suggestions":"<div>"}},"thoughtSignature":"ew=="}`
	)
	picture := base64.StdEncoding.EncodeToString([]byte(llmtest.Picture))
	llmtest.RunFeatures(t, dialect, llmtest.Features{
		Change:       as("gemini-3-pro"),
		ImageFrames:  []string{event("", `{"text":"ok"}`), event("", `{"inlineData":{"mimeType":"image/png","data":"`+picture+`"},"thoughtSignature":"cGlj"}`), last("STOP", core.Usage{Input: 5, Output: 2})},
		SearchFrames: []string{event("", call), event("", reply), event(`,"groundingMetadata":{"webSearchQueries":["garuda bird"]}`, `{"text":"It was found."}`), last("STOP", core.Usage{Input: 5, Output: 2})},
		SearchBack:   []string{call, reply},
		SearchAsked:  `"googleSearch"`,
		BoundText:    core.Block{Type: core.BlockText, Text: llmtest.Found, Provider: Format, Opaque: `{"thoughtSignature":"dGV4dA=="}`},
		BoundBack:    `{"text":"It was found.","thoughtSignature":"dGV4dA=="}`,
	})
}
