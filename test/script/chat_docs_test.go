package script_test

import (
	"io"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"

	"garuda/internal/archtest/doctest"
)

// chatBlock is a fenced block of the language "chat": a dialog with Garuda in a
// terminal. Its first line is the command after "$ ". In each further line that
// contains "›" the text behind the sign is typed, and Enter, once the text before
// it stands on the screen; the rest is what Garuda prints, with "…" as in doctest.
// A question that says "(not shown" gets the documents' key, and the document
// shows nothing behind its sign.
type chatBlock struct {
	// line is where the fence stands in the document, from 1.
	line    int
	command string
	dialog  []string
}

func chatBlocks(document string) []chatBlock {
	var out []chatBlock
	inside, is := false, false
	for i, line := range strings.Split(document, "\n") {
		switch {
		case !inside && strings.HasPrefix(line, "```"):
			inside, is = true, line == "```chat"
			if is {
				out = append(out, chatBlock{line: i + 1})
			}
		case inside && line == "```":
			inside = false
		case inside && is:
			b := &out[len(out)-1]
			if command, ok := strings.CutPrefix(line, "$ "); ok && b.command == "" {
				b.command = command
			} else {
				b.dialog = append(b.dialog, line)
			}
		}
	}
	return out
}

// sign stands between a question and the answer.
const sign = "›"

func (b *chatBlock) run(t *testing.T, bash string, w *docsWorld) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), bash, "-c", b.command)
	cmd.Dir, cmd.Env = w.project, w.env
	file, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 60, Cols: 100})
	if err != nil {
		t.Skipf("this machine gives no pseudo terminal: %v", err)
	}
	s := &docsScreen{t: t, more: make(chan struct{}, 1)}
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		_, _ = io.Copy(s, file) // ends with EIO when the program does
	}()
	for _, line := range b.dialog {
		question, answer, found := strings.Cut(line, sign)
		if !found {
			continue
		}
		s.wait(strings.TrimLeft(question, "…") + sign)
		// The chat takes no answer that comes at once: nobody can have read the question.
		<-time.After(readingTime)
		answer = strings.TrimSpace(answer)
		if strings.Contains(question, "(not shown") {
			answer = docsKey
		}
		if _, err := file.WriteString(answer + "\r"); err != nil {
			t.Fatal(err)
		}
	}
	err = cmd.Wait()
	<-copied
	file.Close()
	if err != nil {
		t.Errorf("line %d: %s: %v", b.line, b.command, err)
	}
	if got := s.text(); !doctest.Matches(b.dialog, []byte(got)) {
		t.Errorf("line %d: %s printed\n%s\nwhere the document says\n%s", b.line, b.command, got, strings.Join(b.dialog, "\n"))
	}
}

// readingTime is a little more than a question must stand before an answer counts.
const readingTime = 600 * time.Millisecond

// docsScreen is what a dialog printed.
type docsScreen struct {
	t    *testing.T
	mu   sync.Mutex
	all  strings.Builder
	seen int
	// more is told of each piece that comes.
	more chan struct{}
}

func (s *docsScreen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.more <- struct{}{}:
	default: // wait has not taken the last one, and will look at the whole screen
	}
	return s.all.Write(p)
}

func (s *docsScreen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.ReplaceAll(s.all.String(), "\r\n", "\n")
}

func (s *docsScreen) wait(text string) {
	s.t.Helper()
	late := time.After(20 * time.Second)
	for {
		all := s.text()
		if i := strings.Index(all[s.seen:], text); i >= 0 {
			s.seen += i + len(text)
			return
		}
		select {
		case <-s.more:
		case <-late:
			s.t.Fatalf("waited in vain for %q; the screen is\n%s", text, all)
		}
	}
}
