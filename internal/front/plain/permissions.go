package plain

import (
	"context"
	"errors"

	"garuda/internal/front/lines"
)

// runPermissions shows the rules in force, those of the session's answers too.
func runPermissions(_ context.Context, c *chat, args string) error {
	if args != "" {
		return errors.New("/permissions takes no words but: test TOOL JSON")
	}
	for _, row := range lines.Rules(c.o.Host.Permissions()) {
		c.screen.Line(lines.Normal, row)
	}
	return nil
}

// runPermissionsTest says what would be decided about a call now, running nothing.
func runPermissionsTest(ctx context.Context, c *chat, args string) error {
	name, input := cutWord(args)
	if name == "" || input == "" {
		return errors.New(`/permissions test takes a tool's name and its input as JSON, as in /permissions test bash {"command": "ls"}`)
	}
	d, err := c.o.Host.Explain(ctx, name, input)
	if err != nil {
		return err
	}
	for _, row := range lines.Decision(d) {
		c.screen.Line(lines.Normal, row)
	}
	return nil
}
