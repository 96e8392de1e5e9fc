package choose

import (
	"strings"

	"garuda/internal/sandbox"
	"garuda/internal/sandbox/seatbelt"
	"garuda/internal/sandbox/wrapped"
)

func kinds() []kind {
	return []kind{{
		name: "seatbelt", means: "macOS's own sandbox (seatbelt)",
		make: func(opt wrapped.Options) (sandbox.Executor, error) { return seatbelt.New(opt), nil },
		mend: mendSeatbelt,
		weaknesses: func() []string {
			return []string{
				"How many processes a command starts and how much memory it takes is not limited.",
				"A command cannot open ports of its own on this machine.",
				"Programs that ask macOS to check a certificate get no answer, since that would be a way out.",
			}
		},
	}}
}

func mendSeatbelt(err error) string {
	if strings.Contains(err.Error(), "sandbox_apply") {
		return "start Garuda from a plain terminal: macOS does not put one sandbox into another"
	}
	return "see that /usr/bin/sandbox-exec is there and that this user may run it"
}
