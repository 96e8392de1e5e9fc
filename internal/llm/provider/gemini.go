package provider

import (
	"context"
	"net/http"
	"slices"
	"strings"
)

// geminiList is the list of models that the Gemini API gives.
type geminiList struct {
	Models []struct {
		Name    string   `json:"name"` // models/ID
		Methods []string `json:"supportedGenerationMethods"`
	} `json:"models"`
}

// servedGemini asks for the models that can hold a conversation.
func (r *Registry) servedGemini(ctx context.Context, e *endpoint) ([]string, error) {
	var theirs geminiList
	// The largest page there is: without a size the list ends after 50 models.
	if err := r.ask(ctx, e, http.MethodGet, e.base+"/v1beta/models?pageSize=1000", nil, &theirs); err != nil {
		return nil, err
	}
	var list modelList
	for _, m := range theirs.Models {
		if len(m.Methods) == 0 || slices.Contains(m.Methods, "generateContent") {
			list.Data = append(list.Data, modelRow{ID: strings.TrimPrefix(m.Name, "models/")})
		}
	}
	return list.ids()
}
