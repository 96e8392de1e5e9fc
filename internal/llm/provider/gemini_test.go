package provider

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGeminiModels(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1beta/models" || r.URL.Query().Get("pageSize") != "1000" {
			t.Errorf("asked %s", r.URL)
		}
		if r.Header.Get("X-Goog-Api-Key") != "good" {
			w.WriteHeader(http.StatusBadRequest) // as Google does
			return
		}
		_, _ = w.Write([]byte(`{"models":[{"name":"models/gemini-x","supportedGenerationMethods":["generateContent","countTokens"]},
			{"name":"models/aqa","supportedGenerationMethods":["generateAnswer"]},{"name":"models/gemini-embedding-1","supportedGenerationMethods":["embedContent"]},
			{"name":"models/of-a-proxy"}]}`))
	}))
	defer s.Close()
	for key, want := range map[string][]string{"good": {"gemini-x", "of-a-proxy"}, "bad": nil} {
		r := New(Options{Lookup: func(n string) (string, bool) { return s.URL + "/v1beta/", n == "GEMINI_BASE_URL" }, Keys: keys{"GEMINI_API_KEY": key}})
		got, err := r.ReachProvider(t.Context(), "gemini")
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", key, d)
		}
		if refused := (*KeyRefusedError)(nil); errors.As(err, &refused) != (key == "bad") {
			t.Errorf("%s: %v", key, err)
		}
	}
}
