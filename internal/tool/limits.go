package tool

import "fmt"

// Limits keeps the numbers of one call's input within their bounds, and remembers
// which were larger, as a model that is not told believes that it saw more.
type Limits struct{ cut []string }

// Cap is the number that counts for a field: at most the most.
func (l *Limits) Cap(field string, asked, most int) int {
	if asked <= most {
		return asked
	}
	l.cut = append(l.cut, fmt.Sprintf("%s %d was cut to %d, the most there is", field, asked, most))
	return most
}

// Tell adds to a result what was cut, in a line at its end.
func (l *Limits) Tell(out *Output) {
	if len(l.cut) > 0 {
		out.Text += "\n[" + join(l.cut) + "]"
	}
}
