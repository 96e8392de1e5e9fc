package bedrock

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/llmtest"
)

func sha(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func mac(key []byte, s string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(s))
	return h.Sum(nil)
}

// verify checks a request's signature as Amazon's description of Signature
// Version 4 says, from what arrived alone. It says what is wrong, or nothing.
func verify(r *http.Request, body []byte, secret string) string {
	auth, ok := strings.CutPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ")
	if !ok {
		return "no signature"
	}
	fields := map[string]string{}
	for f := range strings.SplitSeq(auth, ", ") {
		k, v, _ := strings.Cut(f, "=")
		fields[k] = v
	}
	credential := strings.Split(fields["Credential"], "/")
	date := r.Header.Get("X-Amz-Date")
	if len(credential) != 5 || credential[0] != "AKIAEXAMPLE" || !strings.HasPrefix(date, credential[1]) {
		return "the credential is " + fields["Credential"] + ", the date " + date
	}
	scope := strings.Join(credential[1:], "/")
	if !strings.HasSuffix(scope, "/eu-west-1/bedrock/aws4_request") {
		return "the scope is " + scope
	}
	// Each segment of the path, as it was sent, is escaped once more.
	segments := strings.Split(r.RequestURI, "/")
	for i, s := range segments {
		segments[i] = strings.ReplaceAll(url.QueryEscape(s), "+", "%20")
	}
	signed := strings.Split(fields["SignedHeaders"], ";")
	for _, must := range []string{"host", "x-amz-date"} {
		if !slices.Contains(signed, must) {
			return must + " is not signed"
		}
	}
	var headers strings.Builder
	for _, name := range signed {
		value := strings.Join(r.Header.Values(name), ",")
		switch name {
		case "host":
			value = r.Host
		case "content-length":
			value = r.Header.Get("Content-Length")
		}
		headers.WriteString(name + ":" + strings.Join(strings.Fields(value), " ") + "\n")
	}
	canonical := strings.Join([]string{r.Method, strings.Join(segments, "/"), "", headers.String(), fields["SignedHeaders"], sha(body)}, "\n")
	key := []byte("AWS4" + secret)
	for _, part := range credential[1:] {
		key = mac(key, part)
	}
	want := hex.EncodeToString(mac(key, strings.Join([]string{"AWS4-HMAC-SHA256", date, scope, sha([]byte(canonical))}, "\n")))
	if want != fields["Signature"] {
		return "the signature does not fit:\n" + canonical
	}
	return ""
}

const (
	secretKey    = "wJalr/secret+key=of-the-test"
	sessionToken = "IQoJb3JpZ2luX2VjEXAMPLE=="
)

// signing is the dialect with keys in the place of a bearer token.
func signing(session string) llmtest.Dialect {
	d := dialect
	d.New = func(cfg llm.ClientConfig) (llm.Model, error) {
		return newAt(cfg, Credentials{Region: "eu-west-1", AccessKey: "AKIAEXAMPLE", SecretKey: secretKey, SessionToken: session}, framed)
	}
	return d
}

// TestSignature: each request of a conversation is signed with its own body, also
// for ids that a path must escape, and whatever the configured headers say.
func TestSignature(t *testing.T) {
	for _, session := range []string{"", sessionToken} {
		var problems []string
		ok := llmtest.Stream(frames(llmtest.Reply{Text: []string{"ok"}})...)
		s := llmtest.NewServer(t, signing(session), func(c *llm.ClientConfig) {
			c.Info = &llm.Info{Spec: "bedrock/m", ID: "arn:aws:bedrock:eu-west-1:1:inference-profile/eu.claude-sonnet-4-5-v1:0"}
			c.Headers = map[string]string{"X-Team": "a  b", "Authorization": "Bearer no", "X-Amz-Security-Token": "no", "X-Amz-Date": "no"}
		}, func(w http.ResponseWriter, r *http.Request, body []byte) {
			problems = append(problems, verify(r, body, secretKey))
			if got := r.Header.Get("X-Amz-Security-Token"); got != session {
				problems = append(problems, "the session token is "+got)
			}
			if verify(r, bytes.ToUpper(body), secretKey) == "" { // or this test says nothing
				problems = append(problems, "a changed body passes")
			}
			ok(w, r, body)
		})
		req := hello()
		for range 3 {
			r := llmtest.MustAsk(t, s.Model, req)
			next := *req
			next.Messages = append(slices.Clone(req.Messages), r.Resp.Message, core.UserText("more"))
			req = &next
		}
		if len(problems) != 3 || slices.ContainsFunc(problems, func(p string) bool { return p != "" }) {
			t.Errorf("session %q: %q", session, problems)
		}
	}
}

// TestSecretsStaySecret: none of the keys is in an error, whatever a server says.
func TestSecretsStaySecret(t *testing.T) {
	all := secretKey + " " + sessionToken + " AKIAEXAMPLE"
	for name, h := range map[string]llmtest.Handler{
		"amazon":  llmtest.Answer(403, "application/json", refused("InvalidSignatureException", "The signature of "+all)),
		"plain":   llmtest.Answer(500, "text/plain", all),
		"stream":  llmtest.Stream(llmtest.Event(exceptionMark+"validationException", `{"message":`+llmtest.Quote(all)+`}`)),
		"garbage": llmtest.Stream(llmtest.Data(all)),
	} {
		t.Run(name, func(t *testing.T) {
			s := llmtest.NewServer(t, signing(sessionToken), nil, h)
			err := llmtest.Ask(t.Context(), s.Model, hello()).Err
			if err == nil {
				t.Fatal("no error")
			}
			for _, secret := range strings.Fields(all) {
				for e := err; e != nil; {
					if strings.Contains(e.Error(), secret) {
						t.Errorf("%s is in %v", secret, e)
					}
					u, ok := e.(interface{ Unwrap() error })
					if !ok {
						break
					}
					e = u.Unwrap()
				}
			}
		})
	}
}
