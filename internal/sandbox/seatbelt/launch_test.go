//go:build unix

package seatbelt

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/sandbox"
	"garuda/internal/sandbox/wrapped"
)

func view(v *sandbox.View) sandbox.Viewer {
	return func(context.Context, *sandbox.Command) (*sandbox.View, error) { return v, nil }
}

func command() *sandbox.Command {
	return &sandbox.Command{Argv: []string{"bash", "-c", "echo; x"}, Dir: "/w", Env: []string{"PATH=/w/bin:/bin", "TMPDIR=/tmp"}, Call: "c1"}
}

func TestWhatIsStarted(t *testing.T) {
	v := &sandbox.View{
		Entries: []sandbox.Entry{
			{Path: "/tmp", Source: "/s/tmp", Access: sandbox.Writable}, {Path: "/w", Access: sandbox.Writable},
		},
		Limits: sandbox.Limits{FileBytes: 1025},
	}
	l, err := launcher(wrapped.Options{View: view(v)})(t.Context(), command())
	if err != nil {
		t.Fatal(err)
	}
	text, params, err := Profile(v)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{tool, "-p", text}
	for _, p := range params {
		want = append(want, "-D", p)
	}
	want = append(want, "/bin/sh", "-c", limited, "3", "/bin/bash", "-c", "echo; x")
	if diff := cmp.Diff(want, l.Argv); diff != "" {
		t.Error(diff)
	}
	if l.Path != "/usr/bin/sandbox-exec" || l.Dir != "/w" || l.Ended != nil || len(l.Files) != 0 {
		t.Errorf("got %+v", l)
	}
	if diff := cmp.Diff([]string{"PATH=/w/bin:/bin", "TMPDIR=/s/tmp"}, l.Env); diff != "" {
		t.Error(diff)
	}
}

func TestWhatIsNotStarted(t *testing.T) {
	broken := errors.New("too many matches")
	gone := command()
	gone.Argv = []string{"/no/such/program"}
	for name, c := range map[string]struct {
		opt  wrapped.Options
		cmd  *sandbox.Command
		want error
	}{
		"no view": {wrapped.Options{}, command(), wrapped.ErrNoView},
		"a view that fails": {wrapped.Options{
			View: func(context.Context, *sandbox.Command) (*sandbox.View, error) { return nil, broken },
		}, command(), broken},
		"an empty view": {wrapped.Options{View: view(nil)}, command(), wrapped.ErrNoView},
		"no program":    {wrapped.Options{View: view(&sandbox.View{})}, gone, fs.ErrNotExist},
		"a bad path":    {wrapped.Options{View: view(&sandbox.View{Entries: []sandbox.Entry{{Path: "x"}}})}, command(), ErrUnsafePath},
		"no passage":    {wrapped.Options{View: view(&sandbox.View{}), Network: &network{err: broken}}, command(), broken},
	} {
		if l, err := launcher(c.opt)(t.Context(), c.cmd); !errors.Is(err, c.want) || l != nil {
			t.Errorf("%s: %v, %v", name, l, err)
		}
	}
}

// network counts its passages.
type network struct {
	err          error
	begun, ended int
	files        []*os.File
}

func (n *network) Begin(_ context.Context, call string) (sandbox.Passage, error) {
	if n.err != nil || call != "c1" {
		return nil, errors.Join(n.err)
	}
	n.begun++
	return n, nil
}
func (n *network) Env() []string { return []string{"HTTP_PROXY=http://t@127.0.0.1:3128"} }
func (n *network) Listeners() []sandbox.Listener {
	return []sandbox.Listener{{Network: "tcp4", Address: "127.0.0.1:3128"}}
}
func (n *network) Serve(files []*os.File) error {
	n.files = files
	return nil
}
func (n *network) Close() []string {
	n.ended++
	for _, f := range n.files {
		_ = f.Close()
	}
	return []string{"evil.example"}
}

func TestTheWayOut(t *testing.T) {
	n := &network{}
	opt := wrapped.Options{View: view(&sandbox.View{}), Network: n}
	l, err := launcher(opt)(t.Context(), command())
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(l.Env, func(e string) bool { return strings.HasPrefix(e, "HTTP_PROXY=http://t@127.0.0.1:") })
	if i < 0 {
		t.Fatalf("nothing leads there: %q", l.Env)
	}
	port := l.Env[i][strings.LastIndexByte(l.Env[i], ':')+1:]
	if !strings.Contains(l.Argv[2], `(allow network-outbound (remote ip "localhost:`+port+`"))`) || strings.Count(l.Argv[2], "network-outbound") != 1 {
		t.Errorf("not the way to port %s alone:\n%s", port, l.Argv[2])
	}
	var res sandbox.Result
	if l.Ended(&res); n.begun != 1 || n.ended != 1 || !slices.Equal(res.Refused, []string{"evil.example"}) {
		t.Errorf("%+v, %q", n, res.Refused)
	}
	opt.View = view(&sandbox.View{Entries: []sandbox.Entry{{Path: "x"}}})
	if _, err := launcher(opt)(t.Context(), command()); err == nil || n.begun != n.ended {
		t.Errorf("a command that does not run leaves its passage open: %v", err)
	}
	opt.View = view(&sandbox.View{FullNetwork: true})
	if _, err := launcher(opt)(t.Context(), command()); err != nil || n.begun != 2 {
		t.Errorf("a passage beside the whole network: %v", err)
	}
}
