package shellscan

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// toolLine makes a random command line for one of the tools on the read-only
// table, out of every option its table knows, also those that write or execute.
func toolLine(r *rand.Rand) string {
	tools := []string{"sed", "awk", "sort", "uniq", "find", "tar", "grep", "cut", "head", "wc", "ls", "cat", "stat", "du", "tr"}
	name := tools[r.IntN(len(tools))]
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	value := func() string {
		return pick("1", "f", "pwn", "touch pwn", "p", "s/a/b/", "w pwn", "/a/", "{print}", ",", "exec=touch pwn", "1p;w pwn", "e touch pwn", "a", "src")
	}
	words := []string{name}
	if name == "find" {
		words = append(words, pick(".", "src", "f"))
		for range r.IntN(4) {
			words = append(words, pick("-name", "-type", "-delete", "-exec", "-fprint", "-print", "-fls", "-newer", "-o", "!", "(", ")", "-execdir",
				"-ok", "-printf", "-fprintf", "-maxdepth", "-size", "-empty", "-quit"), pick("pwn", "f", "1", "touch pwn", "touch", ";", "%p"))
		}
	} else {
		t := optionsOf(name)
		var options []string
		for _, letter := range slices.Sorted(maps.Keys(t.short)) {
			o := t.short[letter]
			options = append(options, "-"+string(rune(letter)))
			if o.value != 0 {
				options = append(options, "-"+string(rune(letter))+"\x00")
			}
		}
		for _, long := range slices.Sorted(maps.Keys(t.long)) {
			o := t.long[long]
			options = append(options, "--"+long[:1+r.IntN(len(long))], "--"+long)
			if o.value != 0 {
				options = append(options, "--"+long+"=\x00", "--"+long+"\x00\x00")
			}
		}
		for range r.IntN(4) {
			o := options[r.IntN(len(options))]
			if strings.HasSuffix(o, "\x00\x00") {
				words = append(words, strings.TrimSuffix(o, "\x00\x00"), value())
				continue
			}
			if rest, ok := strings.CutSuffix(o, "\x00"); ok {
				o = rest + value()
			} else if !strings.HasPrefix(o, "--") && r.IntN(3) == 0 {
				o += options[r.IntN(len(options))][1:2] // a cluster
				o = strings.ReplaceAll(o, "\x00", "")
			}
			words = append(words, o)
		}
		if name == "sed" || name == "awk" {
			words = append(words, pick("p", "w pwn", "s/a/b/", "s/a/b/w pwn", "1e touch pwn", "{print}", "{print > \"pwn\"}", "BEGIN{system(\"touch pwn\")}",
				"s/[a/]/w pwn", "a x\nw pwn", "y/a/b/;w pwn", "{print|\"cat>pwn\"}", ":a;w pwn", "$!{p;w pwn\n}", "s/a/touch pwn/e", "s,a,b,;w pwn", "/a/,/b/w pwn", "s/a/b/;#w pwn", "i\\\nw pwn", "b;w pwn"))
		}
		for range r.IntN(4) {
			words = append(words, pick("f", "a.txt", "src/x", "pwn", "-", "x.tar", "--", value()))
		}
	}
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	quoted[0] = name
	return strings.Join(quoted, " ")
}

// TestReadOnlyTools runs what the table calls read-only with the real tools, and
// finds every file as it was.
func TestReadOnlyTools(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("needs bash")
	}
	root := t.TempDir()
	if root, err = filepath.EvalSymlinks(root); err != nil {
		t.Fatal(err)
	}
	fill := func() {
		writeFiles(t, root, map[string]string{"f": "a\nb\na\n", "a.txt": "touch pwn\n", "src/x": "w pwn\n", "p": "p\n", "touch pwn": "x\n"})
	}
	fill()
	before := snapshot(t, root)
	ctx := &Context{Root: root, Home: "/nonexistent", Inside: func(p string) bool {
		return strings.HasPrefix(filepath.Clean(p), root)
	}}
	count := 300
	if v := os.Getenv("GARUDA_DIFF_SCRIPTS"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil {
			t.Fatal(err)
		}
		count = 2 * n
	}
	ran := 0
	for i := range count {
		line := toolLine(rand.New(rand.NewPCG(3, uint64(i))))
		s := Scan(line, ctx)
		if s.Unreadable != "" || len(s.Commands) != 1 || s.ReadOnly(s.Commands[0]) != "" {
			continue
		}
		ran++
		func() {
			runCtx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			cmd := exec.CommandContext(runCtx, bash, "-c", line)
			cmd.Dir = root
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + root}
			cmd.WaitDelay = time.Second
			_ = cmd.Run() // most of them fail
		}()
		if after := snapshot(t, root); after != before {
			t.Fatalf("%s is called read-only and changed the folder:\n%s\nbecame\n%s", line, before, after)
		}
	}
	t.Logf("%d of %d command lines were called read-only", ran, count)
	if ran < count/20 {
		t.Errorf("only %d of %d command lines ran", ran, count)
	}
}

func snapshot(t *testing.T, root string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %v", path, d.Type())
		if d.Type().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %x", sha256.Sum256(data))
		}
		b.WriteByte('\n')
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
