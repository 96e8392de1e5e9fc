package audit

import (
	"encoding/json"
	"fmt"
	"os"

	"garuda/internal/state"
)

// mark is the file format of a checkpoint.
type mark struct {
	Seq  int64  `json:"seq"`
	Hash string `json:"hash"`
}

// markSize is how many bytes a checkpoint has, blanks at its end among them. It is
// part of a page and of a disk's sector, so that one write of it is whole or not
// there at all, whoever is killed and wherever the power fails.
const markSize = 128

// checkpoint keeps the end of one log in a file of one size, written over in place:
// to make a file anew for each line costs a hundred times as much.
type checkpoint struct {
	folder *state.Folder
	name   string
	file   *os.File // nil until the first put
}

func (c *checkpoint) put(m mark, durable bool) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	data = fmt.Appendf(nil, "%-*s\n", markSize-1, data)
	if c.stands() {
		_, err := c.file.WriteAt(data, 0)
		if err == nil && durable {
			err = c.file.Sync()
		}
		if err == nil {
			return nil
		}
	}
	// The first one, or somebody moved or cut the file, or it cannot be written.
	c.close()
	if err := c.folder.Replace(c.name, data, durable); err != nil {
		return err
	}
	c.file, err = c.folder.OpenUpdate(c.name)
	return err
}

// stands tells whether the file is where it was made, and as it was left.
func (c *checkpoint) stands() bool {
	if c.file == nil {
		return false
	}
	ours, err := c.file.Stat()
	if err != nil || ours.Size() != markSize {
		return false
	}
	there, err := c.folder.Stat(c.name)
	return err == nil && os.SameFile(ours, there)
}

func (c *checkpoint) close() {
	if c.file != nil {
		_ = c.file.Close() // each mark was written by itself
		c.file = nil
	}
}

// readMark reads a checkpoint, which a running Garuda may be writing just now: what
// it holds twice, one after the other, it holds.
func readMark(folder *state.Folder, name string) *found {
	const attempts = 10
	var last []byte
	for i := range attempts {
		data, err := folder.ReadFile(name)
		if err != nil {
			return &found{err: err}
		}
		if i > 0 && string(data) == string(last) {
			break
		}
		last = data
	}
	f := &found{}
	if f.err = json.Unmarshal(last, &f.mark); f.err == nil && (f.mark.Seq < 1 || len(f.mark.Hash) != len(firstPrev)) {
		f.err = errNoLine
	}
	return f
}
