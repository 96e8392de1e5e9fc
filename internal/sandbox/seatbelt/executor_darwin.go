package seatbelt

import "garuda/internal/sandbox/wrapped"

// New makes an executor for one session.
func New(opt wrapped.Options) *wrapped.Executor {
	return wrapped.New("seatbelt", opt.Supervisor, launcher(opt))
}
