package sandbox_test

import (
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/sandbox"
)

func TestBuildEnv(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the table is of Unix paths")
	}
	fixed := []string{"GIT_EDITOR=true", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0", "PAGER=cat"}
	for _, c := range []struct {
		name  string
		env   map[string]string
		allow []string
		keys  []string
		want  []string
	}{
		{name: "nothing", want: []string{"PATH=/usr/local/bin:/usr/bin:/bin"}},
		{
			name: "what programs need",
			env: map[string]string{
				"PATH": "/bin:/opt/x", "HOME": "/h", "USER": "u", "LOGNAME": "u", "SHELL": "/bin/zsh", "TERM": "xterm",
				"LANG": "C.UTF-8", "LC_ALL": "C", "LC_TIME": "de_DE", "TMPDIR": "/t", "TZ": "UTC",
			},
			want: []string{
				"HOME=/h", "LANG=C.UTF-8", "LC_ALL=C", "LC_TIME=de_DE", "LOGNAME=u", "PATH=/bin:/opt/x",
				"SHELL=/bin/zsh", "TERM=xterm", "TMPDIR=/t", "TZ=UTC", "USER=u",
			},
		},
		{
			name: "nothing else",
			env: map[string]string{
				"PATH": "/bin", "ANTHROPIC_API_KEY": "k", "GITHUB_TOKEN": "t", "SSH_AUTH_SOCK": "/s", "GPG_AGENT_INFO": "g",
				"CI": "true", "BASH_ENV": "/evil", "ENV": "/evil", "LD_PRELOAD": "/evil.so", "BASH_FUNC_ls%%": "() { evil; }",
				"PROMPT_COMMAND": "evil", "GARUDA_TEST_KEY": "SECRET", "HTTPS_PROXY": "http://u:p@h", "LC_EVIL": "x", "CDPATH": "/",
			},
			want: []string{"PATH=/bin"},
		},
		{
			name:  "what the user allows",
			env:   map[string]string{"PATH": "/bin", "GOFLAGS": "-mod=mod", "CI": "1", "EMPTY": "", "OPENAI_API_KEY": "k"},
			allow: []string{"GOFLAGS", "CI", "EMPTY", "MISSING", "OPENAI_API_KEY", "", "A=B"},
			keys:  []string{"OPENAI_API_KEY"},
			want:  []string{"CI=1", "EMPTY=", "GOFLAGS=-mod=mod", "PATH=/bin"},
		},
		{
			name:  "nobody waits at a pager, also when allowed",
			env:   map[string]string{"PATH": "/bin", "PAGER": "less", "GIT_EDITOR": "vi"},
			allow: []string{"PAGER", "GIT_EDITOR"},
			want:  []string{"PATH=/bin"},
		},
		{
			name: "no programs of the project",
			env:  map[string]string{"PATH": ".:/bin::node_modules/.bin:/usr/bin:"},
			want: []string{"PATH=/bin:/usr/bin"},
		},
		{
			name: "a value that no environment can hold",
			env:  map[string]string{"PATH": "/bin", "HOME": "/h\x00LD_PRELOAD=/evil.so"},
			want: []string{"PATH=/bin"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := sandbox.BuildEnv(sandbox.EnvOptions{
				Lookup: func(name string) (string, bool) { v, ok := c.env[name]; return v, ok },
				Allow:  c.allow,
				Secret: func(name string) bool { return slices.Contains(c.keys, name) },
			})
			want := slices.Concat(c.want, fixed)
			slices.Sort(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
