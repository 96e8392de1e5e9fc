package watched

import (
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // how git names objects, and it refuses known collisions
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"strings"
)

// errNotInTree is of a path that a commit does not hold.
var errNotInTree = errors.New("the commit does not hold it")

// objects reads a repository's objects and checks each against its id. Git does
// not when it reads a folder or a file, and a command can write other contents under the id of an
// object that was there before.
type objects struct{ git Git }

func (o objects) read(ctx context.Context, kind, id string) ([]byte, error) {
	data, err := o.git(ctx, "cat-file", kind, id)
	if err != nil {
		return nil, err
	}
	var sum hash.Hash
	if len(id) == 2*sha1.Size {
		sum = sha1.New() //nolint:gosec // see the import
	} else {
		sum = sha256.New()
	}
	fmt.Fprintf(sum, "%s %d\x00", kind, len(data))
	sum.Write(data)
	if hex.EncodeToString(sum.Sum(nil)) != id {
		return nil, fmt.Errorf("the repository's object %s holds something else than its id says", id)
	}
	return data, nil
}

// field is the value of an object's first line, which must have that name.
func field(data []byte, name string) string {
	line, _, _ := strings.Cut(string(data), "\n")
	value, ok := strings.CutPrefix(line, name+" ")
	if !ok {
		return ""
	}
	return commitID(value)
}

// entry is what a commit holds at a path: its mode and its object.
func (o objects) entry(ctx context.Context, commit, rel string) (mode, id string, err error) {
	data, err := o.read(ctx, "commit", commit)
	if err != nil {
		return "", "", err
	}
	id = field(data, "tree")
	for name := range strings.SplitSeq(rel, "/") {
		if data, err = o.read(ctx, "tree", id); err != nil {
			return "", "", err
		}
		if mode, id = inTree(data, name, len(id)/2); id == "" {
			return "", "", errNotInTree
		}
	}
	return mode, id, nil
}

// inTree finds a name in a tree's own format: a mode, a space, the name, NUL and
// the bytes of the id, again and again.
func inTree(tree []byte, name string, idLen int) (mode, id string) {
	for {
		head, rest, ok := bytes.Cut(tree, []byte{0})
		if !ok || len(rest) < idLen {
			return "", ""
		}
		if mode, n, _ := strings.Cut(string(head), " "); n == name {
			return mode, hex.EncodeToString(rest[:idLen])
		}
		tree = rest[idLen:]
	}
}
