package session

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"time"
)

// Version is the journal format that this Garuda writes, and the newest it reads.
const Version = 1

// timeFormat is RFC 3339 in UTC with milliseconds.
const timeFormat = "2006-01-02T15:04:05.000Z"

// The checksum's member stands right after type, so that the first crcMember of
// a line is the checksum's, and "the line without it" is the line without
// crcLen bytes from there: still one JSON object.
const (
	crcMember      = `,"crc":"`
	crcLen         = len(crcMember) + 8 + len(`"`)
	redactedMember = `,"redacted":true`
	// maxHead bounds where the checksum may begin: no head is longer.
	maxHead = 256
)

var crcTable = crc32.MakeTable(crc32.Castagnoli)

// envelope is what each line says besides its record.
type envelope struct {
	V    int       `json:"v"`
	Seq  int64     `json:"seq"`
	T    time.Time `json:"t"`
	Type string    `json:"type"`
	// redacted is true when redaction changed something in the record.
	redacted bool
}

// VersionError says that a journal was written by a newer Garuda.
type VersionError struct {
	File string
	Line int
	V    int
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("%s:%d: this session was written by a newer Garuda (journal version %d, this one knows up to %d); update Garuda to open it",
		e.File, e.Line, e.V, Version)
}

// appendLine adds one record's line, with its newline. body is the record as a
// JSON object.
func appendLine(line []byte, seq int64, now time.Time, kind string, redacted bool, body []byte) []byte {
	start := len(line)
	line = append(line, `{"v":`...)
	line = strconv.AppendInt(line, Version, 10)
	line = append(line, `,"seq":`...)
	line = strconv.AppendInt(line, seq, 10)
	line = append(line, `,"t":"`...)
	line = now.UTC().AppendFormat(line, timeFormat)
	line = append(line, `","type":"`...)
	line = append(line, kind...)
	line = append(line, '"')
	head := len(line)
	line = append(line, `,"crc":"00000000"`...)
	tail := len(line)
	if redacted {
		line = append(line, redactedMember...)
	}
	if fields := body[1:]; len(fields) > 1 { // more than the closing brace
		line = append(append(line, ','), fields...)
	} else {
		line = append(line, '}')
	}
	sum := crc32.Update(crc32.Checksum(line[start:head], crcTable), crcTable, line[tail:])
	hex.Encode(line[head+len(crcMember):], binary.BigEndian.AppendUint32(nil, sum))
	return append(line, '\n')
}

var (
	errNoChecksum  = errors.New("not a journal record: it has no checksum")
	errBadChecksum = errors.New("the checksum does not match: the line was changed or damaged")
)

// parseLine reads a line's envelope and checks its checksum. The line comes
// without its newline.
func parseLine(line []byte) (envelope, error) {
	var env envelope
	head := bytes.Index(line[:min(len(line), maxHead)], []byte(crcMember))
	if head < 0 {
		// A newer version may be built otherwise, and says so itself.
		if err := json.Unmarshal(line, &env); err == nil && env.V > Version {
			return env, &VersionError{V: env.V}
		}
		return env, errNoChecksum
	}
	tail := head + crcLen
	if err := json.Unmarshal(append(bytes.Clone(line[:head]), '}'), &env); err != nil {
		return env, fmt.Errorf("not a journal record: %w", err)
	}
	if env.V > Version {
		return env, &VersionError{V: env.V}
	}
	if tail > len(line) || line[tail-1] != '"' {
		return env, errNoChecksum
	}
	var want [4]byte
	if _, err := hex.Decode(want[:], line[head+len(crcMember):tail-1]); err != nil {
		return env, errNoChecksum
	}
	if sum := crc32.Update(crc32.Checksum(line[:head], crcTable), crcTable, line[tail:]); sum != binary.BigEndian.Uint32(want[:]) {
		return env, errBadChecksum
	}
	env.redacted = bytes.HasPrefix(line[tail:], []byte(redactedMember))
	return env, nil
}

// decodeRecord reads the record of a line whose envelope is known; nil for a
// type that this Garuda does not know.
func decodeRecord(env envelope, line []byte) (Record, error) {
	rec := newRecord(env.Type)
	if rec == nil {
		return nil, nil
	}
	if err := json.Unmarshal(line, rec); err != nil {
		return nil, fmt.Errorf("not a %s record: %w", env.Type, err)
	}
	return rec, nil
}
