package preset_test

import (
	"archive/zip"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"garuda/internal/sandbox"
	"garuda/internal/sandbox/netproxy/preset"
	"github.com/google/go-cmp/cmp"
)

// said is an executor that answers command lines with texts.
type said struct {
	sandbox.Executor // nil: nothing else is called

	answers map[string]string
	ran     []sandbox.Command
	result  *sandbox.Result
}

func (s *said) Run(_ context.Context, cmd *sandbox.Command) (*sandbox.Result, error) {
	s.ran = append(s.ran, *cmd)
	if s.result != nil {
		return s.result, nil
	}
	text, ok := s.answers[strings.Join(cmd.Argv, " ")]
	if !ok {
		return nil, os.ErrNotExist
	}
	return &sandbox.Result{Stdout: sandbox.Captured{Head: []byte(text)}}, nil
}

func TestAskedTools(t *testing.T) {
	for _, tt := range []struct {
		name, preset string
		answers      map[string]string
		want         []string
	}{
		{"go", "go", map[string]string{"go env -json GOPROXY GOSUMDB": `{"GOPROXY": "https://proxy.example|http://b.example/x,direct", "GOSUMDB": "sum.example"}`},
			[]string{"b.example", "proxy.example", "sum.example"}},
		{"go with a key", "go", map[string]string{"go env -json GOPROXY GOSUMDB": `{"GOPROXY": "https://user:secret@proxy.example:8443/go,off", "GOSUMDB": "sum.example+ab12+xyz"}`},
			[]string{"proxy.example", "sum.example"}},
		{"go with a mirror of sums", "go", map[string]string{"go env -json GOPROXY GOSUMDB": `{"GOPROXY": "https://proxy.example", "GOSUMDB": "sum.example+ab12+xyz https://mirror.example/sum"}`},
			[]string{"mirror.example", "proxy.example"}},
		{"go without sums", "go", map[string]string{"go env -json GOPROXY GOSUMDB": `{"GOPROXY": "https://10.0.0.1,https://proxy.example,https://localhost:3000,file:///x", "GOSUMDB": "off"}`},
			[]string{"proxy.example"}},
		{"npm", "npm", map[string]string{"npm config list --json": `{"registry": "https://r.example/npm/", "@a:registry": "https://a.example", "user-agent": "see https://no.example", "json": true}`},
			[]string{"a.example", "r.example"}},
		{"pip with an index", "pypi", map[string]string{"pip config list": "global.index-url='https://i.example/simple'\n:env:.extra-index-url='https://e.example\\nhttps://f.example/x'\nglobal.find-links='/opt/wheels'\nglobal.proxy='http://no.example'\n"},
			[]string{"e.example", "f.example", "i.example"}},
		{"pip's own index", "pypi", map[string]string{"pip config list": "", "pip install --help": "  -i, --index-url <url>       Base URL of the Index (default\n           https://built-in.example/simple). This\n  --extra-index-url <url>     (default https://no.example)"},
			[]string{"built-in.example"}},
		{"pip as a module", "pypi", map[string]string{"python3 -m pip config list": "user.index-url='https://i.example'"}, []string{"i.example"}},
	} {
		exec := &said{answers: tt.answers}
		tools := preset.Tools{Exec: exec, Dir: "/nowhere", Env: []string{"A=b"}}
		got, err := tools.Hosts(t.Context(), tt.preset)
		if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", tt.name, err, diff)
		}
		for _, cmd := range exec.ran {
			if cmd.Dir != "/nowhere" || !slices.Equal(cmd.Env, tools.Env) || cmd.Timeout <= 0 || cmd.Limit <= 0 || cmd.Outside {
				t.Errorf("%s: ran %+v", tt.name, cmd)
			}
		}
	}
}

func TestToolsThatSayNothing(t *testing.T) {
	long := sandbox.Captured{Head: []byte("{}"), Tail: []byte("{}")}
	for name, exec := range map[string]*said{
		"missing": {}, "failed": {result: &sandbox.Result{ExitCode: 1}}, "slow": {result: &sandbox.Result{TimedOut: true}},
		"ended": {result: &sandbox.Result{Interrupted: true}}, "garbage": {result: &sandbox.Result{Stdout: sandbox.Captured{Head: []byte("x")}}},
		"long": {result: &sandbox.Result{Stdout: long}}, "empty": {result: &sandbox.Result{Stdout: sandbox.Captured{Head: []byte("{}")}}},
	} {
		for _, p := range []string{"go", "npm", "maven", "pypi"} {
			tools := preset.Tools{Exec: exec, Home: t.TempDir()}
			if hosts, err := tools.Hosts(t.Context(), p); err == nil {
				t.Errorf("%s, %s: %v", p, name, hosts)
			}
		}
	}
	tools := preset.Tools{Home: t.TempDir()}
	if hosts, err := tools.Hosts(t.Context(), "cargo"); !errors.Is(err, preset.ErrNone) {
		t.Errorf("%v, %v", hosts, err)
	}
	if hosts, err := tools.Hosts(t.Context(), "apt"); err == nil {
		t.Errorf("%v", hosts)
	}
}

func TestServices(t *testing.T) {
	for _, name := range []string{"github", "gitlab"} {
		hosts, err := new(preset.Tools).Hosts(t.Context(), name)
		if err != nil || !slices.Contains(hosts, name+".com") {
			t.Errorf("%s: %v, %v", name, hosts, err)
		}
	}
	if !slices.IsSorted(preset.Names()) {
		t.Errorf("%v", preset.Names())
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestCargo(t *testing.T) {
	home := t.TempDir()
	write(t, home+"/.cargo/config.toml", `
registries.dotted.index = "sparse+https://dotted.example/"
[http]
proxy = "http://no.example"
[source.crates-io]
replace-with = "mirror"   # see https://no.example
[source.mirror]
registry = "sparse+https://mirror.example/index/" # not https://no.example
#registry = "https://no.example"
[registries]
a = { index = "https://inline.example/git" }
["registries".quoted]
index = 'https://quoted.example'
[registry]
default = "a"
[net]
x = "https://no.example"
`)
	write(t, home+"/.cargo/registry/index/index.example-0123456789abcdef/config.json", `{"dl":"https://static.example/crates","api":"https://api.example"}`)
	want := []string{"api.example", "dotted.example", "env.example", "index.example", "inline.example", "mirror.example", "quoted.example", "static.example"}
	tools := preset.Tools{Home: home, Env: []string{"CARGO_REGISTRIES_X_INDEX=https://env.example", "CARGO_HTTP_PROXY=http://no.example"}}
	got, err := tools.Hosts(t.Context(), "cargo")
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	tools = preset.Tools{Home: t.TempDir(), Env: []string{"CARGO_HOME=" + home + "/.cargo"}}
	if got, err := tools.Hosts(t.Context(), "cargo"); err != nil || len(got) != 7 {
		t.Errorf("%v, %v", got, err)
	}
	write(t, home+"/.cargo/config", strings.Repeat("x", 2<<20))
	if got, err := tools.Hosts(t.Context(), "cargo"); err == nil {
		t.Errorf("%v", got)
	}
}

func TestMaven(t *testing.T) {
	installed, home := t.TempDir(), t.TempDir()
	var jar strings.Builder
	z := zip.NewWriter(&jar)
	f, err := z.Create("org/apache/maven/model/pom-4.0.0.xml")
	if err != nil {
		t.Fatal(err)
	}
	f.Write([]byte(`<project><repositories><repository><url>https://central.example/maven2</url></repository></repositories>
<pluginRepositories><pluginRepository><url>https://plugins.example/maven2</url></pluginRepository></pluginRepositories></project>`))
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, installed+"/lib/maven-model-builder-3.9.9.jar", jar.String())
	exec := &said{answers: map[string]string{"mvn --version": "\x1b[1mApache Maven 3\x1b[m\nMaven home: " + installed + "\x1b[m\nJava"}}
	tools := preset.Tools{Exec: exec, Home: home}
	check := func(want ...string) {
		t.Helper()
		got, err := tools.Hosts(t.Context(), "maven")
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Error(err, diff)
		}
	}
	check("central.example", "plugins.example")
	write(t, installed+"/conf/settings.xml", `<settings><mirrors><!-- <mirror><url>https://no.example</url></mirror> --><mirror><mirrorOf>*,!central</mirrorOf><url>https://m.example</url></mirror></mirrors></settings>`)
	check("central.example", "m.example", "plugins.example")
	write(t, home+"/.m2/settings.xml", `<settings xmlns="http://no.example/settings"><mirrors><mirror><mirrorOf> external:* </mirrorOf><url>https://mirror.example/m2</url></mirror></mirrors>
<profiles><profile><repositories><repository><url>https://r.example</url></repository></repositories></profile></profiles></settings>`)
	check("m.example", "mirror.example", "r.example")
	write(t, home+"/.m2/settings.xml", `<settings>`)
	if got, err := tools.Hosts(t.Context(), "maven"); err == nil {
		t.Errorf("%v", got)
	}
}
