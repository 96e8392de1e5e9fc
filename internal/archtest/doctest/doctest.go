// Package doctest runs the commands that documents show, so that what a reader
// copies works. It is for tests only.
package doctest

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

// Block is a fenced block of the language "console": commands, each on a line that
// begins with "$ ", followed by what they print.
//
// In the expected output a line "…" stands for any number of lines, and "…" inside a
// line for anything. A last line "exit status 3" is the code of a command that
// fails; without one the command must end with 0. A command without output shown
// may print anything. A command goes on in the next line after a backslash, and
// until the end of a text that it takes from the document (<<'END'). A fence
// "console no-run" is shown, but not run.
type Block struct {
	// Line is where the fence stands in the document, from 1.
	Line  int
	Steps []Step
}

// Step is one command and what the document says it prints.
type Step struct {
	Command string
	Output  []string
	// Code is the exit code that is expected.
	Code int
}

// Blocks finds the blocks to run in a Markdown document.
func Blocks(document string) []Block {
	var out []Block
	var at *Block
	fence := ""
	for i, line := range strings.Split(document, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case fence == "" && strings.HasPrefix(trimmed, "```"):
			fence = "```"
			if strings.TrimPrefix(trimmed, "```") == "console" {
				out = append(out, Block{Line: i + 1})
				at = &out[len(out)-1]
			}
		case fence != "" && trimmed == fence:
			fence, at = "", nil
		case at != nil:
			at.add(line)
		}
	}
	return out
}

func (b *Block) add(line string) {
	if command, ok := strings.CutPrefix(line, "$ "); ok {
		b.Steps = append(b.Steps, Step{Command: command})
		return
	}
	if len(b.Steps) == 0 {
		return
	}
	step := &b.Steps[len(b.Steps)-1]
	if step.unfinished() {
		step.Command += "\n" + line
		return
	}
	if code, ok := strings.CutPrefix(line, "exit status "); ok {
		if n, err := strconv.Atoi(code); err == nil {
			step.Code = n
			return
		}
	}
	step.Output = append(step.Output, line)
}

// unfinished reports whether the command goes on in the next line: after a
// backslash, and until the end of a text that it takes from the document (<<'END').
func (s *Step) unfinished() bool {
	first, _, _ := strings.Cut(s.Command, "\n")
	if _, end, found := strings.Cut(first, "<<'"); found {
		end, _, _ = strings.Cut(end, "'")
		return !strings.HasSuffix(s.Command, "\n"+end)
	}
	return strings.HasSuffix(s.Command, `\`)
}

// Run runs the block's steps in a folder with an environment, one after the other,
// and says where they differ from the document. The commands go to bash, with
// standard output and standard error together.
func (b Block) Run(dir string, env []string) error {
	for _, s := range b.Steps {
		cmd := exec.Command("bash", "-c", s.Command)
		cmd.Dir, cmd.Env = dir, env
		got, err := cmd.CombinedOutput()
		code := 0
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			code = exit.ExitCode()
		} else if err != nil {
			return fmt.Errorf("line %d: run %s: %w", b.Line, s.Command, err)
		}
		if code != s.Code {
			return fmt.Errorf("line %d: %s: exit status %d, the document says %d; it printed:\n%s", b.Line, s.Command, code, s.Code, got)
		}
		if len(s.Output) > 0 && !Matches(s.Output, got) {
			return fmt.Errorf("line %d: %s printed\n%s\nwhere the document says\n%s", b.Line, s.Command, got, strings.Join(s.Output, "\n"))
		}
	}
	return nil
}

// Matches reports whether the text is what a document's lines say, with "…" in
// them as in a Block.
func Matches(want []string, got []byte) bool {
	var pattern strings.Builder
	for _, line := range want {
		if strings.TrimSpace(line) == "…" {
			pattern.WriteString(`(.*\n)*?`)
			continue
		}
		parts := strings.Split(strings.TrimRight(line, " \t"), "…")
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		pattern.WriteString(strings.Join(parts, ".*") + "[ \t]*\n")
	}
	text := append(bytes.TrimRight(got, " \t\n"), '\n')
	ok, err := regexp.Match(`^`+strings.TrimRight(pattern.String(), "\n")+`\n?$`, text)
	return err == nil && ok
}
