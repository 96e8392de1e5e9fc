package config

import "garuda/internal/jsonc"

// document is one settings file that is being read.
type document struct {
	*jsonc.Document
	source Source
}

// parse reads JSON with comments and trailing commas; what is wrong with it is an
// *Error.
func parse(text []byte, from Source) (*document, error) {
	d, err := jsonc.Parse(text, func(line, column int, err error) error {
		return &Error{Source: from, Line: line, Column: column, Message: err.Error(), Err: err}
	})
	if err != nil {
		return nil, err
	}
	return &document{d, from}, nil
}
