package choose

import (
	"errors"
	"os"
	"strings"

	"garuda/internal/sandbox"
	"garuda/internal/sandbox/bwrap"
	"garuda/internal/sandbox/landlock"
	"garuda/internal/sandbox/linux"
	"garuda/internal/sandbox/wrapped"
)

// kinds are those of Linux, the best first.
func kinds() []kind {
	return []kind{{
		name: "linux", means: "namespaces of their own",
		make: func(o wrapped.Options) (sandbox.Executor, error) { return made(linux.New(o)) },
		mend: func(error) string { return readFacts().namespaces() },
	}, {
		name: "bwrap", means: "namespaces that bubblewrap makes for them",
		make: func(o wrapped.Options) (sandbox.Executor, error) { return made(bwrap.New(o)) },
		mend: mendBwrap, weaknesses: bwrap.Weaknesses,
	}, {
		name: "landlock", means: "Landlock, the weakest of the sandboxes (docs/sandbox.md)",
		make: func(o wrapped.Options) (sandbox.Executor, error) { return landlock.New(o) },
		mend: func(err error) string {
			if errors.Is(err, landlock.ErrTooOld) {
				return "use a kernel with Landlock: Linux 6.2 or later, with landlock among those that its parameter lsm names"
			}
			return ""
		},
		weaknesses: func() []string { return landlock.Weaknesses(landlock.Version()) },
		atStart:    func() string { return landlock.AtStart(landlock.Version()) },
	}}
}

// made keeps an executor that was not made from becoming one that is not nil.
func made(e *linux.Executor, err error) (sandbox.Executor, error) {
	if err != nil {
		return nil, err
	}
	return e, nil
}

// mendBwrap says what makes bubblewrap work where Garuda's own namespaces do not.
func mendBwrap(err error) string {
	switch {
	case errors.Is(err, bwrap.ErrMissing), errors.Is(err, bwrap.ErrTooOld):
		return "install bubblewrap 0.8 or later, which Garuda looks for at " + bwrap.Program
	case errors.Is(err, bwrap.ErrNotTrusted):
		return "install bubblewrap from your system's packages: " + bwrap.Program + " and the folders above it have to be root's, and nobody else may write them"
	}
	return ""
}

// facts reads what this machine says; what it does not say is not so.
func readFacts() facts {
	return facts{
		noNamespaces: reads("/proc/sys/user/max_user_namespaces", "0"),
		noClone:      reads("/proc/sys/kernel/unprivileged_userns_clone", "0"),
		appArmor:     reads("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1"),
		container:    exists("/.dockerenv") || exists("/run/.containerenv"),
		root:         os.Geteuid() == 0,
	}
}

func reads(file, want string) bool {
	b, err := os.ReadFile(file)
	return err == nil && strings.TrimSpace(string(b)) == want
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}
