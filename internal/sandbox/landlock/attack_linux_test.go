package landlock_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"garuda/internal/sandbox"
	"garuda/internal/sandbox/wrapped"
	"garuda/internal/testkit/attack"
)

// notHeld are the cases that this backend cannot hold; docs/sandbox.md says so too.
var notHeld = map[string]string{
	"works-git":    "git makes files directly in .git, which holds locked ones",
	"works-python": "there is no /dev/shm for multiprocessing",
	"devices":      "their names can be seen as all others can; none can be opened",
	"fork-bomb":    "the kernel counts the processes of a user, and none of root's",
}

func TestAttacks(t *testing.T) {
	cases, err := attack.Cases()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			if why := notHeld[c.Name]; why != "" {
				t.Skip(why)
			}
			h := attack.NewHost(t)
			e := executor(t, wrapped.Options{
				Supervisor: supervisor(t),
				View:       func(context.Context, *sandbox.Command) (*sandbox.View, error) { return decoyView(t, h), nil },
			})
			res, err := e.Run(t.Context(), &sandbox.Command{
				Argv: []string{"bash", "-c", h.Expand(c.Command)}, Dir: h.Root, Limit: 1 << 20, Timeout: time.Minute,
				Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + h.Home, "TMPDIR=/tmp"},
			})
			if err != nil {
				t.Fatal(err)
			}
			if !h.Held(t, c, res.Stdout.Head) {
				t.Errorf("%q did not hold; it printed %s", c.Command, slices.Concat(res.Stdout.Head, res.Stderr.Head))
			}
		})
	}
}

// decoyView is what a real view makes of a decoy host.
func decoyView(t *testing.T, h *attack.Host) *sandbox.View {
	v := view(h.Root)
	v.Entries = append(v.Entries,
		sandbox.Entry{Path: "/tmp", Source: t.TempDir(), Access: sandbox.Writable},
		sandbox.Entry{Path: h.Home, Source: t.TempDir(), Access: sandbox.Writable},
		sandbox.Entry{Path: filepath.Join(h.Root, ".git/config"), Access: sandbox.Locked},
		sandbox.Entry{Path: filepath.Join(h.Root, ".git/hooks"), Access: sandbox.Locked},
		sandbox.Entry{Path: filepath.Join(h.Root, ".garuda"), Access: sandbox.Locked, Missing: true, Folder: true},
	)
	v.Limits = sandbox.Limits{FileBytes: 1 << 30, MemoryBytes: 4 << 30}
	slices.SortFunc(v.Entries, func(a, b sandbox.Entry) int { return strings.Compare(a.Path, b.Path) })
	return v
}
