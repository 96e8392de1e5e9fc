package bedrock

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"garuda/internal/llm"
	"garuda/internal/llm/wire"
)

// events reads an event stream and gives it out as server-sent events. A stream
// that ends inside a message ends, as far as a reader can tell: the messages
// before it are whole, and whether they are an answer is not decided here.
type events struct {
	src     io.ReadCloser
	in      *bufio.Reader
	decoder *eventstream.Decoder
	left    int    // how many bytes may still come
	payload []byte // reused from message to message
	out     []byte // what of the last message is still to be read
	buf     []byte // what out is a part of
	err     error
}

// readAhead is how much is read at a time, in bytes: some dozens of messages.
const readAhead = 16 << 10

// maxStream bounds what one answer may bring, in bytes of the framing. Package wire
// bounds what is read of it; messages that say nothing never get there.
const maxStream = 256 << 20

func newEvents(src io.ReadCloser) *events {
	e := &events{src: src, decoder: eventstream.NewDecoder(), left: maxStream}
	e.in = bufio.NewReaderSize((*bounded)(e), readAhead)
	return e
}

// bounded reads the stream up to its bound.
type bounded events

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, &llm.Error{Kind: llm.ErrProtocol, Message: fmt.Sprintf("the server's answer is larger than %d MB", maxStream>>20), NoRetry: true}
	}
	n, err := b.src.Read(p)
	b.left -= n
	return n, err
}

// Close ends the answer.
func (e *events) Close() error { return e.src.Close() }

// Read implements io.Reader.
func (e *events) Read(p []byte) (int, error) {
	for len(e.out) == 0 && e.err == nil {
		e.next()
	}
	if len(e.out) == 0 {
		return 0, e.err
	}
	n := copy(p, e.out)
	e.out = e.out[n:]
	return n, nil
}

func (e *events) next() {
	m, err := e.decoder.Decode(e.in, e.payload[:0])
	switch {
	case err == nil:
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		e.err = io.EOF
		return
	default:
		e.err = fmt.Errorf("read the event stream: %w", err)
		return
	}
	e.payload = m.Payload
	e.buf = appendEvent(e.buf[:0], &m)
	e.out = e.buf
}

// appendEvent appends what a message is as a server-sent event; nothing for a
// message of a kind that is not known.
func appendEvent(dst []byte, m *eventstream.Message) []byte {
	switch header(m, ":message-type") {
	case "event":
		if header(m, ":event-type") != "chunk" {
			return dst
		}
		var chunk struct {
			Bytes []byte `json:"bytes"`
		}
		if json.Unmarshal(m.Payload, &chunk) != nil {
			return appendData(dst, m.Payload) // the client says what is wrong with it
		}
		return appendData(dst, chunk.Bytes)
	case "exception":
		return appendError(dst, header(m, ":exception-type"), string(m.Payload))
	case "error":
		return appendError(dst, header(m, ":error-code"), header(m, ":error-message"))
	}
	return dst
}

func header(m *eventstream.Message, name string) string {
	if v := m.Headers.Get(name); v != nil {
		return v.String()
	}
	return ""
}

// appendData appends an event. A line break, which JSON allows between its
// tokens only, would end the event's line.
func appendData(dst, data []byte) []byte {
	dst = append(dst, "data: "...)
	from := len(dst)
	dst = append(dst, data...)
	for i := bytes.IndexAny(dst[from:], "\r\n"); i >= 0; i = bytes.IndexAny(dst[from:], "\r\n") {
		from += i
		dst[from] = ' '
	}
	return append(dst, "\n\n"...)
}

// appendError appends an exception as the event of an error, in the shape of
// Amazon's JSON protocols, which package wire knows. What the model itself said
// goes before what Bedrock says of it.
func appendError(dst []byte, name, message string) []byte {
	var said struct {
		Message         string `json:"message"`
		OriginalMessage string `json:"originalMessage"`
	}
	if json.Unmarshal([]byte(message), &said) == nil {
		if message = said.Message; said.OriginalMessage != "" {
			message = said.OriginalMessage
		}
	}
	data := wire.AppendField([]byte{'{'}, "__type", name)
	data = append(wire.AppendField(data, "message", message), '}')
	return appendData(append(dst, "event: error\n"...), data)
}
