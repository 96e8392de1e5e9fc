//go:build !linux

package secret

// hide does nothing where the kernel's copy of the environment cannot be
// changed. On macOS another process of the same user may still read the
// environment that this one was started with (ps -E); on Windows there is only
// the one copy that unsetting changes.
func hide(map[string]string) []string { return nil }
