// Package wire is what the model clients share: the HTTP transport with its
// time limits, the encoded conversation that only grows, the JSON that goes out
// byte-stable, and the reading of failures into typed errors.
//
// It knows no wire format's messages, never retries, and never follows a
// redirect: a key goes to the address it was configured for and nowhere else.
// It reads the environment only for the proxy variables.
package wire
