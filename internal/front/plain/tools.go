package plain

import (
	"cmp"
	"context"
	"strconv"

	"garuda/internal/front/lines"
	"garuda/internal/tool/toolset"
)

// runTools shows what the model has, what it could have, and what that costs in
// each request.
func runTools(_ context.Context, c *chat, _ string) error {
	rows := c.o.Host.Tools()
	cells := [][]string{{"tool", "set", "state", "bytes", "why"}}
	for _, r := range rows {
		cells = append(cells, []string{r.Spec.Name, cmp.Or(r.Spec.Set, "-"), string(r.State), strconv.Itoa(r.Spec.Bytes()), r.Why})
	}
	for i, row := range table(cells) {
		style := lines.Normal
		if i == 0 {
			style = lines.Dim
		}
		c.screen.Line(style, row)
	}
	c.screen.Line(lines.Dim, "  "+toolset.Sums(rows))
	return nil
}
