//go:build unix

package attack_test

import (
	"os/exec"
	"testing"

	"garuda/internal/testkit/attack"
)

// Each case must notice when nothing holds: the same command, run on the host
// itself. Left out are those whose harm the machine would feel, those that need a
// second sandbox or a terminal, and honest ones.
func TestCasesNoticeAMissingSandbox(t *testing.T) {
	noticed := map[string]bool{
		"write-home": true, "write-outside": true, "read-ssh": true, "read-aws": true, "read-netrc": true, "symlink-read": true,
		"symlink-write": true, "hook-write": true, "hook-rename": true, "git-config": true, "agent-config": true,
		"hardlink-config": true, "net-tcp": true, "daemon-survives": true,
	}
	cases, err := attack.Cases()
	if err != nil || len(cases) < 30 {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	for _, c := range cases {
		if !noticed[c.Name] {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			h := attack.NewHost(t)
			cmd := exec.CommandContext(t.Context(), "bash", "-c", h.Expand(c.Command))
			cmd.Dir = h.Root
			out, _ := cmd.CombinedOutput() // how it ended is no matter here
			if h.Held(t, c, out) {
				t.Errorf("the check did not notice what %q did; it printed %s", c.Command, out)
			}
		})
	}
}
