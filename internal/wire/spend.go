package wire

import (
	"fmt"

	"garuda/internal/llm"
)

// checkSpend refuses a model whose price nobody knows where money is limited: a
// limit that cannot be kept must not look like one. A server on this machine is
// taken to cost nothing, which is said, since it may pass requests on.
func (s *System) checkSpend(m *llm.Info) (said string, err error) {
	limit := s.settings.Limits.SpendUSD
	if limit <= 0 || m.Price.Known {
		return "", nil
	}
	if m.Local {
		return fmt.Sprintf("the limit of $%.2f does not bound %s: its server is on this machine, and its price is not known", limit, m.Spec), nil
	}
	return "", &SettingsError{Err: fmt.Errorf("the limit of $%.2f (limits.spendUsd, --max-spend-usd) cannot be kept with %s, whose price is not known; "+
		"set price (input, output, in dollars per million tokens) for it under models in models.json", limit, m.Spec)}
}
