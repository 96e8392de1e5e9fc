package core

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"time"
)

// NewSessionID makes an id of the form YYYYMMDD-HHMMSS-xxxx, in UTC, with four
// random letters and digits: of two sessions that begin in the same second, one
// pair in 1.6 million has the same.
func NewSessionID(now time.Time) string {
	const letters = "0123456789abcdefghijklmnopqrstuvwxyz"
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	for i := range b {
		b[i] = letters[int(b[i])%len(letters)]
	}
	return now.UTC().Format("20060102-150405") + "-" + string(b[:])
}

// NewUUID makes a random (version 4) UUID.
func NewUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// NewCallID makes an id for a tool call whose server gave none.
func NewCallID() string { return "call_" + randomHex(12) }

// maxSessionID is the longest session id, in characters.
const maxSessionID = 100

// ValidSessionID reports whether s may be used as a session's file name: letters,
// digits, '-' and '_' only, beginning with a letter or digit, so that it can
// never name another folder.
func ValidSessionID(s string) bool {
	if s == "" || len(s) > maxSessionID || s[0] == '-' || s[0] == '_' {
		return false
	}
	for _, c := range []byte(s) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_':
		default:
			return false
		}
	}
	return true
}

func randomHex(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails: crypto/rand ends the program instead
	return hex.EncodeToString(b)
}
