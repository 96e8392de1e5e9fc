package wire

import (
	"encoding/json"
	"math"
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
// fraction, or a string that holds one. What is no number counts nothing: an
// answer that is there and paid for is not thrown away for its bill.
type Count int

// UnmarshalJSON takes any JSON value.
func (c *Count) UnmarshalJSON(b []byte) error {
	*c = Count(number(b, maxCount))
	return nil
}

// Dollars is an amount of money, read as Count is.
type Dollars float64

// UnmarshalJSON takes any JSON value.
func (d *Dollars) UnmarshalJSON(b []byte) error {
	*d = Dollars(number(b, maxDollars))
	return nil
}

// number is the number in a JSON value, between 0 and limit; 0 where there is none.
func number(b []byte, limit float64) float64 {
	n, _ := strconv.ParseFloat(strings.Trim(string(b), `" `), 64) // ±Inf where it is too large
	if math.IsNaN(n) {
		return 0
	}
	return min(max(n, 0), limit)
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
