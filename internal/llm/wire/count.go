package wire

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
)

// The most that a server is believed to have counted or charged for one answer.
// Sums of what is larger would overflow, and a budget would then hold nothing.
const (
	maxCount   = 1 << 40
	maxDollars = 1e6
)

// Count is a number of tokens as servers report it: a number with or without a
// fraction, or a string that holds one; 0 for null. What is no number is Unread: an
// answer that is there and paid for is not thrown away for its bill.
type Count int

// Unread is a count that was there and is no number of tokens.
const Unread Count = -1

// UnmarshalJSON takes any JSON value.
func (c *Count) UnmarshalJSON(b []byte) error {
	*c = Unread
	if n, ok := number(b, maxCount); ok {
		*c = Count(n)
	}
	return nil
}

// Readable reports whether none of the counts is Unread.
func Readable(counts ...Count) bool { return !slices.Contains(counts, Unread) }

// Dollars is an amount of money, read as Count is.
type Dollars float64

// UnmarshalJSON takes any JSON value.
func (d *Dollars) UnmarshalJSON(b []byte) error {
	n, _ := number(b, maxDollars)
	*d = Dollars(n)
	return nil
}

// number is the number in a JSON value, at most limit; 0 for null, and false for
// what is no number, or a negative one.
func number(b []byte, limit float64) (float64, bool) {
	if string(b) == "null" {
		return 0, true
	}
	n, err := strconv.ParseFloat(strings.Trim(string(b), `" `), 64)
	switch {
	case errors.Is(err, strconv.ErrRange) && n > 0: // too large for a float
		return limit, true
	case err != nil || math.IsNaN(n) || math.IsInf(n, 0) || n < 0:
		return 0, false
	}
	return min(n, limit), true
}

// Maybe is a member without which an answer is of as much use, such as its usage:
// nil where the server sent none, or none that can be read.
type Maybe[T any] struct{ Value *T }

// UnmarshalJSON takes any JSON value.
func (m *Maybe[T]) UnmarshalJSON(b []byte) error {
	var v *T
	if json.Unmarshal(b, &v) != nil {
		v = nil
	}
	m.Value = v
	return nil
}
