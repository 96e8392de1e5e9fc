package vertex

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"garuda/internal/llm"
	"garuda/internal/llm/llmtest"
)

const (
	refreshToken = "1//refresh-token-of-the-test"
	clientSecret = "client-secret-of-the-test"
)

// tokenServer answers each request with the next of these, the last one again.
type tokenServer struct {
	*httptest.Server
	forms   []url.Values
	answers []func(http.ResponseWriter)
}

func newTokenServer(t *testing.T, answers ...func(http.ResponseWriter)) *tokenServer {
	t.Helper()
	s := &tokenServer{answers: answers}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client went away
		}
		form, err := url.ParseQuery(string(body))
		if err != nil || r.Header.Get("Authorization") != "" {
			t.Errorf("%s, %v, with a key in the header: %v", body, err, r.Header.Get("Authorization") != "")
		}
		if r.Header.Get("Metadata-Flavor") != "" {
			form = r.URL.Query()
		}
		s.forms = append(s.forms, form)
		w.Header().Set("Content-Type", "application/json")
		s.answers[min(len(s.forms), len(s.answers))-1](w)
	}))
	t.Cleanup(s.Close)
	return s
}

func grants(token string, seconds int) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		fmt.Fprintf(w, `{"access_token":%q,"expires_in":%d,"token_type":"Bearer"}`, token, seconds)
	}
}

func denies(status int, body string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// user finds the credentials of a user who logged in, with tokens from s.
func user(t *testing.T, s *tokenServer) *Credentials {
	t.Helper()
	return found(t, `{"type":"authorized_user","client_id":"id","client_secret":"`+clientSecret+`","refresh_token":"`+refreshToken+`","quota_project_id":"payer","token_uri":"`+s.URL+`/token"}`)
}

func found(t *testing.T, file string) *Credentials {
	t.Helper()
	c, err := Find(environment(t, nil, file))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// environment has these variables, and a home folder with gcloud's file in it.
func environment(t *testing.T, env map[string]string, file string) func(string) (string, bool) {
	t.Helper()
	dir := t.TempDir()
	folder := filepath.Join(dir, ".config", "gcloud")
	home := "HOME"
	if runtime.GOOS == "windows" {
		folder, home = filepath.Join(dir, "gcloud"), "APPDATA"
	}
	if file != "" {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "application_default_credentials.json"), []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return func(name string) (string, bool) {
		if name == home {
			return dir, true
		}
		v, ok := env[name]
		return v, ok
	}
}

// with is the dialect with these credentials.
func with(c *Credentials) llmtest.Dialect {
	d := dialect
	d.New = func(cfg llm.ClientConfig) (llm.Model, error) {
		return New(cfg, Place{Project: "p", Region: "global"}, c)
	}
	return d
}

func ok() llmtest.Handler { return llmtest.Stream(frames(llmtest.Reply{Text: []string{"ok"}})...) }

// TestTokenIsKept: one token serves many requests, until a minute before its end.
func TestTokenIsKept(t *testing.T) {
	tokens := newTokenServer(t, grants("token-number-1", 3600), grants("token-number-2", 3600))
	s := llmtest.NewServer(t, with(user(t, tokens)), nil, ok())
	for i, want := range []string{"token-number-1", "token-number-1", "token-number-2"} {
		if i == 2 {
			s.Clock.Advance(3600*1e9 - early)
		}
		llmtest.MustAsk(t, s.Model, hello())
		if h := s.Header(i); h.Get("Authorization") != "Bearer "+want || h.Get("X-Goog-User-Project") != "payer" {
			t.Errorf("request %d: %v", i, h)
		}
	}
	if len(tokens.forms) != 2 {
		t.Fatalf("%d tokens fetched", len(tokens.forms))
	}
	f := tokens.forms[0]
	if f.Get("grant_type") != "refresh_token" || f.Get("refresh_token") != refreshToken || f.Get("client_secret") != clientSecret {
		t.Errorf("asked with %v", f)
	}
}

// TestRefusedToken: a new token is fetched once; when that is refused too, so is the request.
func TestRefusedToken(t *testing.T) {
	no := llmtest.Answer(401, "application/json", refused("401", "UNAUTHENTICATED", "expired: token-number-1 token-number-2"))
	tokens := newTokenServer(t, grants("token-number-1", 3600), grants("token-number-2", 3600))
	s := llmtest.NewServer(t, with(user(t, tokens)), nil, no, ok())
	llmtest.MustAsk(t, s.Model, hello())
	if s.Requests() != 2 || s.Body(0) != s.Body(1) || s.Header(1).Get("Authorization") != "Bearer token-number-2" {
		t.Errorf("%d requests, %v", s.Requests(), s.Header(1))
	}

	tokens = newTokenServer(t, grants("token-number-1", 3600), grants("token-number-2", 3600))
	s = llmtest.NewServer(t, with(user(t, tokens)), nil, no)
	e := llmtest.WantError(t, llmtest.Ask(t.Context(), s.Model, hello()).Err, llm.ErrAuth)
	if s.Requests() != 2 || len(tokens.forms) != 2 || strings.Contains(e.Error(), "token-number") {
		t.Errorf("%d requests, %d tokens, %v", s.Requests(), len(tokens.forms), e)
	}
}

// TestServiceAccount checks the assertion as the token server would.
func TestServiceAccount(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	text := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	tokens := newTokenServer(t, grants("token-number-1", 3600))
	file, err := json.Marshal(map[string]string{"type": "service_account", "project_id": "from-the-file", "client_email": "robot@x.example",
		"private_key": text, "private_key_id": "k1", "token_uri": tokens.URL + "/token"})
	if err != nil {
		t.Fatal(err)
	}
	c := found(t, string(file))
	if c.Project != "from-the-file" {
		t.Errorf("project %q", c.Project)
	}
	s := llmtest.NewServer(t, with(c), nil, ok())
	llmtest.MustAsk(t, s.Model, hello())
	if got := s.Header(0).Get("Authorization"); got != "Bearer token-number-1" {
		t.Error(got)
	}
	parts := strings.Split(tokens.forms[0].Get("assertion"), ".")
	if len(parts) != 3 {
		t.Fatalf("assertion %q", parts)
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if err := rsa.VerifyPKCS1v15(&key.PublicKey, crypto.SHA256, sum[:], signature); err != nil {
		t.Error(err)
	}
	claims, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		t.Fatal(err)
	}
	var said struct{ Iss, Scope, Aud string }
	if err := json.Unmarshal(claims, &said); err != nil || said.Iss != "robot@x.example" || said.Scope != scope || said.Aud != tokens.URL+"/token" {
		t.Errorf("%s, %v", claims, err)
	}
}

// TestMetadataServer: it is asked only where the environment names one.
func TestMetadataServer(t *testing.T) {
	tokens := newTokenServer(t, grants("token-number-1", 3600))
	host := strings.TrimPrefix(tokens.URL, "http://")
	c, err := Find(environment(t, map[string]string{"GCE_METADATA_HOST": host}, ""))
	if err != nil {
		t.Fatal(err)
	}
	s := llmtest.NewServer(t, with(c), nil, ok())
	llmtest.MustAsk(t, s.Model, hello())
	if len(tokens.forms) != 1 || s.Header(0).Get("Authorization") != "Bearer token-number-1" {
		t.Errorf("%v, %v", tokens.forms, s.Header(0))
	}
}

// TestNoToken: what a token server says is typed, and none of the secrets is in it.
func TestNoToken(t *testing.T) {
	all := refreshToken + " " + clientSecret
	for name, tt := range map[string]struct {
		answer func(http.ResponseWriter)
		kind   llm.ErrorKind
		says   string
	}{
		"expired":   {denies(400, `{"error":"invalid_grant","error_description":"Token has been expired or revoked: `+all+`"}`), llm.ErrAuth, "invalid_grant Token has been expired"},
		"not JSON":  {denies(401, all), llm.ErrAuth, "no access token"},
		"too often": {denies(429, `{}`), llm.ErrRateLimit, "no access token"},
		"broken":    {denies(503, all), llm.ErrServer, "no access token"},
		"empty":     {denies(200, `{"access_token":"","x":"`+refreshToken+`"}`), llm.ErrNetwork, "fetch an access token"},
		"garbage":   {denies(200, `{`), llm.ErrNetwork, "fetch an access token"},
	} {
		t.Run(name, func(t *testing.T) {
			s := llmtest.NewServer(t, with(user(t, newTokenServer(t, tt.answer))), nil, ok())
			e := llmtest.WantError(t, llmtest.Ask(t.Context(), s.Model, hello()).Err, tt.kind)
			if e.Model == "" || e.URL == "" || !strings.Contains(e.Message, tt.says) || s.Requests() != 0 {
				t.Errorf("%+v after %d requests", e, s.Requests())
			}
			for err := error(e); err != nil; {
				if strings.Contains(err.Error(), refreshToken) {
					t.Errorf("a secret is in %v", err)
				}
				u, ok := err.(interface{ Unwrap() error })
				if !ok {
					break
				}
				err = u.Unwrap()
			}
		})
	}
}

// TestSlowTokenServer: it has a limit of its own, and an abort ends it at once.
func TestSlowTokenServer(t *testing.T) {
	for _, abort := range []bool{false, true} {
		asked, end := make(chan struct{}), make(chan struct{})
		tokens := newTokenServer(t, func(http.ResponseWriter) { close(asked); <-end })
		s := llmtest.NewServer(t, with(user(t, tokens)), nil, ok())
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-asked
			if abort {
				cancel()
			} else {
				s.Clock.Advance(fetchLimit)
			}
		}()
		err := llmtest.Ask(ctx, s.Model, hello()).Err
		close(end)
		cancel()
		if abort {
			if err == nil || err.Error() != context.Canceled.Error() {
				t.Error(err)
			}
			continue
		}
		_ = llmtest.WantError(t, err, llm.ErrIdle)
	}
}

func TestFind(t *testing.T) {
	const good = `{"type":"authorized_user","refresh_token":"r","quota_project_id":"payer"}`
	if c := found(t, good); c.Project != "payer" || !strings.HasSuffix(c.Source, "application_default_credentials.json") {
		t.Errorf("%+v", c)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "key.json")
	if err := os.WriteFile(path, []byte(good), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := Find(environment(t, map[string]string{"GOOGLE_APPLICATION_CREDENTIALS": path}, `{}`)); err != nil || c.Source != path {
		t.Errorf("%+v, %v", c, err)
	}
	type m = map[string]string
	for name, tt := range map[string]struct {
		env           m
		file, problem string
	}{
		"nothing":         {nil, "", "gcloud auth application-default login"},
		"missing":         {m{"GOOGLE_APPLICATION_CREDENTIALS": filepath.Join(dir, "gone")}, good, "GOOGLE_APPLICATION_CREDENTIALS"},
		"a folder":        {m{"GOOGLE_APPLICATION_CREDENTIALS": dir}, good, "not a regular file"},
		"not JSON":        {nil, `secret-text`, "not JSON"},
		"other type":      {nil, `{"type":"external_account","credential_source":{"executable":{"command":"x"}}}`, `"external_account" are not supported`},
		"no type":         {nil, `{}`, "not supported"},
		"no refresh":      {nil, `{"type":"authorized_user"}`, "refresh_token"},
		"no key":          {nil, `{"type":"service_account","client_email":"x"}`, "private_key"},
		"unsafe address":  {nil, `{"type":"authorized_user","refresh_token":"r","token_uri":"http://token.example/"}`, "token_uri"},
		"user in address": {nil, `{"type":"authorized_user","refresh_token":"r","token_uri":"https://a:b@token.example/"}`, "token_uri"},
		"empty elsewhere": {m{"CLOUDSDK_CONFIG": dir}, good, "no Google credentials"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Find(environment(t, tt.env, tt.file))
			if err == nil || !strings.Contains(err.Error(), tt.problem) || strings.Contains(err.Error(), "secret-text") {
				t.Errorf("%v, want %s", err, tt.problem)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"type":"authorized_user","refresh_token":"r"}`))
	f.Add([]byte(`{"type":"service_account","client_email":"e","private_key":"k","token_uri":"https://x"}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		c, err := parse(in)
		if (c == nil) == (err == nil) || c != nil && c.secret == "" {
			t.Fatalf("%+v, %v", c, err)
		}
	})
}
