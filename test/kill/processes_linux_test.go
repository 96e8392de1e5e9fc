package kill_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// commandsOf lists the processes that carry the mark of commands which one of
// these Garudas started.
func commandsOf(t testing.TB, pids []int) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, file := range files {
		environ, err := os.ReadFile(file)
		if err != nil {
			continue // gone, or another user's
		}
		for _, pid := range pids {
			if bytes.Contains(environ, []byte("GARUDA_COMMAND_ID="+strconv.Itoa(pid)+".")) {
				command, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
				out = append(out, fmt.Sprintf("%s %q", filepath.Base(filepath.Dir(file)), command))
			}
		}
	}
	return out
}
