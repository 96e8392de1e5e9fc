// Package fileread holds the tools that look at single files and folders
// without changing anything: read_file, read_many_files and list_dir.
//
// They reach files only through package workspace, start no process, and decide
// nothing: what may be read is decided before they run, and what a listing may
// name is asked of Env.MayRead.
package fileread

import (
	"encoding/json"
	"fmt"
	"strconv"

	"garuda/internal/tool"
)

// New returns the tools of this package.
func New() []tool.Tool { return []tool.Tool{readFile{}, readManyFiles{}, listDir{}} }

// decode reads a call's input, which has already passed the tool's schema.
func decode[T any](input json.RawMessage) (*T, error) {
	in := new(T)
	if err := json.Unmarshal(input, in); err != nil {
		return nil, fmt.Errorf("read the input: %w", err)
	}
	return in, nil
}

// AppendLine adds one numbered line, as every tool shows lines: the number
// right-aligned in width columns, a tab, the text. A line of more than
// MaxLineChars is cut; the result says whether it was not.
func AppendLine(dst []byte, number, width int, text string) ([]byte, bool) {
	return appendLine(dst, number, width, text, 0)
}

// appendLine is AppendLine for a text whose last bytes were dropped already.
func appendLine(dst []byte, number, width int, text string, dropped int) ([]byte, bool) {
	for pad := width - digits(number); pad > 0; pad-- {
		dst = append(dst, ' ')
	}
	dst = strconv.AppendInt(dst, int64(number), 10)
	dst = append(dst, '\t')
	kept := cutLine(text)
	dst = append(dst, kept...)
	if rest := len(text) - len(kept) + dropped; rest > 0 {
		dst = fmt.Appendf(dst, " [… %s more in this line]\n", Size(int64(rest)))
		return dst, false
	}
	return append(dst, '\n'), true
}

// MaxLineChars is how many characters of one line are shown.
const MaxLineChars = 2000

// cutLine returns what is shown of a line.
func cutLine(text string) string {
	if len(text) <= MaxLineChars {
		return text
	}
	n := 0
	for i := range text {
		if n == MaxLineChars {
			return text[:i]
		}
		n++
	}
	return text
}

// Width is how many columns the numbers up to last take.
func Width(last int) int { return digits(last) }

func digits(n int) int {
	d := 1
	for ; n >= 10; n /= 10 {
		d++
	}
	return d
}
