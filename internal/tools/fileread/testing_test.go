package fileread

import (
	"testing"

	"go.uber.org/goleak"

	"garuda/internal/testkit/tooltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type args = tooltest.Args

var (
	newEnv    = tooltest.NewEnv
	write     = tooltest.Write
	mustRun   = tooltest.MustRun
	run       = tooltest.Run
	wantError = tooltest.WantError
)
