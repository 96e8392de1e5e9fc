package wire

import (
	"fmt"

	"garuda/internal/llm"
)

// checkSpend refuses a model whose price nobody knows where money is limited: a
// limit that cannot be kept must not look like one. What runs on this machine
// costs nothing.
func (s *System) checkSpend(m *llm.Info) error {
	if s.settings.Limits.SpendUSD <= 0 || m.Price.Known || m.Local {
		return nil
	}
	return &SettingsError{Err: fmt.Errorf("the limit of $%.2f (limits.spendUsd, --max-spend-usd) cannot be kept with %s, whose price is not known; "+
		"set price (input, output, in dollars per million tokens) for it under models in models.json", s.settings.Limits.SpendUSD, m.Spec)}
}
