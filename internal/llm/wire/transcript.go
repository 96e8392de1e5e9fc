package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"

	"garuda/internal/core"
	"garuda/internal/llm"
)

// Encoder writes one wire format.
type Encoder interface {
	// AppendHead appends the request up to and including the opening bracket of
	// the message list (and messages that come first, such as a system message).
	// marks are offsets into the result where a cache mark may be put in, ascending.
	AppendHead(dst []byte, req *llm.Request) (out []byte, marks []int, err error)
	// AppendMessage appends what m is on the wire: entries of the message list,
	// with commas between them but not before, or nothing at all. mark is the
	// offset into the result where a cache mark may be put in, or -1.
	AppendMessage(dst []byte, m *core.Message) (out []byte, mark int)
}

// Follower is an Encoder that writes a message according to the one before it:
// some servers want turns to alternate. prev is the last message before m that
// is on the wire, or nil. It must depend on nothing else, so that what was sent
// once can be sent again unchanged.
type Follower interface {
	Encoder
	AppendFollowing(dst []byte, prev, m *core.Message) (out []byte, mark int)
}

// Transcript is the encoded request of one conversation. It encodes each message
// once and appends it to what was sent before; what is sent is a view of it.
//
// Its bytes are never changed once written: where a request does not continue
// the last one, a new buffer is begun with what both have in common.
type Transcript struct {
	enc  Encoder
	tail string
	mark string

	key       headKey
	head      int // length of the head in buf
	headMarks []int
	buf       []byte
	msgs      []encoded
	sum       hash.Cloner // over buf[:summed]
	summed    int
}

// encoded is one message's place in the buffer; start comes after the comma.
type encoded struct {
	msg        *core.Message
	start, end int
	mark       int
}

// headKey is what the head is made of.
type headKey struct {
	system    string
	tools     []llm.ToolSpec
	maxTokens int
	thinking  llm.ThinkingLevel
	session   string
	server    []string
}

func keyOf(req *llm.Request) headKey {
	return headKey{system: req.System, tools: req.Tools, maxTokens: req.MaxTokens, thinking: req.Thinking,
		session: req.SessionID, server: req.ServerTools}
}

func (k headKey) equal(o headKey) bool {
	return k.system == o.system && k.maxTokens == o.maxTokens && k.thinking == o.thinking && k.session == o.session &&
		slices.Equal(k.server, o.server) && slices.EqualFunc(k.tools, o.tools, sameTool)
}

func sameTool(a, b llm.ToolSpec) bool {
	if a.Name != b.Name || a.Description != b.Description || string(a.Schema) != string(b.Schema) {
		return false
	}
	if a.FreeText == nil || b.FreeText == nil {
		return a.FreeText == b.FreeText
	}
	return *a.FreeText == *b.FreeText
}

// NewTranscript returns an empty transcript. tail closes the message list and the
// request; mark is the text of a cache mark, empty for a format without.
func NewTranscript(enc Encoder, tail, mark string) *Transcript {
	return &Transcript{enc: enc, tail: tail, mark: mark}
}

// Reset forgets the head, for an encoder whose settings changed.
func (t *Transcript) Reset() { t.head = 0 }

// Body encodes what is new in req and returns the whole.
func (t *Transcript) Body(req *llm.Request) (*Body, error) {
	same := 0
	for same < len(t.msgs) && same < len(req.Messages) && t.msgs[same].msg == req.Messages[same] {
		same++
	}
	if key := keyOf(req); t.head == 0 || same < len(t.msgs) || !key.equal(t.key) {
		if err := t.begin(req, key, same); err != nil {
			return nil, err
		}
	}
	for _, m := range req.Messages[len(t.msgs):] {
		t.append(m)
	}
	return t.body(), nil
}

// begin starts a new buffer with req's head and the first messages, whose
// encodings are copied, not made again.
func (t *Transcript) begin(req *llm.Request, key headKey, keep int) error {
	head, marks, err := t.enc.AppendHead(nil, req)
	if err != nil {
		return fmt.Errorf("encode request: %w", err)
	}
	old, msgs := t.buf, t.msgs[:keep]
	size := 0
	for _, m := range msgs {
		size += m.end - m.start + 1
	}
	buf := slices.Grow(head, size+size/4)
	kept := make([]encoded, 0, len(req.Messages)+16)
	for _, m := range msgs {
		n := m.end - m.start
		if n > 0 {
			buf = AppendComma(buf)
		}
		start := len(buf)
		buf = append(buf, old[m.start:m.end]...)
		kept = append(kept, encoded{msg: m.msg, start: start, end: start + n, mark: moved(m.mark, start-m.start)})
	}
	key.tools, key.server = slices.Clone(key.tools), slices.Clone(key.server)
	t.key, t.head, t.headMarks, t.buf, t.msgs = key, len(head), marks, buf, kept
	t.sum, t.summed = newSum(), 0
	return nil
}

// newSum is a SHA-256 whose state can be copied, so that the hash of a request
// costs only its new bytes.
func newSum() hash.Cloner {
	sum, ok := sha256.New().(hash.Cloner)
	if !ok {
		panic("crypto/sha256: the state cannot be copied") // it documents that it can
	}
	return sum
}

func moved(mark, by int) int {
	if mark < 0 {
		return mark
	}
	return mark + by
}

func (t *Transcript) append(m *core.Message) {
	before := len(t.buf)
	t.buf = AppendComma(t.buf)
	start := len(t.buf)
	out, mark := t.encode(m)
	if len(out) == start { // nothing of it can be sent
		t.buf, start = out[:before], before
	} else {
		t.buf = out
	}
	t.msgs = append(t.msgs, encoded{msg: m, start: start, end: len(t.buf), mark: mark})
}

func (t *Transcript) encode(m *core.Message) (out []byte, mark int) {
	f, ok := t.enc.(Follower)
	if !ok {
		return t.enc.AppendMessage(t.buf, m)
	}
	var prev *core.Message
	for i := len(t.msgs) - 1; i >= 0 && prev == nil; i-- {
		if t.msgs[i].end > t.msgs[i].start {
			prev = t.msgs[i].msg
		}
	}
	return f.AppendFollowing(t.buf, prev, m)
}

func (t *Transcript) body() *Body {
	t.sum.Write(t.buf[t.summed:])
	t.summed = len(t.buf)
	sum, err := t.sum.Clone()
	if err != nil {
		panic(fmt.Sprintf("clone a SHA-256 state: %v", err)) // it always can; an error would be a bug in Go
	}
	sum.Write([]byte(t.tail))

	b := &Body{hash: hex.EncodeToString(sum.Sum(nil))}
	from := 0
	for _, at := range t.marks() {
		b.parts = append(b.parts, t.buf[from:at:at], []byte(t.mark))
		from = at
	}
	b.parts = append(b.parts, t.buf[from:len(t.buf):len(t.buf)], []byte(t.tail))
	for _, p := range b.parts {
		b.size += len(p)
	}
	return b
}

// marks are the offsets of the cache marks of this request: those of the head,
// that of the last message, and that of the user message before it. The latter
// is where the previous request ended, so its cache entry is found again however
// many blocks this step added.
func (t *Transcript) marks() []int {
	if t.mark == "" {
		return nil
	}
	marks := slices.Clone(t.headMarks)
	last := t.lastMark(len(t.msgs), func(encoded) bool { return true })
	if last < 0 {
		return marks
	}
	if prev := t.lastMark(last, func(m encoded) bool { return m.msg.Role == core.RoleUser }); prev >= 0 {
		marks = append(marks, t.msgs[prev].mark)
	}
	return append(marks, t.msgs[last].mark)
}

// lastMark is the index of the last message below end that can carry a mark.
func (t *Transcript) lastMark(end int, want func(encoded) bool) int {
	for i := end - 1; i >= 0; i-- {
		if t.msgs[i].mark >= 0 && want(t.msgs[i]) {
			return i
		}
	}
	return -1
}
