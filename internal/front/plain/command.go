package plain

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"garuda/internal/front/lines"
	"garuda/internal/nearest"
	"garuda/internal/tool"
)

// command is a slash command.
type command struct {
	name    string
	aliases []string
	args    string
	help    string
	// whileBusy says whether the command may run beside a turn; nil is never:
	// it then waits for the turn's end, in line with the prompts.
	whileBusy func(args string) bool
	run       func(ctx context.Context, c *chat, args string) error
}

func always(string) bool           { return true }
func withoutArgs(args string) bool { return args == "" }
func modeWithoutArgs(mode string) func(context.Context, *chat, string) error {
	return func(_ context.Context, c *chat, prompt string) error {
		if err := c.setMode(mode); err != nil || prompt == "" {
			return err
		}
		c.submit(prompt)
		return nil
	}
}

// commands are in the order in which /help shows them.
func commands() []command {
	return []command{
		{name: "help", help: "this list", whileBusy: always, run: runHelp},
		{name: "new", aliases: []string{"clear"}, help: "begin a new session", run: runNew},
		{name: "sessions", aliases: []string{"sessions list"}, args: "[n|id|title]", help: "list the newest sessions, or open one", whileBusy: withoutArgs, run: runSessions},
		{name: "sessions rename", args: "n|id TITLE", help: "name a session", run: runRename},
		{name: "sessions delete", args: "n|id|title", help: "delete a session, after a question", run: runDelete},
		{name: "resume", args: "[n|id|title]", help: "the same as /sessions", whileBusy: withoutArgs, run: runSessions},
		{name: "session", help: "which session is open, and how far it came", whileBusy: always, run: runSession},
		{name: "fork", args: "[STEP]", help: "go on in a copy: of the whole session, or of its steps up to this one", run: runFork},
		{name: "export", args: "[FILE]", help: "write the session as Markdown into a new file of the project", run: runExport},
		{name: "models", aliases: []string{"model"}, args: "[n|provider/model]", help: "list the models, or use another one", whileBusy: withoutArgs, run: runModels},
		{name: "think", args: "[LEVEL]", help: "how much the model thinks: off, low, medium, high, xhigh, max", whileBusy: always, run: runThink},
		{name: "thinking", args: "[show|hide]", help: "show what the model thinks, or only that it does", whileBusy: always, run: runThinking},
		{name: "steer", args: "TEXT", help: "tell the running turn something: the model gets it with its next step", whileBusy: always, run: runSteer},
		{name: "undo", help: "take the last turn back: files, conversation, or both, after a question", run: runUndo},
		{name: "redo", help: "take the last undo back, after a question", run: runRedo},
		{name: "diff", args: "[last] [PATH]", help: "what changed in the files since the session, or the last turn, began", run: runDiff},
		{name: "usage", help: "tokens and cost: the last turn, the session, each model", whileBusy: always, run: runUsage},
		{name: "compact", args: "[FOCUS]", help: "sum the older part of the conversation up, keeping above all what FOCUS says", run: runCompact},
		{name: "context", help: "what fills the model's window, by part", run: runContext},
		{name: "todo", help: "the list of steps that the model keeps", whileBusy: always, run: runTodo},
		{name: "memory", help: "what is remembered of this project, and what waits for your yes", run: runMemory},
		{name: "tools", help: "the tools: which the model has, which it can find, and their bytes", whileBusy: always, run: runTools},
		{name: "permissions", help: "the rules in force, with their sources and what is to be said of them", whileBusy: always, run: runPermissions},
		{name: "permissions test", args: "TOOL JSON", help: "what would be decided about a call, and why", whileBusy: always, run: runPermissionsTest},
		{name: "audit", args: "[N|denials [N]|stats|verify]", help: "what was decided in this folder, newest last", whileBusy: always, run: runAudit},
		{name: "plan", args: "[prompt]", help: "plan mode: look and think, change nothing", whileBusy: withoutArgs, run: modeWithoutArgs(tool.ModePlan)},
		{name: "build", args: "[prompt]", help: "build mode: changes are asked for", whileBusy: withoutArgs, run: modeWithoutArgs(tool.ModeBuild)},
		{name: "mode", args: "[build|plan|accept_edits]", help: "show or change the mode", whileBusy: always, run: runMode},
		{name: "exit", aliases: []string{"quit"}, help: "leave (also Ctrl-D, or Ctrl-C twice)", whileBusy: always, run: runExit},
	}
}

// parseCommand reads a slash command. All results are empty for a prompt; a
// first word with a second slash is a path, and begins a prompt.
func parseCommand(text string) (cmd *command, args string, err error) {
	rest, isCommand := strings.CutPrefix(strings.TrimSpace(text), "/")
	word, args := cutWord(rest)
	if !isCommand || strings.Contains(word, "/") {
		return nil, "", nil
	}
	all := commands()
	known := make([]string, 0, len(all))
	sub, subArgs := cutWord(args)
	for i := range all {
		cmd := &all[i]
		for _, name := range append([]string{cmd.name}, cmd.aliases...) {
			if name == word+" "+sub {
				return cmd, subArgs, nil
			}
			if !strings.Contains(name, " ") {
				known = append(known, name)
			}
		}
	}
	for i := range all {
		cmd := &all[i]
		for _, name := range append([]string{cmd.name}, cmd.aliases...) {
			if name == word {
				return cmd, args, nil
			}
		}
	}
	if near := nearest.Of(word, known); near != "" {
		return nil, "", fmt.Errorf("there is no command /%s; did you mean /%s?", word, near)
	}
	return nil, "", fmt.Errorf("there is no command /%s; /help lists them", word)
}

// cutWord splits off the first word.
func cutWord(s string) (word, rest string) {
	s = strings.TrimSpace(s)
	if i := strings.IndexAny(s, " \t\n"); i >= 0 {
		return s[:i], strings.TrimSpace(s[i:])
	}
	return s, ""
}

func isExit(text string) bool {
	cmd, _, err := parseCommand(text)
	return err == nil && cmd != nil && cmd.name == "exit"
}

// command runs it; its failure is told, and the chat goes on.
func (c *chat) command(ctx context.Context, cmd *command, args string) {
	c.screen.EndLine()
	if err := cmd.run(ctx, c, args); err != nil {
		c.fail(err)
	}
	c.follow(ctx)
	c.catchUp(ctx)
}

func runHelp(_ context.Context, c *chat, _ string) error {
	var rows [][]string
	for _, cmd := range commands() {
		names := "/" + cmd.name
		for _, alias := range cmd.aliases {
			if strings.Contains(alias, " ") {
				continue // said by the arguments
			}
			names += ", /" + alias
		}
		rows = append(rows, []string{strings.TrimSpace(names + " " + cmd.args), cmd.help})
	}
	for _, row := range table(rows) {
		c.screen.Line(lines.Normal, row)
	}
	c.screen.Line(lines.Dim, `@path attaches a file or folder · !command runs it and tells the model · \ at the end of a line goes on in the next · Ctrl-C stops the command, then the turn`)
	return nil
}

// table puts the rows' cells under each other.
func table(rows [][]string) []string {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	out := make([]string, len(rows))
	for i, row := range rows {
		var b strings.Builder
		for j, cell := range row {
			b.WriteString("  " + cell + strings.Repeat(" ", widths[j]-utf8.RuneCountInString(cell)))
		}
		out[i] = strings.TrimRight(b.String(), " ")
	}
	return out
}

func runMode(_ context.Context, c *chat, args string) error {
	modes := []string{tool.ModeBuild, tool.ModePlan, tool.ModeAcceptEdits}
	switch {
	case args == "":
		c.say("mode: " + c.o.Host.Mode() + " (there are " + strings.Join(modes, ", ") + ")")
		return nil
	case args != tool.ModeBuild && args != tool.ModePlan && args != tool.ModeAcceptEdits:
		if near := nearest.Of(args, modes); near != "" {
			return fmt.Errorf("there is no mode %q; did you mean %s?", args, near)
		}
		return fmt.Errorf("there is no mode %q; there are %s", args, strings.Join(modes, ", "))
	}
	return c.setMode(args)
}

func (c *chat) setMode(mode string) error {
	if err := c.session.SetMode(mode); err != nil {
		return err
	}
	c.say("mode: " + mode)
	return nil
}

func runUsage(_ context.Context, c *chat, _ string) error {
	for _, row := range lines.TotalsRows(c.session.Totals(), c.session.Model(), c.lastTurn) {
		c.screen.Line(lines.Normal, row)
	}
	return nil
}

func runExit(_ context.Context, c *chat, _ string) error {
	c.leaving = true
	return nil
}
