package shell

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/sandbox"
)

func TestLimitsHit(t *testing.T) {
	all := sandbox.Limits{Processes: 512, MemoryBytes: 1 << 30, FileBytes: 1 << 30}
	for _, c := range []struct {
		name   string
		limits sandbox.Limits
		hit    []sandbox.Limit
		failed bool
		said   string
		want   []string
	}{
		{"nothing", all, nil, true, "no such file", nil},
		{"known", all, []sandbox.Limit{sandbox.LimitMemory}, false, "", []string{"it ran into the sandbox's limit on memory (sandbox.limits.memoryMB)"}},
		{"said", all, nil, true, "bash: fork: Resource temporarily unavailable", []string{"it seems to have run into the sandbox's limit on the number of processes (sandbox.limits.processes)"}},
		{"said by one that succeeded", all, nil, false, "bash: fork: retry: Resource temporarily unavailable", nil},
		{"said without a limit", sandbox.Limits{Processes: 512}, nil, true, "MemoryError", nil},
		{"both", all, []sandbox.Limit{sandbox.LimitFileSize}, true, "head: write error: File too large", []string{"it ran into the sandbox's limit on the size of files (sandbox.limits.fileMB)"}},
	} {
		got := limitsHit(c.limits, &sandbox.Result{Hit: c.hit}, c.failed, []string{c.said})
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}
