package plain

import "os"

// DropTyped gives a function that forgets what was typed at the terminal but
// not sent with Enter; it does nothing where f is no terminal.
func DropTyped(f *os.File) func() {
	return func() {
		if raw, err := f.SyscallConn(); err == nil {
			// An error says that f is closed, and then nothing is half typed.
			_ = raw.Control(flushInput)
		}
	}
}
