package anthropic

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"garuda/internal/llm/sse"
	"garuda/internal/llm/wire"
)

// batchFront makes of a server that streams an answer one that takes batches:
// making the batch asks the server behind it, whose refusal refuses the batch; the
// results hold the message that its events make, once somebody asks for them.
type batchFront struct {
	next http.Handler
	// inner makes the request that the server behind takes.
	inner func(*http.Request) *http.Request
	mu    sync.Mutex
	jobs  map[string]*batchJob
}

func newBatchFront(next http.Handler, inner func(*http.Request) *http.Request) *batchFront {
	return &batchFront{next: next, inner: inner, jobs: map[string]*batchJob{}}
}

const batchPath = "/v1/messages/batches"

func (f *batchFront) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id, what, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, batchPath), "/"), "/")
	if id == "" {
		f.create(w, r)
		return
	}
	f.mu.Lock()
	job := f.jobs[id]
	f.mu.Unlock()
	switch what {
	case "cancel":
		job.cancel()
		say(w, `{"id":%q,"processing_status":"canceling"}`, id)
	case "results":
		job.results(w, r)
	default:
		say(w, `{"id":%q,"processing_status":"ended"}`, id)
	}
}

func say(w http.ResponseWriter, format string, args ...any) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, format, args...)
}

func (f *batchFront) create(w http.ResponseWriter, r *http.Request) {
	job := &batchJob{header: http.Header{}, wanted: make(chan struct{}), streams: make(chan struct{}), done: make(chan struct{})}
	job.ctx, job.cancel = context.WithCancel(context.WithoutCancel(r.Context()))
	go func() {
		defer close(job.done)
		defer func() {
			if recover() != nil { // as net/http does with http.ErrAbortHandler
				job.aborted = true
			}
		}()
		f.next.ServeHTTP(job, f.inner(r.WithContext(job.ctx)))
	}()
	select {
	case <-r.Context().Done():
		job.cancel()
		<-job.done
		return
	case <-job.done:
	case <-job.streams:
	}
	if job.stream || !job.aborted && job.status < 300 && strings.HasPrefix(job.header.Get("Content-Type"), "text/event-stream") && job.header.Get("Content-Encoding") == "" {
		f.mu.Lock()
		id := fmt.Sprintf("msgbatch_%d", len(f.jobs))
		f.jobs[id] = job
		f.mu.Unlock()
		say(w, `{"id":%q,"processing_status":"in_progress"}`, id)
		return
	}
	if job.aborted {
		panic(http.ErrAbortHandler)
	}
	for k, v := range job.header {
		w.Header()[k] = v
	}
	if job.status != 0 {
		w.WriteHeader(job.status)
	}
	_, _ = w.Write(job.body.Bytes())
}

// batchJob is one answer of the server behind. What it streams waits until the
// results are wanted.
type batchJob struct {
	ctx             context.Context
	cancel          context.CancelFunc
	want            sync.Once
	wanted, streams chan struct{}
	done            chan struct{} // the fields below are then the reader's

	header  http.Header
	status  int
	body    bytes.Buffer
	stream  bool
	aborted bool
}

func (j *batchJob) Header() http.Header { return j.header }

func (j *batchJob) WriteHeader(status int) {
	if j.status == 0 {
		j.status = status
	}
}

func (j *batchJob) Write(p []byte) (int, error) {
	j.WriteHeader(http.StatusOK)
	kind := j.header.Get("Content-Type")
	events := strings.HasPrefix(kind, "text/event-stream") || kind == "text/plain" && (bytes.HasPrefix(p, []byte("event")) || bytes.HasPrefix(p, []byte("data")))
	if !j.stream && j.status == http.StatusOK && events && j.header.Get("Content-Encoding") == "" {
		j.stream = true
		close(j.streams)
		select {
		case <-j.wanted:
		case <-j.ctx.Done():
		}
	}
	return j.body.Write(p)
}

// Flush has nothing to do: nobody sees part of a batch's answer.
func (j *batchJob) Flush() {}

func (j *batchJob) results(w http.ResponseWriter, r *http.Request) {
	j.want.Do(func() { close(j.wanted) })
	select {
	case <-j.done:
	case <-r.Context().Done():
		j.cancel()
		<-j.done
	}
	kind := "application/x-jsonl"
	if k := j.header.Get("Content-Type"); k == "text/plain" {
		kind = k
	}
	w.Header().Set("Content-Type", kind)
	_, _ = io.WriteString(w, resultLine(j.body.Bytes()))
	if j.aborted {
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

// resultLine is the line of a batch's results that a stream's events amount to:
// half of one where the stream ends before its answer does.
func resultLine(stream []byte) string {
	const open = `{"custom_id":"garuda","result":`
	var m folded
	events := sse.NewReader(bytes.NewReader(stream))
	for {
		ev, err := events.Next()
		if err != nil || ev.Unterminated && !json.Valid(ev.Data) {
			break
		}
		var object foldedEvent
		if err := wire.Decode(ev.Data, &object); err != nil {
			return open + `{"type":"succeeded","message":` + strings.ReplaceAll(string(ev.Data), "\n", " ") + "}}\n"
		}
		if string(ev.Name) == "error" || object.Type == "" {
			return open + `{"type":"errored","error":` + string(ev.Data) + "}}\n"
		}
		m.take(&object)
	}
	line := open + `{"type":"succeeded","message":` + strings.ReplaceAll(m.document(), "\n", " ") + `}}`
	if !m.complete() {
		return line[:len(line)/2]
	}
	return line + "\n"
}

// folded is a message made of the events that stream it. Strings are joined as
// they are written, so that pieces cut inside a rune or an escape become whole.
type folded struct {
	id, model string
	stop      string
	usage     map[string]json.RawMessage
	blocks    []*foldedBlock
}

type foldedBlock struct {
	members []member
	input   string // the pieces of a JSON string
	open    bool
}

type foldedEvent struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		ID    string                     `json:"id"`
		Model string                     `json:"model"`
		Usage map[string]json.RawMessage `json:"usage"`
	} `json:"message"`
	Usage        map[string]json.RawMessage `json:"usage"`
	ContentBlock json.RawMessage            `json:"content_block"`
	Delta        map[string]json.RawMessage `json:"delta"`
}

func (m *folded) take(ev *foldedEvent) {
	for _, u := range []map[string]json.RawMessage{ev.Message.Usage, ev.Usage} {
		for k, v := range u {
			if m.usage == nil {
				m.usage = map[string]json.RawMessage{}
			}
			m.usage[k] = v
		}
	}
	switch ev.Type {
	case "message_start":
		m.id, m.model = ev.Message.ID, ev.Message.Model
	case "content_block_start":
		members, err := membersOf(ev.ContentBlock)
		if err != nil {
			panic(err)
		}
		m.blocks = append(m.blocks, &foldedBlock{members: members, open: true})
	case "content_block_delta":
		m.blocks[ev.Index].add(ev.Delta)
	case "content_block_stop":
		m.blocks[ev.Index].open = false
	case "message_delta":
		m.stop = string(ev.Delta["stop_reason"])
	}
}

func (b *foldedBlock) add(delta map[string]json.RawMessage) {
	for key, piece := range delta {
		switch key {
		case "type":
			continue
		case "partial_json":
			b.input += inside(piece)
			continue
		}
		for i := range b.members {
			if m := &b.members[i]; m.key == key {
				m.raw = json.RawMessage(`"` + inside(m.raw) + inside(piece) + `"`)
			}
		}
	}
}

func inside(raw json.RawMessage) string { return string(raw[1 : len(raw)-1]) }

func (m *folded) complete() bool {
	for _, b := range m.blocks {
		if b.open {
			return false
		}
	}
	return m.stop != ""
}

func (m *folded) document() string {
	usage, err := json.Marshal(m.usage)
	if err != nil {
		panic(err)
	}
	var content []string
	for _, b := range m.blocks {
		var members []string
		for _, member := range b.members {
			value := string(member.raw)
			var input string
			if b.input != "" && member.key == "input" && json.Unmarshal([]byte(`"`+b.input+`"`), &input) == nil {
				value = input
			}
			if m.complete() || member.key != "input" {
				members = append(members, fmt.Sprintf("%q:%s", member.key, value))
			}
		}
		content = append(content, "{"+strings.Join(members, ",")+"}")
	}
	stop := m.stop
	if stop == "" {
		stop = "null"
	}
	return fmt.Sprintf(`{"type":"message","role":"assistant","id":%q,"model":%q,"content":[%s],"stop_reason":%s,"usage":%s}`,
		m.id, m.model, strings.Join(content, ","), stop, usage)
}
