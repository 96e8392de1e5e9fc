package provider

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/bedrock"
	"garuda/internal/llm/llmtest"
)

// cloudServer notes what one request brought, and refuses it.
func cloudServer(t *testing.T) (address string, seen *http.Request) {
	t.Helper()
	seen = &http.Request{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*seen = *r
		http.Error(w, `{"message":"no"}`, http.StatusForbidden)
	}))
	t.Cleanup(srv.Close)
	return srv.URL, seen
}

func openCloud(t *testing.T, r *Registry, spec string) llm.Model {
	t.Helper()
	c, err := r.Resolve(spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := r.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.(interface{ CloseIdleConnections() }).CloseIdleConnections)
	return m
}

func TestBedrock(t *testing.T) {
	address, seen := cloudServer(t)
	file := `{"providers": {"bedrock": {"baseUrl": "` + address + `"}}}`
	const spec = "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0"
	// Keys come from where all keys are kept, for the environment has them no more.
	r := registry(t, file, map[string]string{"AWS_REGION": "us-west-2"}, keys{bedrock.AccessName: "AKIA1", bedrock.SecretName: "a-secret-key", bedrock.SessionName: "session"}, nil)
	m := openCloud(t, r, spec)
	info := m.Info()
	if info.KeySource != bedrock.AccessName || info.Format != "anthropic" || info.ContextWindow != 200_000 || !info.Price.Known || !info.Thinks {
		t.Errorf("%+v", info)
	}
	_ = llmtest.WantError(t, llmtest.Ask(t.Context(), m, llmtest.Request(core.UserText("hi"))).Err, llm.ErrAuth)
	if auth := seen.Header.Get("Authorization"); !strings.Contains(auth, "Credential=AKIA1/") || !strings.Contains(auth, "/us-west-2/bedrock/") || seen.Header.Get("X-Amz-Security-Token") != "session" {
		t.Errorf("%s", auth)
	}
	if !strings.HasPrefix(seen.RequestURI, "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/") {
		t.Error(seen.RequestURI)
	}

	own := `{"providers": {"bedrock": {"baseUrl": "` + address + `", "apiKeyEnv": "MY_KEY"}}}`
	m = openCloud(t, registry(t, own, map[string]string{"AWS_REGION": "eu-west-1"}, keys{"MY_KEY": "bearer-key"}, nil), spec)
	_ = llmtest.WantError(t, llmtest.Ask(t.Context(), m, llmtest.Request(core.UserText("hi"))).Err, llm.ErrAuth)
	if got := seen.Header.Get("Authorization"); got != "Bearer bearer-key" {
		t.Error(got)
	}
}

func TestVertex(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "adc.json")
	if err := os.WriteFile(path, []byte(`{"type":"authorized_user","refresh_token":"r","quota_project_id":"from-file"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	vars := map[string]string{"GOOGLE_APPLICATION_CREDENTIALS": path, "CLOUD_ML_REGION": "global"}
	m := openCloud(t, registry(t, "", vars, keys{}, nil), "vertex/claude-sonnet-4-5@20250929")
	if info := m.Info(); info.KeySource != path || info.ContextWindow != 200_000 || !info.Price.Known {
		t.Errorf("%+v", info)
	}
	for name, change := range map[string]func(map[string]string){
		"CLOUD_ML_REGION":             func(v map[string]string) { delete(v, "CLOUD_ML_REGION") },
		"application-default login":   func(v map[string]string) { delete(v, "GOOGLE_APPLICATION_CREDENTIALS") },
		"not the name of a Google":    func(v map[string]string) { v["CLOUD_ML_REGION"] = "x.example/" },
		"GOOGLE_APPLICATION_CREDENTI": func(v map[string]string) { v["GOOGLE_APPLICATION_CREDENTIALS"] = dir + "/gone" },
	} {
		v := map[string]string{"GOOGLE_APPLICATION_CREDENTIALS": path, "CLOUD_ML_REGION": "global", "HOME": dir, "APPDATA": dir}
		change(v)
		r := registry(t, "", v, keys{}, nil)
		c, err := r.Resolve("vertex/claude-sonnet-4-6", nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Open(c); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %s", err, name)
		}
	}
}

// TestCloudsWithoutCredentials: they are listed as what is missing, not chosen,
// and nobody is asked.
func TestCloudsWithoutCredentials(t *testing.T) {
	r := registry(t, "", nil, keys{}, nil)
	for _, s := range r.List(t.Context(), true) {
		if s.Name != "bedrock" && s.Name != "vertex" {
			continue
		}
		if s.Problem == nil || len(s.Models) == 0 {
			t.Errorf("%+v", s)
		}
		for _, m := range s.Models {
			if !strings.Contains(m.ID, "claude-") {
				t.Errorf("%s is no model that this client can speak to", m.Spec)
			}
		}
	}
	c, err := r.Resolve("bedrock/us.anthropic.claude-sonnet-5", nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.Open(c)
	if lack, ok := errors.AsType[*MissingKeyError](err); !ok || lack.Variable != bedrock.BearerName || !strings.Contains(err.Error(), "AWS_PROFILE") {
		t.Errorf("%v", err)
	}
	if err := r.Reach(t.Context(), c); err == nil {
		t.Error("it is said to be reached")
	}
}

// TestReachCloud: any answer will do, and the keys stay here.
func TestReachCloud(t *testing.T) {
	k := keys{bedrock.BearerName: "bearer-key"}
	vars := map[string]string{"AWS_REGION": "eu-west-1"}
	r := registry(t, "", vars, k, servers{"bedrock-runtime.eu-west-1.amazonaws.com": "404"})
	c, err := r.Resolve("bedrock/x", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Reach(t.Context(), c); err != nil {
		t.Error(err)
	}
	for _, s := range r.List(t.Context(), false) {
		if s.Name == "bedrock" && (s.BaseURL != "https://bedrock-runtime.eu-west-1.amazonaws.com" || s.KeySource != bedrock.BearerName || s.Problem != nil) {
			t.Errorf("%+v", s)
		}
	}
	r = registry(t, "", vars, k, servers{})
	if err := r.Reach(t.Context(), c); err == nil || !strings.Contains(err.Error(), "bedrock-runtime.eu-west-1") {
		t.Error(err)
	}
}

// TestCloudChosen: a Bedrock key chooses Bedrock, by the profile of its region;
// keys that are there for other reasons choose nothing.
func TestCloudChosen(t *testing.T) {
	for region, prefix := range map[string]string{"us-east-1": "us.anthropic.claude-", "eu-central-1": "eu.anthropic.claude-", "ap-south-1": "global.anthropic.claude-"} {
		c, err := registry(t, "", map[string]string{"AWS_REGION": region}, keys{bedrock.BearerName: "bk"}, nil).Choose(t.Context(), Preferences{})
		if err != nil || !strings.HasPrefix(c.Info.ID, prefix) || c.Info.Provider != "bedrock" || !c.Info.Known {
			t.Errorf("%s: %+v, %v", region, c, err)
		}
	}
	_, err := registry(t, "", map[string]string{"AWS_REGION": "us-east-1"}, keys{bedrock.AccessName: "a", bedrock.SecretName: "s"}, nil).Choose(t.Context(), Preferences{})
	if _, ok := errors.AsType[*NoModelError](err); !ok {
		t.Errorf("%v", err)
	}
	if c, err := registry(t, "", nil, keys{}, nil).Usual(t.Context(), "vertex"); err != nil || !strings.HasPrefix(c.Info.ID, "claude-sonnet") {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestCloudSecrets: all keys of a cloud are taken out of the environment.
func TestCloudSecrets(t *testing.T) {
	names := (*File)(nil).KeyNames()
	for _, want := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not among %v", want, names)
		}
	}
}

func TestBatchModel(t *testing.T) {
	const file = `{"models": {"anthropic/claude-sonnet-5": {"batch": true}, "openai/gpt-5": {"batch": true}, "bedrock/us.anthropic.claude-sonnet-5": {"batch": true}}}`
	k := keys{"ANTHROPIC_API_KEY": "sk-x-12345", "OPENAI_API_KEY": "sk-y-12345", bedrock.BearerName: "bk"}
	f, err := ParseFile("models.json", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	r := New(Options{File: f, Lookup: env(map[string]string{"AWS_REGION": "us-east-1"}), Keys: k, Clients: map[string]Constructor{
		"anthropic":       func(llm.ClientConfig) (llm.Model, error) { return nil, errors.New("not as a batch") },
		"anthropic-batch": func(cfg llm.ClientConfig) (llm.Model, error) { return &fakeModel{cfg: cfg}, nil },
		"responses":       func(llm.ClientConfig) (llm.Model, error) { return nil, errors.New("not as a batch") },
	}})
	for spec, problem := range map[string]string{
		"anthropic/claude-sonnet-5":            "",
		"anthropic/claude-opus-5":              "not as a batch",
		"openai/gpt-5":                         `"batch" in models.json`,
		"bedrock/us.anthropic.claude-sonnet-5": `"batch" in models.json`,
	} {
		c, err := r.Resolve(spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		m, err := r.Open(c)
		if problem == "" && (err != nil || m == nil) || problem != "" && (err == nil || !strings.Contains(err.Error(), problem)) {
			t.Errorf("%s: %v, %v", spec, m, err)
		}
	}
	if Clients()["anthropic-batch"] == nil {
		t.Error("no client for batches")
	}
}
