package session

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"garuda/internal/state"
)

const (
	// maxInline is the length in bytes up to which a text stays in its line.
	maxInline = 64 << 10
	// blobPrefix begins the text that stands in a line for one kept in a file of
	// its own: blobPrefix, the hex SHA-256, ":", the length. A text that happens
	// to begin so is kept in a file too, whatever its length, so that no text
	// can be taken for a reference.
	blobPrefix = "garuda-blob:sha256:"
	blobsName  = "blobs"
)

// blobPrefixBase64 is how bytes that begin with blobPrefix look in a line; the
// prefix's length is cut to a multiple of three, so that it stands alone.
var blobPrefixBase64 = []byte(base64.StdEncoding.EncodeToString([]byte(blobPrefix[:len(blobPrefix)/3*3])))

// putBlobs moves the large texts and bytes of a record into files.
func putBlobs(rec Record, session *state.Folder) (Record, error) {
	var failed error
	var blobs *state.Folder
	put := func(body []byte) string {
		var err error
		if blobs == nil {
			if blobs, err = session.MakeSub(blobsName); err != nil {
				failed = err
				return ""
			}
		}
		sum := sha256.Sum256(body)
		name := hex.EncodeToString(sum[:])
		if have, err := blobs.ReadFile(name); err != nil || !bytes.Equal(have, body) {
			failed = errors.Join(failed, blobs.Replace(name, body, true))
		}
		return blobPrefix + name + ":" + strconv.Itoa(len(body))
	}
	w := rewriter{
		str: func(s string) (string, bool) {
			if len(s) <= maxInline && !strings.HasPrefix(s, blobPrefix) {
				return s, false
			}
			return put([]byte(s)), true
		},
		bytes: func(b []byte) ([]byte, bool) {
			if len(b) <= maxInline && !bytes.HasPrefix(b, []byte(blobPrefix)) {
				return b, false
			}
			return []byte(put(b)), true
		},
	}
	rec, _ = w.record(rec)
	if blobs != nil {
		blobs.Close()
	}
	return rec, failed
}

// mayReferTo reports whether a line may hold references to blobs.
func mayReferTo(line []byte) bool {
	return bytes.Contains(line, []byte(blobPrefix)) || bytes.Contains(line, blobPrefixBase64)
}

// getBlobs puts texts and bytes back in place of their references. What cannot
// be had is named, and left empty.
func getBlobs(rec Record, session *state.Folder) (Record, []string) {
	var problems []string
	get := func(ref string) []byte {
		body, err := readBlob(ref, session)
		if err != nil {
			problems = append(problems, err.Error())
		}
		return body
	}
	w := rewriter{
		str: func(s string) (string, bool) {
			if !strings.HasPrefix(s, blobPrefix) {
				return s, false
			}
			return string(get(s)), true
		},
		bytes: func(b []byte) ([]byte, bool) {
			if !bytes.HasPrefix(b, []byte(blobPrefix)) {
				return b, false
			}
			return get(string(b)), true
		},
	}
	rec, _ = w.record(rec)
	return rec, problems
}

var errBadReference = errors.New("the reference is not one that Garuda writes")

func readBlob(ref string, session *state.Folder) ([]byte, error) {
	name, _, _ := strings.Cut(ref[len(blobPrefix):], ":")
	if sum, err := hex.DecodeString(name); err != nil || len(sum) != sha256.Size {
		return nil, fmt.Errorf("blob %.80q: %w", name, errBadReference)
	}
	if session == nil {
		return nil, fmt.Errorf("blob %s is missing: %w", name, fs.ErrNotExist)
	}
	body, err := session.ReadFile(blobsName + "/" + name)
	if err != nil {
		return nil, fmt.Errorf("blob %s is missing: %w", name, err)
	}
	if sum := sha256.Sum256(body); hex.EncodeToString(sum[:]) != name {
		return nil, fmt.Errorf("blob %s is damaged: its content has another checksum", name)
	}
	return body, nil
}
