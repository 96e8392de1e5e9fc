package shell

import (
	"slices"

	"garuda/internal/sandbox"
)

// limit is one of sandbox.Limits, with its setting and what programs say who run into
// it, since the kernel counts only in control groups who does.
type limit struct {
	name    sandbox.Limit
	setting string
	said    []string
	set     func(sandbox.Limits) bool
}

func allLimits() []limit {
	return []limit{
		{
			sandbox.LimitProcesses, "sandbox.limits.processes",
			[]string{"fork: resource temporarily unavailable", "fork: retry", "cannot fork", "can't start new thread", "fork failed", "failed to create new os thread"},
			func(l sandbox.Limits) bool { return l.Processes > 0 },
		},
		{
			sandbox.LimitMemory, "sandbox.limits.memoryMB",
			[]string{"cannot allocate memory", "memoryerror", "memory exhausted", "out of memory", "std::bad_alloc"},
			func(l sandbox.Limits) bool { return l.MemoryBytes > 0 },
		},
		{
			sandbox.LimitFileSize, "sandbox.limits.fileMB",
			[]string{"file too large", "file size limit exceeded", "efbig"},
			func(l sandbox.Limits) bool { return l.FileBytes > 0 },
		},
	}
}

// limitsHit says which limits a command ran into: those that are known, and those that
// what it printed speaks of.
func limitsHit(limits sandbox.Limits, res *sandbox.Result, failed bool, said []string) []string {
	var out []string
	for _, l := range allLimits() {
		switch {
		case slices.Contains(res.Hit, l.name):
			out = append(out, "it ran into the sandbox's limit on "+string(l.name)+" ("+l.setting+")")
		case failed && l.set(limits) && says(said, l.said):
			out = append(out, "it seems to have run into the sandbox's limit on "+string(l.name)+" ("+l.setting+")")
		}
	}
	return out
}
