//go:build unix

package workspace

import (
	"syscall"
	"testing"
)

// readOnly puts bytes into memory where a write ends the program.
func readOnly(t *testing.T, raw []byte) []byte {
	t.Helper()
	mem, err := syscall.Mmap(-1, 0, len(raw)+1, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Munmap(mem); err != nil {
			t.Error(err)
		}
	})
	copy(mem, raw)
	if err := syscall.Mprotect(mem, syscall.PROT_READ); err != nil {
		t.Fatal(err)
	}
	return mem[:len(raw)] // with room behind it, into which an append would write
}

// A text's string is the very memory of the bytes that were read, so nobody may
// write to them: with all that is done to a text they lie in memory that cannot
// be written.
func TestBytesThatWereReadAreNeverWritten(t *testing.T) {
	for name, raw := range map[string]string{
		"plain": "one\ntwo\nthree\n", "CRLF": "one\r\ntwo\r\nthree\r\n", "a mark": "\xef\xbb\xbfone\ntwo\n", "broken": "one\xff\ntwo\n",
		"UTF-16": "\xff\xfeo\x00n\x00e\x00\n\x00t\x00w\x00o\x00", "Windows-1252": "Gr\xf6\xdfe f\xfcr one sp\xe4ter two\n",
		"binary": "\x7fELF\x00one two",
	} {
		c := &Contents{Raw: readOnly(t, []byte(raw))}
		_, _, _ = IsBinary(c.Raw), FileType(c.Raw), CountLines(raw)
		text := c.Text()
		var edits []Edit
		for i := range len(text.LF) - 2 {
			if s := text.LF[i : i+3]; s == "one" || s == "two" {
				edits = append(edits, Edit{i, i + 3, "1\n2"})
			}
		}
		if len(edits) != 2 {
			t.Fatalf("%s: %v in %q", name, edits, text.LF)
		}
		out, lf, err := text.Splice(edits)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		// What comes of it is such a text again.
		again := decodeAs(readOnly(t, out), UTF8)
		if again.LF != lf {
			t.Errorf("%s: %q, want %q", name, again.LF, lf)
		}
		if _, err := text.Rewrite("other\n", LF); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
