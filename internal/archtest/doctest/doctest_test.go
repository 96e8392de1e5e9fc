package doctest

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const document = "Text\n" +
	"```console\n$ echo hello; echo 2nd\nhello\n2…\n$ false\nexit status 1\n```\n" +
	"```sh\n$ rm -rf /\n```\n" +
	"```console no-run\n$ make demo\n```\n" +
	"```console\n$ printf 'a\\n%s\\nz\\n' b c \\\n  d\na\n…\nz\n```\n" +
	"```console\n$ cat <<'END'\na\nEND of it\nEND\na\nEND of it\n```\n"

func TestBlocks(t *testing.T) {
	want := []Block{
		{Line: 2, Steps: []Step{{Command: "echo hello; echo 2nd", Output: []string{"hello", "2…"}}, {Command: "false", Code: 1}}},
		{Line: 15, Steps: []Step{{Command: "printf 'a\\n%s\\nz\\n' b c \\\n  d", Output: []string{"a", "…", "z"}}}},
		{Line: 22, Steps: []Step{{Command: "cat <<'END'\na\nEND of it\nEND", Output: []string{"a", "END of it"}}}},
	}
	if diff := cmp.Diff(want, Blocks(document)); diff != "" {
		t.Error(diff)
	}
}

func TestRun(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash here")
	}
	for _, b := range Blocks(document) {
		if err := b.Run(t.TempDir(), os.Environ()); err != nil {
			t.Error(err)
		}
	}
	for _, wrong := range []string{
		"```console\n$ echo a\nb\n```", "```console\n$ echo a\n```\n```console\n$ false\n```",
		"```console\n$ true\nexit status 1\n```", "```console\n$ printf 'a\\nb\\n'\na\n```", "```console\n$ printf 'a\\n'\na\nb\n```",
		"```console\n$ echo aXb\na.b\n```",
	} {
		blocks := Blocks(wrong)
		if err := blocks[len(blocks)-1].Run(t.TempDir(), os.Environ()); err == nil || !strings.HasPrefix(err.Error(), "line ") {
			t.Errorf("%q: error is %v", wrong, err)
		}
	}
}
