package plain

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"garuda/internal/core"
	"garuda/internal/front/lines"
	"garuda/internal/llm"
	"garuda/internal/nearest"
)

// listedAtOnce is how many models /models prints; a provider may offer hundreds.
const listedAtOnce = 40

func runModels(ctx context.Context, c *chat, ref string) error {
	if ref == "" {
		return c.listModels(ctx)
	}
	spec, err := c.findModel(ctx, ref)
	if err != nil || spec == "" {
		return err
	}
	before := c.session.Model()
	if spec == before.Spec {
		c.say(spec + " is in use already")
		return nil
	}
	var notices []string
	err = c.call(ctx, func(ctx context.Context) (err error) {
		notices, err = c.o.Host.SwitchModel(ctx, spec)
		return err
	})
	if err != nil {
		return fmt.Errorf("use model %s: %w", spec, err)
	}
	c.follow(ctx)
	info := c.session.Model()
	if info.Spec == before.Spec {
		c.say(info.Spec + " is in use already") // by another name
		return nil
	}
	c.say(fmt.Sprintf("model: %s (%s, %s)", info.Spec, window(info), price(info)))
	c.notices(notices)
	if level := c.session.Thinking(); !info.Thinks && level != llm.ThinkDefault && level != llm.ThinkOff {
		c.say(fmt.Sprintf("the level of thinking, %s, has no effect: %s is not known to think", level, info.Spec))
	}
	c.catchUp(ctx) // the session says what the switch means for the conversation
	if c.session.Totals().Steps > 0 {
		c.sayCostOfSwitch(info)
	}
	return nil
}

// sayCostOfSwitch says what it costs to send the conversation anew, where that is
// worth a word.
func (c *chat) sayCostOfSwitch(info *llm.Info) {
	const million, cent = 1e6, 0.01
	usd := float64(c.session.ContextTokens()) * max(info.Price.Input, info.Price.CacheWrite) / million
	if info.Price.Known && usd >= cent {
		c.say("that costs about " + lines.Money(usd) + " once")
	}
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
	return models, nil
}

func (c *chat) listModels(ctx context.Context) error {
	models, err := c.fetchModels(ctx)
	if err != nil {
		return err
	}
	c.showModels(models, func(*llm.Info) bool { return true })
	return nil
}

// showModels prints those that match, with their numbers among all. The numbers
// count until others are shown.
func (c *chat) showModels(models []*llm.Info, match func(*llm.Info) bool) {
	var rows [][]string
	current, left := c.session.Model().Spec, 0
	c.listedModels = models
	for i, m := range models {
		inUse := m.Spec == current
		switch {
		case !match(m):
			continue
		case len(rows) >= listedAtOnce && !inUse:
			left++
			continue
		}
		use := ""
		if inUse {
			use = "● in use"
		}
		rows = append(rows, []string{fmt.Sprintf("%2d", i+1), oneLine(m.Spec), window(m), price(m), use})
	}
	for _, row := range narrowed(rows, c.width()) {
		c.screen.Line(lines.Normal, row)
	}
	if left > 0 {
		c.say(fmt.Sprintf("… %d more; /models WORD lists those with the word in their name", left))
	}
}

// narrowed is a table of models that fits a width: where a row would not stay a line,
// prices are left out, and then windows.
func narrowed(rows [][]string, limit int) []string {
	const kept = 3 // number, name, mark
	for {
		out := table(rows)
		if len(rows) == 0 || len(rows[0]) <= kept || !slices.ContainsFunc(out, func(row string) bool { return textColumns(row) > limit }) {
			return out
		}
		for i, row := range rows {
			rows[i] = slices.Delete(row, len(row)-2, len(row)-1)
		}
	}
}

// findModel gives the name of the model that is meant: by its number in the list
// that was shown last, by provider/model, by an alias, or by its id alone where
// only one provider has it. A part of a name lists what it may be, and gives none.
func (c *chat) findModel(ctx context.Context, ref string) (string, error) {
	models, number := c.listedModels, strings.Trim(ref, "0123456789") == ""
	if !number || models == nil {
		var err error
		if models, err = c.fetchModels(ctx); err != nil {
			return "", err
		}
	}
	if number {
		n, err := strconv.Atoi(ref)
		if err != nil || n < 1 || n > len(models) {
			return "", fmt.Errorf("there is no model number %s; /models lists them", ref)
		}
		return models[n-1].Spec, nil
	}
	return c.namedModel(models, ref), nil
}

func (c *chat) namedModel(models []*llm.Info, ref string) string {
	var specs, same []string
	part := false
	for _, m := range models {
		if m.Spec == ref {
			return ref
		}
		if m.ID == ref {
			same = append(same, m.Spec)
		}
		specs, part = append(specs, m.Spec), part || contains(m, ref)
	}
	switch {
	case len(same) == 1:
		return same[0]
	case strings.Contains(ref, "/"):
		// It may be newer than every list.
		if near := nearest.Of(ref, specs); near != "" {
			c.say(fmt.Sprintf("%s is in no list; did you mean %s?", ref, near))
		}
		return ref
	case c.o.Host.IsAlias(ref) || !part:
		return ref
	}
	c.say("no model is called " + ref + "; these have it in their names:")
	c.showModels(models, func(m *llm.Info) bool { return contains(m, ref) })
	return ""
}

func contains(m *llm.Info, part string) bool {
	return strings.Contains(strings.ToLower(m.Spec), strings.ToLower(part))
}

// window is exact where it is assumed, or small enough to matter.
func window(m *llm.Info) string {
	const small = 10_000
	switch {
	case !m.Known:
		return fmt.Sprintf("%d window assumed", m.ContextWindow)
	case m.ContextWindow < small:
		return fmt.Sprintf("%d window", m.ContextWindow)
	}
	const thousand, million = 1000, 1_000_000
	if m.ContextWindow >= million {
		text := strings.TrimSuffix(fmt.Sprintf("%.2f", float64(m.ContextWindow)/million), "0")
		return strings.TrimSuffix(text, ".0") + "M window"
	}
	return fmt.Sprintf("%dk window", (m.ContextWindow+thousand/2)/thousand)
}

// price is per million tokens.
func price(m *llm.Info) string {
	switch p := m.Price; {
	case !p.Known:
		return "price unknown"
	case p.Input == 0 && p.Output == 0:
		return "free"
	default:
		return "$" + core.Dollars(p.Input) + " in, $" + core.Dollars(p.Output) + " out"
	}
}
