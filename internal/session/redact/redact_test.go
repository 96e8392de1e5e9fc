package redact_test

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"garuda/internal/session/redact"
)

const (
	key  = "hunter2-Zq81/x+\"quoted\""
	key2 = "corp-internal-value"
	pem  = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEAx0Zt5mD0c2p3Q9k7y1Zb8s4Vf6Tn2Lw0Rj5Hg3Xe1Ua9Ki\nAgMBAAECggEAQ2n1\n-----END RSA PRIVATE KEY-----"
	jwt  = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
)

func TestSecretsGo(t *testing.T) {
	const gone = redact.Replacement
	r := redact.New([]string{key, key2, "short"})
	tests := map[string]struct{ in, want string }{
		"known":          {"a " + key2 + " b", "a " + gone + " b"},
		"known, glued":   {"x" + key2 + "y", "x" + gone + "y"},
		"known, escaped": {`{"k":"hunter2-Zq81\/x+\"quoted\""}`, `{"k":"` + gone + `"}`},
		"known, as \\u":  {`{"k":"\u0063orp-internal-valu\u0065"}`, `{"k":"` + gone + `"}`},
		"known, escaped twice": {
			`{"a":"{\"k\":\"hunter2-Zq81/x+\\\"quoted\\\"\"}"}`, `{"a":"{\"k\":\"` + gone + `\"}"}`,
		},
		"known, in a URL":   {"https://h/?k=" + url.QueryEscape(key), "https://h/?k=" + gone},
		"anthropic":         {"key sk-ant-api03-abcdefghijkl x", "key " + gone + " x"},
		"openai":            {"OPENAI sk-abcdefghijklmnopqrstuv", "OPENAI " + gone},
		"openai project":    {"(sk-proj-AbCd_1234-efghijklmnop)", "(" + gone + ")"},
		"aws":               {"id AKIAIOSFODNN7EXAMPLE.", "id " + gone + "."},
		"github":            {"https://x:ghp_0123456789abcdefghijABCDEFGHIJ012345@github.com", "https://x:" + gone + "@github.com"},
		"github server":     {"ghs_0123456789abcdefghijABCDEFGHIJ012345", gone},
		"github fine":       {"github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz", gone},
		"slack":             {"xoxb-1234567890-abc", gone},
		"google":            {"AIzaSyA-1234567890abcdefghijklmnopqrstuv", gone},
		"jwt":               {"Authorization: Bearer " + jwt, "Authorization: Bearer " + gone},
		"pem":               {"a\n" + pem + "\nb", "a\n" + gone + "\nb"},
		"pem in json":       {strings.ReplaceAll(pem, "\n", `\n`), gone},
		"pem, short":        {"-----BEGIN PRIVATE KEY-----\nabc123\n-----END PRIVATE KEY-----", gone},
		"pem, numbered":     {"1\t" + strings.ReplaceAll(pem, "\nM", "\n2\tM"), "1\t" + gone},
		"pem, cut":          {"cat k\n" + pem[:110] + "\n\nnext prompt", "cat k\n" + gone + "\n\nnext prompt"},
		"pem, only its end": {"$ tail k\n" + pem[40:], "$ tail k\n" + gone},

		"env":                {"DB_PASSWORD=supersecret\n", "DB_PASSWORD=" + gone + "\n"},
		"env with signs":     {"A=1\nDB_PASSWORD=abc;de&fg(h)\n", "A=1\nDB_PASSWORD=" + gone + "\n"},
		"export":             {"export api_key=abcdefghijk", "export api_key=" + gone},
		"flag":               {"run --password=correcthorse x", "run --password=" + gone + " x"},
		"query":              {"https://h/p?token=abcdefghij&x=1", "https://h/p?token=" + gone + "&x=1"},
		"json":               {`{"password": "hunter2hunter2"}`, `{"password": "` + gone + `"}`},
		"json in json":       {`{\"apiKey\":\"abcdefgh1\"}`, `{\"apiKey\":\"` + gone + `\"}`},
		"json number":        {`{"password": 12345678}`, `{"password": "` + gone + `"}`},
		"nested number":      {`{\"client_secret\":1234567890}`, `{\"client_secret\":\"` + gone + `\"}`},
		"yaml":               {"db:\n  password: s3cretw0rd\n", "db:\n  password: " + gone + "\n"},
		"yaml word":          {"  password: correcthorse\n", "  password: " + gone + "\n"},
		"yaml in json":       {`a: 1\n  password: correcthorse\n`, `a: 1\n  password: ` + gone + `\n`},
		"ini":                {"secret = a1b2c3d4e5\n", "secret = " + gone + "\n"},
		"secret number":      {"pin_secret = 12345678", "pin_secret = " + gone},
		"go":                 {`const apiKey string = "abcdefgh12"`, `const apiKey string = "` + gone + `"`},
		"short declaration":  {`password := "correct-horse"`, `password := "` + gone + `"`},
		"typescript":         {`private readonly token: string = 'abcdefghij';`, `private readonly token: string = '` + gone + `';`},
		"python":             {`login(password=b"letmein123", x=1)`, `login(password=b"` + gone + `", x=1)`},
		"ruby":               {`:password => 'letmein123',`, `:password => '` + gone + `',`},
		"index":              {`cfg["api-key"] = "abcdefgh12"`, `cfg["api-key"] = "` + gone + `"`},
		"compared":           {`if token == "abcdefgh12" {`, `if token == "` + gone + `" {`},
		"api key, two words": {"the API key: abcd1234efgh", "the API key: " + gone},
		"shell variable":     {"PASSWORD=$ecretw0rd1", "PASSWORD=" + gone},
		"numbered line":      {"    12\tDB_PASSWORD=supersecret", "    12\tDB_PASSWORD=" + gone},
		"overlapping":        {"corp-internal-valueorp-internal-value", gone + "orp-internal-value"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, changed := r.String(tt.in)
			if got != tt.want || !changed {
				t.Errorf("got  %q (changed %v)\nwant %q", got, changed, tt.want)
			}
			if again, changed := r.String(got); changed {
				t.Errorf("second pass made %q", again)
			}
		})
	}
}

func TestCodeStays(t *testing.T) {
	r := redact.New([]string{key, key2})
	for _, in := range []string{
		"", "token", "tokenBudget: 20000000", `"tokenBudget": 20000000,`, "maxTokens = 8192000000", `{"token_count": 12345678}`,
		"token := scanner.Token()", "const token = getToken();", "password = readPassword(os.Stdin)", "if token == nextToken {",
		"password := os.Getenv(\"DB_PASSWORD\")", "apiKey: string | undefined", "secret: process.env.CLIENT_SECRET,",
		"token: ${{ secrets.GITHUB_TOKEN }}", `TOKEN="$(pass show x)"`, "TOKEN=$GITHUB_TOKEN", `password: "${DB_PASSWORD}"`,
		"export PASSWORD=${PASSWORD:-x}", "password: <your-password>", `"password": "********"`, `"password": "Password"`,
		`"password_hint": "Enter your password"`, `"invalid_password": "The password is wrong"`, "token_url: https://example.com/oauth/v2",
		"func Parse(tokens []Token, secretName string)", "class Foo(token=token_value, password=user_password)", "tokenizer = cl100k_base1",
		"-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA\n-----END PUBLIC KEY-----",
		`const begin = "-----BEGIN PRIVATE KEY-----"; const end = "-----END PRIVATE KEY-----"`,
		`strings.HasPrefix(s, "-----BEGIN RSA PRIVATE KEY-----")`, ".sk-circle-fade-dot-animation {}", "mask-border-outset-something-long1",
		"task-0123456789abcdefghijklmnop", "sk-short", "ghp_short", "AKIA", "eyJhbGciOi", "eyJ0.a.b", "password: foo(bar1234)",
		"std::string token = cfg->oauth2.token;", "password :: String", "secretary: Margarethe1", "[REDACTED]", "password=[REDACTED]",
		`password: "[REDACTED]"`, "key: value12345678", "monkey=banana12345", "sha256:0123456789abcdef0123456789abcdef",
		`"API_KEY=" + secretText + "&x"`, `"token="+theToken+"&x"`, `printf("password=", thePassword, "x")`, `"password=".$password."x"`,
		`StopMaxTokens = "max_tokens"`, `"grant": "refresh", "token_kind": "bearer_kind", token: "access_token"`,
	} {
		if got, changed := r.String(in); changed {
			t.Errorf("%q\nbecame %q", in, got)
		}
	}
}

// The tree's own code is the plainest code there is: nothing outside of tests may change.
func TestOwnCodeStays(t *testing.T) {
	r := redact.New([]string{key, key2})
	files, err := filepath.Glob("../../*/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") || strings.Contains(name, "testkit") { // they hold what looks like secrets
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			if got, changed := r.String(line); changed {
				t.Errorf("%s:%d became %q", name, i+1, got)
			}
		}
	}
}

func TestBase64(t *testing.T) {
	r := redact.New([]string{key2})
	for _, before := range []string{"", "u", "us", "use", "user:"} {
		in := base64.StdEncoding.EncodeToString([]byte(before + key2 + "after"))
		got, changed := r.String("Authorization: Basic " + in)
		if !changed {
			t.Fatalf("%q is not found in base64 after %q", key2, before)
		}
		for _, part := range strings.Split(strings.TrimPrefix(got, "Authorization: Basic "), redact.Replacement) {
			if b, err := base64.RawStdEncoding.DecodeString(part); err == nil && strings.Contains(string(b), key2[3:9]) {
				t.Errorf("%q still says %q", got, b)
			}
		}
	}
}

func TestNilRedactorKnowsShapes(t *testing.T) {
	var r *redact.Redactor
	if got, changed := r.String("AKIAIOSFODNN7EXAMPLE"); !changed || got != redact.Replacement {
		t.Error(got)
	}
}

func TestBytesUnchangedIsTheSame(t *testing.T) {
	in := []byte("package main")
	if got, changed := redact.New(nil).Bytes(in); changed || &got[0] != &in[0] {
		t.Error("copied")
	}
	if got, changed := redact.New([]string{key2}).Bytes([]byte(key2)); !changed || string(got) != redact.Replacement {
		t.Errorf("%q", got)
	}
}

// ways in which a known value may be written inside one string.
var ways = []func(string) string{
	func(s string) string { return s },
	quoted,
	func(s string) string { return quoted(quoted(s)) },
	func(s string) string { return `{"input":` + quoted(`{"k":`+quoted(s)+`}`) + `}` },
	url.QueryEscape, url.PathEscape,
	func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
}

func quoted(s string) string {
	b, _ := json.Marshal(s) // a string never fails
	return string(b)
}

var pieces = []string{
	key, key2, pem, jwt, redact.Replacement, "password=", `"token": "`, `"`, "'", "\\", `\u0`, `\n`, "\n", " ", "=", ":", "sk-ant-",
	"sk-", "AKIAIOSFODNN7EXAMPLE", "ghp_", "abcdefgh", "12345678", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----",
	"(", ")", "{", "}", "$", "eyJ", ".", "é", "\xff", "corp-internal-", "value", "[REDACTE", "D]",
}

func TestProperties(t *testing.T) {
	r := redact.New([]string{key, key2})
	rapid.Check(t, func(t *rapid.T) {
		around := rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(pieces), rapid.String()), 0, 6)
		before, after := strings.Join(around.Draw(t, "before"), ""), strings.Join(around.Draw(t, "after"), "")
		form := rapid.SampledFrom(ways).Draw(t, "way")(rapid.SampledFrom([]string{key, key2}).Draw(t, "key"))
		checkRedacted(t, r, before+form+after, form)
	})
}

type failer interface {
	Fatalf(format string, args ...any)
}

func checkRedacted(t failer, r *redact.Redactor, in, form string) {
	out, changed := r.String(in)
	if changed != (out != in) {
		t.Fatalf("changed is %v for %q to %q", changed, in, out)
	}
	if form != "" && strings.Contains(out, form) {
		t.Fatalf("%q survived in %q", form, out)
	}
	for _, k := range []string{key, key2} {
		if strings.Contains(out, k) {
			t.Fatalf("%q survived in %q", k, out)
		}
	}
	if again, changed := r.String(out); changed {
		t.Fatalf("not idempotent: %q, then %q, then %q", in, out, again)
	}
}

func FuzzString(f *testing.F) {
	for _, p := range pieces {
		f.Add(p, p)
		f.Add("password: "+p, `{"k":"`+p+`"}`)
	}
	r := redact.New([]string{key, key2})
	f.Fuzz(func(t *testing.T, before, after string) {
		checkRedacted(t, r, before+after, "")
		checkRedacted(t, r, before+key2+after, key2)
		checkRedacted(t, r, before+quoted(key)+after, "")
	})
}

// JSON that is whole stays whole when its strings and numbers are redacted as text.
func TestJSONStaysValid(t *testing.T) {
	r := redact.New([]string{key, key2})
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"password", "token", "a", "client_secret", "apiKey"})
		val := rapid.OneOf(
			rapid.Map(rapid.SampledFrom(pieces), func(s string) any { return s }),
			rapid.Map(rapid.IntRange(0, 1<<40), func(n int) any { return n }),
			rapid.Map(rapid.Bool(), func(b bool) any { return b }),
		)
		b, err := json.Marshal(rapid.MapOf(name, val).Draw(t, "object"))
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{string(b), `{"in":` + quoted(string(b)) + `}`} {
			if out, _ := r.String(text); !json.Valid([]byte(out)) {
				t.Fatalf("%s became %s", text, out)
			}
		}
	})
}

func plainCode(b *testing.B) string {
	files, err := filepath.Glob("../../*/*.go")
	if err != nil || len(files) == 0 {
		b.Fatal(files, err)
	}
	var all strings.Builder
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") || strings.Contains(name, "testkit") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

func BenchmarkPlainCode(b *testing.B) {
	text := plainCode(b)
	values := []string{key2}
	for i := range 20 {
		values = append(values, strings.Repeat(string(rune('a'+i)), 3)+"Zq8xK19vB3nM5-"+string(rune('a'+i)))
	}
	r := redact.New(values)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		r.String(text)
	}
}

// Text made of prefixes must not cost the square of its length.
func BenchmarkHostile(b *testing.B) {
	r := redact.New([]string{key, key2})
	for _, p := range []string{"sk-", "eyJ", "eyJa.", "token=", "password='", "-----BEGIN PRIVATE KEY-----", "gh_", "AKIA", `\u0063`, "AIza", "=", "password:"} {
		b.Run(p, func(b *testing.B) {
			text := strings.Repeat(p, 1<<20/len(p))
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				r.String(text)
			}
		})
	}
}
