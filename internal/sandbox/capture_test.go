package sandbox_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"garuda/internal/sandbox"
)

func TestKeeperKeepsBothEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(-1, 40).Draw(t, "limit")
		chunks := rapid.SliceOf(rapid.SliceOfN(rapid.Byte(), 0, 30)).Draw(t, "chunks")
		k := sandbox.NewKeeper(limit)
		for _, c := range chunks {
			k.Add(c)
		}
		all, got := slices.Concat(chunks...), k.Captured()
		if got.Total != int64(len(all)) {
			t.Fatalf("total %d of %d", got.Total, len(all))
		}
		limit = max(limit, 0)
		if k.Full() != (len(all) > limit) {
			t.Fatalf("full: %v", k.Full())
		}
		if len(all) <= limit {
			if string(got.Head) != string(all) || len(got.Tail) != 0 {
				t.Fatalf("kept %q and %q of %q", got.Head, got.Tail, all)
			}
			return
		}
		head, tail := all[:limit-limit/2], all[len(all)-limit/2:]
		if string(got.Head) != string(head) || string(got.Tail) != string(tail) {
			t.Fatalf("kept %q and %q of %q", got.Head, got.Tail, all)
		}
	})
}
