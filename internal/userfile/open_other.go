//go:build !unix

package userfile

// NonBlocking is no flag where a path in a folder cannot be a FIFO.
const NonBlocking = 0
