package config

import "fmt"

// Error is a settings file or flag that cannot be used. It is the user's to mend:
// a program ends with the code for bad usage.
type Error struct {
	Source Source
	// Line and Column count from 1, Column in characters; 0 when there is no place.
	Line, Column int
	Message      string
	Err          error
}

func (e *Error) Error() string {
	switch {
	case e.Source.Kind == Flag:
		return e.Source.Name + ": " + e.Message
	case e.Line == 0:
		return "read settings " + e.Source.Name + ": " + e.Message
	}
	return fmt.Sprintf("read settings %s: line %d, column %d: %s", e.Source.Name, e.Line, e.Column, e.Message)
}

func (e *Error) Unwrap() error { return e.Err }

// Notice is something the user should know about settings that did load.
type Notice struct {
	// Key is the setting it is about, Line its place in the source's file.
	Key    string
	Source Source
	Line   int
	Text   string
}

func (n Notice) String() string {
	return fmt.Sprintf("%s, line %d: %s", n.Source.Name, n.Line, n.Text)
}
