// Package audit keeps the record of what was decided about every call and how
// those that ran ended: one file a process in the user's home, each line bound
// to the one before by its hash, and beside the file a checkpoint of its end, so
// that a line that was changed, put in, or cut off shows.
//
// It decides nothing, and it stops no call: whether a line that cannot be
// written stops one is up to the caller. It holds off no user who rewrites a
// file and its checkpoint together; no sandboxed command can reach either.
package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Version is that of the lines; readers take the older ones too.
const Version = 1

// textLimit is how many bytes of a target or a reason a line holds, nameLimit of an
// id or a name: those come from servers, which may send any.
const textLimit, nameLimit = 4096, 512

// Line is one line of a log. The order of the fields is that of the file.
type Line struct {
	V int `json:"v"`
	// ID is the call's, for a decision and for how the call ended; what belongs to
	// no call has an id of its own.
	ID        string `json:"id"`
	Timestamp string `json:"timestamp"`
	SessionID string `json:"sessionId,omitempty"`
	// Agent names the subagent that made the call; empty for the main one.
	Agent  string `json:"agent,omitempty"`
	Tool   string `json:"tool"`
	Target string `json:"target,omitempty"`
	// Decision is one of the words of this package: allow_rule, deny_user, executed …
	Decision Decision `json:"decision"`
	Allowed  bool     `json:"allowed"`
	Reason   string   `json:"reason,omitempty"`
	Risk     Risk     `json:"risk"`
	// UserChoice is what a person answered: once, session, project, deny.
	UserChoice string `json:"userChoice,omitempty"`
	DurationMs int64  `json:"durationMs,omitempty"`
	IsError    bool   `json:"isError,omitempty"`
	// Seq counts the lines of a file from 1; Prev is the hash of the line before,
	// 64 zeros in the first; Hash is the SHA-256 of the line without it.
	Seq  int64  `json:"seq"`
	Prev string `json:"prev"`
	Hash string `json:"hash,omitempty"`
}

// firstPrev stands in a file's first line.
var firstPrev = strings.Repeat("0", 2*sha256.Size)

// hashMark begins the member that holds a line's hash, which is its last one.
const hashMark = `,"hash":"`

// encode writes the line with its hash, and its end of line.
func (l *Line) encode() ([]byte, error) {
	l.V, l.Hash = Version, ""
	for _, text := range []*string{&l.Target, &l.Reason} {
		*text = shorten(*text, textLimit)
	}
	for _, name := range []*string{&l.ID, &l.SessionID, &l.Agent, &l.Tool} {
		*name = shorten(*name, nameLimit)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(l); err != nil {
		return nil, fmt.Errorf("write an audit line: %w", err)
	}
	body := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	l.Hash = hashOf(body)
	return append(body[:len(body)-1], hashMark+l.Hash+"\"}\n"...), nil
}

func hashOf(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// ErrChanged says that a line is not what was written.
var ErrChanged = errors.New("the line is not what was written")

// decode reads a line and checks it against its own hash.
func decode(raw []byte) (*Line, error) {
	const tail = `"}`
	at := len(raw) - len(hashMark) - 2*sha256.Size - len(tail)
	if at < 0 || string(raw[at:at+len(hashMark)]) != hashMark || !bytes.HasSuffix(raw, []byte(tail)) {
		return nil, fmt.Errorf("%w: it does not end in its hash", ErrChanged)
	}
	said := string(raw[at+len(hashMark) : len(raw)-len(tail)])
	body := append(bytes.Clone(raw[:at]), '}')
	if hashOf(body) != said {
		return nil, fmt.Errorf("%w: its hash is another", ErrChanged)
	}
	l := new(Line)
	if err := json.Unmarshal(body, l); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrChanged, err)
	}
	if l.V > Version {
		return nil, fmt.Errorf("the line has version %d; this Garuda knows %d, so use a newer one", l.V, Version)
	}
	l.Hash = said
	return l, nil
}

// shorten keeps what a line holds within bounds, and readable as text.
func shorten(s string, limit int) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	if len(s) <= limit {
		return s
	}
	end := limit
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}

// stamp is a time as lines have it.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
