//go:build !unix

package config

// nonBlocking is not needed where a path in a folder cannot be a FIFO.
const nonBlocking = 0
