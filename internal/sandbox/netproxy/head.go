package netproxy

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
)

const (
	// maxHead is how long the head of a request may be, in bytes; maxFields how
	// many header fields it may have.
	maxHead   = 64 << 10
	maxFields = 256
)

// head is the head of a request. It is read as strictly as RFC 9112 allows, and
// more so: whatever two programs might read in two ways is refused, so that the
// next one never sees another request than the one that was judged.
type head struct {
	method, target string
	// minor is the 0 or 1 of HTTP/1.0 and HTTP/1.1.
	minor  int
	fields []field
}

type field struct{ name, value string }

// readHead reads up to the empty line that ends a request's head. begun is what
// was read before; rest is what came behind the head.
func readHead(r io.Reader, begun []byte) (raw, rest []byte, err error) {
	buf := make([]byte, len(begun), max(4<<10, len(begun)))
	copy(buf, begun)
	checked := 0
	for {
		// A line that ends otherwise than in CR LF is refused at once: the head's
		// end would never come.
		for ; checked < len(buf); checked++ {
			if buf[checked] != '\n' {
				continue
			}
			if checked == 0 || buf[checked-1] != '\r' {
				return nil, nil, malformed("a line of the request ends without a carriage return")
			}
			if checked >= 3 && buf[checked-2] == '\n' {
				return buf[:checked+1], buf[checked+1:], nil
			}
		}
		if len(buf) >= maxHead {
			return nil, nil, &refusal{http.StatusRequestHeaderFieldsTooLarge, "the head of the request is too long"}
		}
		if len(buf) == cap(buf) {
			longer := make([]byte, len(buf), min(2*cap(buf), maxHead))
			copy(longer, buf)
			buf = longer
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if n == 0 && err != nil {
			return nil, nil, err
		}
	}
}

// parseHead takes a head apart that readHead found.
func parseHead(raw []byte) (*head, error) {
	text, ok := strings.CutSuffix(string(raw), "\r\n\r\n")
	if !ok {
		return nil, malformed("the head of the request has no end")
	}
	line, text, more := strings.Cut(text, "\r\n")
	h := new(head)
	if err := h.requestLine(line); err != nil {
		return nil, err
	}
	for more {
		line, text, more = strings.Cut(text, "\r\n")
		if err := h.field(line); err != nil {
			return nil, err
		}
	}
	if err := h.framing(); err != nil {
		return nil, err
	}
	return h, nil
}

func (h *head) requestLine(line string) error {
	method, rest, _ := strings.Cut(line, " ")
	target, version, _ := strings.Cut(rest, " ")
	if !isToken(method) || target == "" || strings.ContainsFunc(target, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return malformed("the request's first line is malformed")
	}
	switch version {
	case "HTTP/1.0":
	case "HTTP/1.1":
		h.minor = 1
	default:
		return malformed("the request is not one of HTTP/1.0 or HTTP/1.1")
	}
	h.method, h.target = method, target
	return nil
}

func (h *head) field(line string) error {
	name, value, ok := strings.Cut(line, ":")
	// A line that begins with a space would continue the one before (obs-fold).
	if !ok || !isToken(name) {
		return malformed("a header field is malformed")
	}
	value = strings.Trim(value, " \t")
	if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		return malformed("a header field holds a control character")
	}
	if len(h.fields) == maxFields {
		return &refusal{http.StatusRequestHeaderFieldsTooLarge, "the request has too many header fields"}
	}
	h.fields = append(h.fields, field{name, value})
	return nil
}

// framing checks the fields that say where the request ends and whom it is for:
// each once, and not two that contradict each other.
func (h *head) framing() error {
	lengths, encodings, hosts := h.all("Content-Length"), h.all("Transfer-Encoding"), h.all("Host")
	if len(lengths) > 1 || len(encodings) > 1 || len(lengths)+len(encodings) > 1 {
		return malformed("the request says in two ways how long it is")
	}
	if len(lengths) == 1 && (len(lengths[0]) > 18 || !digits(lengths[0])) {
		return malformed("the request's length is malformed")
	}
	if len(encodings) == 1 && (h.minor == 0 || !strings.EqualFold(encodings[0], "chunked")) {
		return malformed("the request has a transfer encoding other than chunked")
	}
	if len(hosts) > 1 || len(hosts) == 0 && h.minor == 1 {
		return malformed("the request must name its host once")
	}
	return nil
}

// all are the values of a header field.
func (h *head) all(name string) []string {
	var out []string
	for _, f := range h.fields {
		if strings.EqualFold(f.name, name) {
			out = append(out, f.value)
		}
	}
	return out
}

// hostPort splits host:port; without a port it is the one given, or, with 0, an
// error. What is no port is an error; the host is not checked.
func hostPort(text string, otherwise uint16) (host string, port uint16, err error) {
	host, number, given := cutLast(text, ':')
	if !given {
		if otherwise == 0 || text == "" {
			return "", 0, errors.New("it names no port")
		}
		return text, otherwise, nil
	}
	n, err := strconv.ParseUint(number, 10, 16)
	if err != nil || n == 0 || !digits(number) || number[0] == '0' || host == "" {
		return "", 0, errors.New("its port is malformed")
	}
	return host, uint16(n), nil
}

// cutLast splits at the last sep, unless it lies in brackets.
func cutLast(text string, sep byte) (before, after string, found bool) {
	i := strings.LastIndexByte(text, sep)
	if i < 0 || strings.HasSuffix(text, "]") {
		return text, "", false
	}
	return text[:i], text[i+1:], true
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// isToken reports whether s may be a method or the name of a header field.
func isToken(s string) bool {
	const marks = "!#$%&'*+-.^_`|~"
	return s != "" && strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r < 0x80 && strings.ContainsRune(marks, r))
	}) < 0
}
