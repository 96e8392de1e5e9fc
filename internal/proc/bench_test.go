//go:build unix

package proc_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// The bar for 100 MB of output: memory growth at most 10 MB, time at most 1.5
// times that of the same command into a file. Compare the two of each pair.
func BenchmarkOutput(b *testing.B) {
	const size = 100_000_000
	for _, c := range []struct{ name, text string }{
		{"oneLine", `head -c 100000000 /dev/zero | tr '\0' a`},
		{"lines", `yes 'some line of a build log, neither short nor long' | head -c 100000000`},
	} {
		b.Run(c.name+"/captured", func(b *testing.B) {
			g := group(b)
			b.SetBytes(size)
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			for i := range b.N {
				cmd := bash(b, c.text)
				cmd.SpillPath = filepath.Join(b.TempDir(), "spill")
				res := run(b, g, cmd)
				if res.Stdout.Total != size || !res.SpillCut {
					b.Fatalf("run %d: %d bytes, cut %v", i, res.Stdout.Total, res.SpillCut)
				}
			}
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(b.N)/1e6, "MB-allocated/op")
			b.ReportMetric(float64(after.Sys-before.Sys)/1e6, "MB-grown")
		})
		b.Run(c.name+"/file", func(b *testing.B) {
			b.SetBytes(size)
			for range b.N {
				f, err := os.Create(filepath.Join(b.TempDir(), "out"))
				if err != nil {
					b.Fatal(err)
				}
				cmd := exec.Command("bash", "-c", c.text)
				cmd.Stdout = f
				if err := cmd.Run(); err != nil {
					b.Fatal(err)
				}
				_ = f.Close()
			}
		})
	}
}

// BenchmarkTrue is what one command costs beside what it does.
func BenchmarkTrue(b *testing.B) {
	b.Run("captured", func(b *testing.B) {
		g := group(b)
		cmd := bash(b, "true")
		for range b.N {
			run(b, g, cmd)
		}
	})
	b.Run("bare", func(b *testing.B) {
		for range b.N {
			if _, err := exec.Command("bash", "-c", "true").CombinedOutput(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
