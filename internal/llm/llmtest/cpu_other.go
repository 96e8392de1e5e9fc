//go:build !unix

package llmtest

import "time"

// cpuTime is unknown here; benchmarks report nothing by it.
func cpuTime() time.Duration { return 0 }
