package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestIgnoredAsGitDoes compares the ignore policy with `git check-ignore` over
// random patterns in ignore files at several levels and in git's own files.
// GARUDA_IGNORE_ROUNDS makes it longer; a round has about 60 patterns and 40 paths.
func TestIgnoredAsGitDoes(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	rounds := 30
	if s := os.Getenv("GARUDA_IGNORE_ROUNDS"); s != "" {
		if _, err := fmt.Sscan(s, &rounds); err != nil {
			t.Fatal(err)
		}
	}
	patterns, compared, ignored := 0, 0, 0
	for seed := range rounds {
		g := &ignoreCase{t: t, rnd: rand.New(rand.NewPCG(uint64(seed), 7))}
		g.build()
		want := g.askGit()
		if g.rootIgnored {
			continue // git ignores all of it; who works in such a folder wants to see it
		}
		w := openTest(t, g.root, Options{Home: g.home})
		for i, path := range g.paths {
			p, err := w.Resolve(path)
			if err != nil {
				t.Fatalf("resolve %q: %v", path, err)
			}
			if got := w.Ignored(p); got != want[i] {
				t.Errorf("seed %d: %q (folder: %v): ignored = %v, git says %v, for %s\n%s", seed, path, p.Info.Kind == KindFolder, got, want[i], g.deciders[i], g.describe())
			}
			compared++
			if want[i] {
				ignored++
			}
		}
		patterns += g.patterns
	}
	t.Logf("compared %d paths under %d patterns with git; %d were ignored", compared, patterns, ignored)
	if patterns < 1000 || ignored == 0 || ignored == compared {
		t.Errorf("the generator is too weak: %d patterns, %d of %d paths ignored", patterns, ignored, compared)
	}
}

type ignoreCase struct {
	t          *testing.T
	rnd        *rand.Rand
	top, root  string
	home       string
	paths      []string // relative to root, as given to git and to the workspace
	patterns   int
	ignoreFile map[string]string
	// rootIgnored: the repository ignores the folder that is the root here.
	rootIgnored bool
	deciders    []string
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

var (
	testNames    = []string{"a", "b", "ab", "abc", "foo", "bar", "foobar", "x.txt", "a.o", "b.o", "foo.go", ".env", "Makefile", "A", "a b", "ä", "-x", "a]c", "a*c", `a\c`, "!a", "#a", "build", "a ", "b-r", "a-"}
	testSegments = []string{"a", "b", "ab", "foo", "bar", "*", "**", "***", "?", "??", "*.o", "*.txt", "a*", "*a", "*a*", "a?c", "[ab]", "[!a]", "[^a]", "[a-c]*", "[[:alpha:]]", "[[:digit:]]", "[]a]", "[a", "a]", `\a`, `\*`, `a\*c`, `a\`, "x.*", ".*", "foo*bar", "f**r", "a**", "**b", "[a-", "[[:foo:]]", "a b", "ä", "?ar", "*.*", "[\\]]", "a[]]c", "b[!-a]r", "[-a]", "[a-]", "[[:a]", "[/]", "a[b/c]", "build", "***.o", "[!a-]", "[^]-a]", "[a-c-e]", `[\]-a]`, "[z-a]", "?**", "**?", "[!]a]*", "[[:upper:][:digit:]]", `[\a-c]`, "[^!]"}
)

func (g *ignoreCase) build() {
	g.top = g.t.TempDir()
	g.home = g.t.TempDir()
	g.ignoreFile = map[string]string{}
	g.git("init", "-q")
	g.root = g.top
	if g.rnd.IntN(3) == 0 {
		g.root = filepath.Join(g.top, "sub", "foo")
	}
	if err := os.MkdirAll(g.root, 0o755); err != nil {
		g.t.Fatal(err)
	}
	g.tree(g.root, "", 0)
	files := []string{filepath.Join(g.top, ".gitignore"), filepath.Join(g.root, ".gitignore"), filepath.Join(g.top, ".git/info/exclude"), filepath.Join(g.home, ".config/git/ignore")}
	if g.rnd.IntN(3) == 0 { // then the last of them does not count
		files = append(files, filepath.Join(g.home, "mine"))
		write(g.t, filepath.Join(g.home, ".gitconfig"), "[core]\n\texcludesFile = ~/mine\n")
	}
	for _, p := range g.paths {
		if fi, err := os.Stat(filepath.Join(g.root, p)); err == nil && fi.IsDir() && g.rnd.IntN(3) == 0 {
			files = append(files, filepath.Join(g.root, p, ".gitignore"))
		}
	}
	for _, f := range files {
		if err := os.MkdirAll(filepath.Dir(f), 0o755); err != nil {
			g.t.Fatal(err)
		}
		text := g.ignoreText()
		g.ignoreFile[f] = text
		if err := os.WriteFile(f, []byte(text), 0o644); err != nil {
			g.t.Fatal(err)
		}
	}
}

func (g *ignoreCase) tree(dir, rel string, depth int) {
	for range 2 + g.rnd.IntN(5) {
		name := pick(g.rnd, testNames)
		path := filepath.Join(dir, name)
		if _, err := os.Lstat(path); err == nil {
			continue
		}
		g.paths = append(g.paths, strings.TrimPrefix(rel+"/"+name, "/"))
		if depth < 3 && g.rnd.IntN(2) == 0 {
			if err := os.Mkdir(path, 0o755); err != nil {
				g.t.Fatal(err)
			}
			g.tree(path, rel+"/"+name, depth+1)
		} else if err := os.WriteFile(path, nil, 0o644); err != nil {
			g.t.Fatal(err)
		}
	}
}

func (g *ignoreCase) ignoreText() string {
	var b strings.Builder
	if g.rnd.IntN(10) == 0 {
		b.WriteString("\ufeff")
	}
	for range 3 + g.rnd.IntN(12) {
		b.WriteString(g.pattern())
		b.WriteString(pick(g.rnd, []string{"\n", "\n", "\n", "\r\n", " \n", "  \n", "\t\n"}))
		g.patterns++
	}
	if g.rnd.IntN(4) == 0 {
		b.WriteString(g.pattern())
	}
	return b.String()
}

func (g *ignoreCase) pattern() string {
	r := g.rnd
	switch r.IntN(20) {
	case 0:
		return pick(r, []string{"", "#a", `\#a`, `\!a`, "/", "//", "!", "**/", "/**", "a//b", `a\ `, "*", "/*", `**\/a`, `a**\/b`, `foo\/bar`, "!/", "!*", "!*/"})
	case 1, 2:
		var b strings.Builder // a name with one part replaced
		b.WriteString(pick(r, testNames))
		b.WriteString(pick(r, []string{"*", "?", "**", "[!/]", ""}))
		return b.String()
	}
	var parts []string
	for range 1 + r.IntN(3) {
		seg := pick(r, testSegments)
		if r.IntN(3) == 0 {
			seg = pick(r, testNames)
		}
		if r.IntN(8) == 0 {
			seg += pick(r, testSegments)
		}
		parts = append(parts, seg)
	}
	s := strings.Join(parts, "/")
	if r.IntN(4) == 0 {
		s = "/" + s
	}
	if r.IntN(4) == 0 {
		s += "/"
	}
	if r.IntN(4) == 0 {
		s = "!" + s
	}
	return s
}

func (g *ignoreCase) git(args ...string) []byte {
	g.t.Helper()
	return g.gitInput(nil, args...)
}

func (g *ignoreCase) gitInput(in []byte, args ...string) []byte {
	g.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = g.top
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + g.home, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C"}
	cmd.Stdin = bytes.NewReader(in)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 && args[0] == "check-ignore" {
		err = nil // nothing is ignored
	}
	if err != nil {
		g.t.Fatalf("git %v: %v", args, err)
	}
	return out
}

// askGit returns git's verdict on each path.
func (g *ignoreCase) askGit() []bool {
	rel, err := filepath.Rel(g.top, g.root)
	if err != nil {
		g.t.Fatal(err)
	}
	paths := []string{rel} // git refuses to judge the top itself
	if rel == "." {
		paths = nil
	}
	for _, p := range g.paths {
		paths = append(paths, filepath.Join(rel, p))
	}
	in := strings.Join(paths, "\x00") + "\x00"
	out := g.gitInput([]byte(in), "check-ignore", "--no-index", "--stdin", "-z", "-v", "-n")
	fields := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if len(fields) != 4*len(paths) {
		g.t.Fatalf("git answered %d fields for %d paths", len(fields), len(paths))
	}
	var verdicts []bool
	for i := range paths {
		source, pattern := fields[4*i], fields[4*i+2]
		verdicts = append(verdicts, source != "" && !strings.HasPrefix(pattern, "!"))
		g.deciders = append(g.deciders, fmt.Sprintf("%s:%s:%q", source, fields[4*i+1], pattern))
	}
	if rel != "." {
		g.rootIgnored = verdicts[0]
		verdicts, g.deciders = verdicts[1:], g.deciders[1:]
	}
	return verdicts
}

func (g *ignoreCase) describe() string {
	var b strings.Builder
	for f, text := range g.ignoreFile {
		fmt.Fprintf(&b, "%s: %q\n", strings.TrimPrefix(f, g.top), text)
	}
	return b.String()
}
