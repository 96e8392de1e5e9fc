//go:build unix && !linux

package kill_test

import "testing"

// commandsOf knows no way to find them on this system.
func commandsOf(testing.TB, []int) []string { return nil }
