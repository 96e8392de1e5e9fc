// Package core holds the values every other package speaks in: messages and
// their blocks, usage and cost, identifiers, the clock, and the validator that
// decides whether a conversation may be sent.
//
// It imports only the standard library, knows no provider, no tool and no
// screen, and never reads or writes a file or the network.
package core
