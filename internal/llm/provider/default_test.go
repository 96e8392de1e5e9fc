package provider

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWithDefault(t *testing.T) {
	for _, tc := range []struct{ name, before, want string }{
		{"no file", "", "{\n  \"default\": \"openai/m\"\n}\n"},
		{"empty object", "{}", "{\n  \"default\": \"openai/m\"\n}"},
		{"only a comment", "{ // mine\n}\n", "{ // mine\n  \"default\": \"openai/m\"\n}\n"},
		{"replaced", "{\n  // which one\n  \"default\": \"x/y\", // was z\n  \"models\": {},\n}\n",
			"{\n  // which one\n  \"default\": \"openai/m\", // was z\n  \"models\": {},\n}\n"},
		{"put in front", "// top\n{\n  /* p */ \"providers\": {}\n}\n", "// top\n{\n  \"default\": \"openai/m\",\n  /* p */ \"providers\": {}\n}\n"},
		{"the same", `{"default":"openai/m"}`, `{"default":"openai/m"}`},
		{"with a byte order mark", "\ufeff{}", "{\n  \"default\": \"openai/m\"\n}"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := WithDefault("models.json", []byte(tc.before), "openai/m")
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tc.want, string(got)); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestWithDefaultRefuses: a file that Garuda cannot read is not its to change.
func TestWithDefaultRefuses(t *testing.T) {
	for _, before := range []string{"[]", "{", `{"defualt": "x"}`, `{"default": 1}`, "null"} {
		out, err := WithDefault("models.json", []byte(before), "openai/m")
		if e := (*FileError)(nil); out != nil || !errors.As(err, &e) {
			t.Errorf("%s: got %q, %v; want a *FileError", before, out, err)
		}
	}
}

func FuzzWithDefault(f *testing.F) {
	for _, s := range []string{"", "{}", "{//\n}", `{"a":1,}`, `{"default":"x", /* y */ }`, "\ufeff{ }"} {
		f.Add([]byte(s), "openai/m")
	}
	f.Fuzz(func(t *testing.T, text []byte, spec string) {
		out, err := WithDefault("models.json", text, spec)
		if err != nil {
			return
		}
		file, err := ParseFile("models.json", out)
		if err != nil || file.Default != spec {
			t.Fatalf("default is %v, error %v, want %q; the file was %q and is now %q", file, err, spec, text, out)
		}
		again, err := WithDefault("models.json", out, spec)
		if err != nil || string(again) != string(out) {
			t.Fatalf("a second time gave %q, %v, want %q", again, err, out)
		}
	})
}
