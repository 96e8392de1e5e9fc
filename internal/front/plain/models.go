package plain

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"garuda/internal/front/lines"
	"garuda/internal/llm"
)

func runModels(ctx context.Context, c *chat, ref string) error {
	if ref == "" {
		return c.listModels(ctx)
	}
	spec, err := c.findModel(ctx, ref)
	if err != nil {
		return err
	}
	err = c.call(ctx, func(ctx context.Context) error { return c.o.Host.SwitchModel(ctx, spec) })
	if err != nil {
		return fmt.Errorf("use model %s: %w", spec, err)
	}
	info := c.o.Host.Current().Model()
	c.say("model: " + info.Spec)
	if !info.Known {
		c.notices([]string{fmt.Sprintf("nothing is known of %s: its window is taken to be %d tokens, its cost is unknown", info.Spec, info.ContextWindow)})
	}
	return nil
}

// fetchModels gives the models in the list's order; the one in use is always in it.
func (c *chat) fetchModels(ctx context.Context) ([]*llm.Info, error) {
	var models []*llm.Info
	err := c.call(ctx, func(ctx context.Context) (err error) {
		models, err = c.o.Host.Models(ctx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list the models: %w", err)
	}
	current := c.session.Model()
	if !slices.ContainsFunc(models, func(m *llm.Info) bool { return m.Spec == current.Spec }) {
		models = append([]*llm.Info{current}, models...)
	}
	c.listedModels = make([]string, len(models))
	for i, m := range models {
		c.listedModels[i] = m.Spec
	}
	return models, nil
}

func (c *chat) listModels(ctx context.Context) error {
	models, err := c.fetchModels(ctx)
	if err != nil {
		return err
	}
	rows := make([][]string, len(models))
	for i, m := range models {
		use := ""
		if m.Spec == c.session.Model().Spec {
			use = "● in use"
		}
		rows[i] = []string{fmt.Sprintf("%2d", i+1), oneLine(m.Spec), window(m), price(m), use}
	}
	for _, row := range table(rows) {
		c.screen.Line(lines.Normal, row)
	}
	return nil
}

// findModel reads a number of the list that was shown last; anything else is
// the name of a model.
func (c *chat) findModel(ctx context.Context, ref string) (string, error) {
	if strings.Trim(ref, "0123456789") != "" {
		return ref, nil
	}
	if c.listedModels == nil {
		if _, err := c.fetchModels(ctx); err != nil {
			return "", err
		}
	}
	n, err := strconv.Atoi(ref)
	if err != nil || n < 1 || n > len(c.listedModels) {
		return "", fmt.Errorf("there is no model number %s; /models lists them", ref)
	}
	return c.listedModels[n-1], nil
}

func window(m *llm.Info) string {
	if !m.Known {
		return "window unknown"
	}
	return fmt.Sprintf("%dk window", (m.ContextWindow+500)/1000)
}

// price is per million tokens.
func price(m *llm.Info) string {
	switch p := m.Price; {
	case !p.Known:
		return "price unknown"
	case p.Input == 0 && p.Output == 0:
		return "free"
	default:
		return fmt.Sprintf("$%.2f in, $%.2f out", p.Input, p.Output)
	}
}
