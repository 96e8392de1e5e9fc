package modelserver

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"time"
)

// Run serves a scenario file until ctx ends, as a program of its own for script
// tests. It prints the server's address as one line, and writes it to -addr-file
// when it can be reached. With -log it appends a JSON line for each request.
// The result is the program's exit code.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if err := run(ctx, args, stdout, stderr); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(stderr, "modelserver:", err)
		}
		return 1
	}
	return 0
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("modelserver", flag.ContinueOnError)
	flags.SetOutput(stderr)
	scenario := flags.String("scenario", "", "scenario `file`")
	addr := flags.String("addr", "127.0.0.1:0", "`address` to listen on")
	addrFile := flags.String("addr-file", "", "`file` that gets the server's URL when it can be reached")
	logFile := flags.String("log", "", "`file` that gets a JSON line for each request")
	if err := flags.Parse(args); err != nil {
		return err
	}
	s, err := ReadFile(*scenario)
	if err != nil {
		return err
	}
	var o Options
	var log *requestLog
	if *logFile != "" {
		f, err := os.Create(*logFile)
		if err != nil {
			return err
		}
		defer f.Close()
		log = &requestLog{to: f}
		o.Recorded = log.add
	}
	srv, err := New(s, o)
	if err != nil {
		return err
	}
	if log != nil {
		log.breaks = srv.Breaks
	}
	if err := srv.Listen(ctx, *addr); err != nil {
		return err
	}
	defer srv.Close()
	if *addrFile != "" {
		// Renamed into place, so that whoever waits for it never reads half a line.
		if err := os.WriteFile(*addrFile+".new", []byte(srv.URL()+"\n"), 0o600); err != nil {
			return err
		}
		if err := os.Rename(*addrFile+".new", *addrFile); err != nil {
			return err
		}
	}
	fmt.Fprintln(stdout, srv.URL())
	<-ctx.Done()
	if log == nil {
		return nil
	}
	return log.failed()
}

// requestLog writes requests as JSON lines.
type requestLog struct {
	breaks func() []Break

	mu    sync.Mutex
	to    io.Writer
	first time.Time
	last  time.Time
	err   error
}

// line is one request in the log. Times are in milliseconds from the first
// request's arrival; gapMs is from the end of the response before.
type line struct {
	N          int             `json:"n"`
	Step       int             `json:"step"`
	Format     string          `json:"format"`
	Path       string          `json:"path"`
	Status     int             `json:"status"`
	Fault      string          `json:"fault,omitempty"`
	Stream     bool            `json:"stream"`
	ClientGone bool            `json:"clientGone"`
	Bytes      int             `json:"bytes"`
	ArrivedMs  float64         `json:"arrivedMs"`
	EndMs      float64         `json:"endMs"`
	GapMs      float64         `json:"gapMs"`
	Break      string          `json:"break,omitempty"`
	Header     http.Header     `json:"header"`
	Body       json.RawMessage `json:"body"`
}

func (l *requestLog) add(q *Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.first.IsZero() {
		l.first, l.last = q.Arrived, q.Arrived
	}
	ms := func(t, from time.Time) float64 { return float64(t.Sub(from).Microseconds()) / 1000 }
	out := line{N: q.N, Step: q.Step, Format: q.Format, Path: q.Path, Status: q.Status, Fault: q.Fault, Stream: q.Stream,
		ClientGone: q.ClientGone, Bytes: q.Bytes, ArrivedMs: ms(q.Arrived, l.first), EndMs: ms(q.Responded, l.first),
		GapMs: ms(q.Arrived, l.last), Header: q.Header, Body: q.Body}
	l.last = q.Responded
	for _, b := range l.breaks() {
		if b.Request == q.N {
			out.Break = b.Segment
		}
	}
	if !json.Valid(q.Body) {
		out.Body = nil
	}
	data, err := json.Marshal(out)
	if err == nil {
		_, err = l.to.Write(append(data, '\n'))
	}
	l.err = errors.Join(l.err, err)
}

func (l *requestLog) failed() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}
