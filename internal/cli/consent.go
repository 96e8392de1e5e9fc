package cli

import (
	"context"
	"fmt"
	"strings"

	"garuda/internal/config"
	"garuda/internal/core"
	"garuda/internal/wire"
)

// askConsent asks, one after the other, about what the project's settings would
// make looser. Whatever is no clear yes is a no.
func (f *Factory) askConsent(ctx context.Context) func([]config.Want) (wire.Consent, error) {
	if !f.InIsTerminal {
		return nil
	}
	drop := f.dropTyped()
	return func(wants []config.Want) (wire.Consent, error) {
		fmt.Fprintln(f.Out, "This project's .garuda/settings.json asks for\nwhat only you can allow.")
		return consent(wants, f.terminal(ctx), func(w config.Want) {
			fmt.Fprintf(f.Out, "\n  %s = %s   (line %d)\n", w.Key, core.Visible(w.Value), w.Line)
			if drop != nil {
				drop() // what was typed before the question stood there is no answer
			}
		})
	}
}

func consent(wants []config.Want, ask asker, show func(config.Want)) (wire.Consent, error) {
	var out wire.Consent
	for _, w := range wants {
		show(w)
		answer, err := ask.line("Use it [t]his time, [r]emember, or [n]o (n): ")
		if err != nil {
			return wire.Consent{}, fmt.Errorf("ask about the project's settings: %w", err)
		}
		switch strings.ToLower(answer) {
		case "t", "this", "this time":
			out.ThisRun = append(out.ThisRun, w)
		case "r", "remember":
			out.Remember = append(out.Remember, w)
		}
	}
	return out, nil
}
