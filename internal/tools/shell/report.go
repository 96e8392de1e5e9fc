package shell

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"garuda/internal/sandbox"
	"garuda/internal/tool"
)

// ran is a command that was run.
type ran struct {
	call    *bashCall
	res     *sandbox.Result
	streams [2]*Screen
	root    string
	// show is a path as results name it.
	show func(path string) string
	// sandbox is what it ran in; nil for none.
	sandbox *Sandbox
}

// report says how a command ended: for the model, and in a few words for a person.
func (r *ran) report() *tool.Output {
	call, res := r.call, r.res
	facts := analyse(call.text)
	out := &tool.Output{IsError: res.TimedOut || res.Interrupted || failed(res, facts)}
	var b strings.Builder
	switch {
	case res.Interrupted:
		b.WriteString("Error: bash failed: interrupted, did not finish, effects unknown.\n")
	case res.TimedOut:
		fmt.Fprintf(&b, "Error: bash failed: timed out after %s; it and everything it started were ended.\n", seconds(call.timeout))
	case res.Signal != "":
		fmt.Fprintf(&b, "Ended by a signal: %s\n", res.Signal)
	default:
		fmt.Fprintf(&b, "Exit code: %d\n", res.ExitCode)
	}
	lines := 0
	var cut, said []string
	for i, name := range [2]string{"stdout", "stderr"} {
		head, tail, n := r.streams[i].shown()
		said = append(append(said, strings.Split(head, "\n")...), strings.Split(tail, "\n")...)
		lines += writeStream(&b, name, head, tail, n)
		if n > 0 {
			cut = append(cut, fmt.Sprintf("%s bytes of %s", grouped(n), name))
		}
	}
	if lines == 0 {
		b.WriteString("(no output)\n")
	}
	notes := hints(call, res, facts, cut, r.show)
	if r.sandbox != nil {
		notes = append(confinement(r.sandbox, call, res, out.IsError, said, r.root), notes...)
	}
	for _, hint := range notes {
		fmt.Fprintf(&b, "[Garuda: %s]\n", hint)
	}
	out.Text = strings.TrimSuffix(b.String(), "\n")
	out.Summary = summary(call, res, lines)
	return out
}

// writeStream adds one stream between its tags and returns how many lines it has.
// Nothing it holds can end the block early and speak in Garuda's name.
func writeStream(b *strings.Builder, name, head, tail string, cut int64) int {
	if head == "" && tail == "" {
		return 0
	}
	text := head
	if cut > 0 {
		text = fmt.Sprintf("%s\n[… %s bytes cut here …]\n%s", head, grouped(cut), tail)
	}
	text = strings.TrimSuffix(text, "\n")
	lines := strings.Count(text, "\n") + 1
	for _, tag := range []string{"stdout", "stderr", "output"} {
		text = strings.ReplaceAll(text, "</"+tag+">", `<\/`+tag+">")
	}
	fmt.Fprintf(b, "<%s>\n%s\n</%s>\n", name, text, name)
	return lines
}

// failed reports whether the model should see a failure.
func failed(res *sandbox.Result, facts commandFacts) bool {
	return res.ExitCode != 0 && (res.ExitCode != 1 || !facts.oneIsAnswer)
}

// hints are what helps the model with its next call.
func hints(call *bashCall, res *sandbox.Result, facts commandFacts, cut []string, show func(string) string) []string {
	var out []string
	if len(cut) > 0 {
		out = append(out, strings.Join(cut, " and ")+" were cut from the middle; "+whereWhole(res, show))
	}
	if call.strippedCd {
		out = append(out, "commands start in the project's root; the cd into it was left out")
	}
	if res.TimedOut && call.timeout < maxTimeoutMs*time.Millisecond {
		out = append(out, fmt.Sprintf("timeout_ms may be up to %d", maxTimeoutMs))
	}
	if res.HeldPipes || res.Left > 0 {
		out = append(out, leftHint(res.Left, res.HeldPipes, call.mayStay))
	}
	switch {
	case facts.readersOnly:
		out = append(out, "read_file, grep, glob and list_dir do this better than a command")
	case facts.cutByHead:
		out = append(out, "head or tail cut this output; without them nothing is lost, since long output is kept in a file")
	}
	return out
}

// leftHint tells of processes that a command left; their number may be unknown.
func leftHint(n int, held, mayStay bool) string {
	what := "something"
	switch {
	case n == 1:
		what = "1 process"
	case n > 1:
		what = strconv.Itoa(n) + " processes"
	}
	if held {
		what += " that still held its output 2 s later"
	}
	what = "the command had ended and left running " + what + "; that was ended too. "
	if mayStay {
		return what + "What should go on is started with run_in_background"
	}
	return what + "Nothing outlives a call, and background runs are not available"
}

// whereWhole says where the whole output can be read, or why nowhere.
func whereWhole(res *sandbox.Result, show func(string) string) string {
	where := "the whole output was not kept"
	if res.Spill != "" {
		what := "the whole output"
		if res.SpillCut {
			what = "the first 64 MiB of it"
		}
		where = fmt.Sprintf("read_file can read %s at %s", what, show(res.Spill))
	}
	if res.SpillErr != nil {
		where += fmt.Sprintf(" (not complete: %v)", res.SpillErr)
	}
	return where
}

func summary(call *bashCall, res *sandbox.Result, lines int) string {
	switch {
	case res.Interrupted:
		return "interrupted"
	case res.TimedOut:
		return "timed out after " + seconds(call.timeout)
	case res.Signal != "":
		return res.Signal
	case res.ExitCode != 0:
		return fmt.Sprintf("exit %d", res.ExitCode)
	case lines == 0:
		return "no output"
	case lines == 1:
		return "1 line"
	}
	return fmt.Sprintf("%d lines", lines)
}

func seconds(d time.Duration) string {
	return strconv.FormatFloat(d.Seconds(), 'g', -1, 64) + " s"
}

// grouped writes a number with commas: 1,234,567.
func grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	var b bytes.Buffer
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// WriteBlock adds what a screen has kept between tags of this name, nothing where
// that is nothing. It says how many lines that are, and how many bytes were cut
// from their middle. It ends the screen's stream.
func (s *Screen) WriteBlock(b *strings.Builder, name string) (lines int, cut int64) {
	head, tail, cut := s.shown()
	return writeStream(b, name, head, tail, cut), cut
}
