package testkit

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// AddCorpus adds the inputs of a file to a fuzz target, so that what a long run has
// found is tried in every short one. The file holds one input after the other, with
// an empty line between them, each argument in a line of its own as the go command
// writes them below testdata/fuzz: string("…"), []byte("…"), bool(true), int(1).
func AddCorpus(f *testing.F, file string) {
	f.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		f.Fatal(err)
	}
	for n, entry := range strings.Split(strings.TrimSpace(string(data)), "\n\n") {
		var args []any
		for line := range strings.SplitSeq(entry, "\n") {
			arg, err := corpusArgument(line)
			if err != nil {
				f.Fatalf("%s, input %d: %v", file, n+1, err)
			}
			args = append(args, arg)
		}
		f.Add(args...)
	}
}

func corpusArgument(line string) (any, error) {
	kind, text, ok := strings.Cut(strings.TrimSuffix(line, ")"), "(")
	if !ok {
		return nil, fmt.Errorf("%q is no argument", line)
	}
	switch kind {
	case "string":
		return strconv.Unquote(text)
	case "[]byte":
		s, err := strconv.Unquote(text)
		return []byte(s), err
	case "bool":
		return strconv.ParseBool(text)
	case "int":
		return strconv.Atoi(text)
	case "byte":
		s, err := strconv.Unquote(text)
		if err != nil || len(s) == 1 {
			return (s + "\x00")[0], err
		}
		r, size := utf8.DecodeRuneInString(s) // the go command writes 0xa3 as '£'
		if size != len(s) || r > 255 {
			return nil, fmt.Errorf("%s is not one byte", text)
		}
		return byte(r), nil
	}
	return nil, fmt.Errorf("%q has a type that is not known here", line)
}
