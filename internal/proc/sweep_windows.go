package proc

import (
	"context"

	"garuda/internal/core"
)

// Sweep has nothing to end on Windows: a job object ends with the Garuda that
// made it, however that ended.
func Sweep(context.Context, core.Clock, string) (int, error) { return 0, nil }
