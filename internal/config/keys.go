package config

import (
	"slices"
	"strings"
	"sync"
)

// huge is above every sensible count, and below where JSON numbers lose digits.
const huge = 1_000_000_000_000

// Keys is the table of every setting, in the order of the documentation.
func Keys() []Key { return slices.Clone(table()) }

// table is built on first use: nothing of it is needed by `garuda version`.
var table = sync.OnceValue(func() []Key {
	return slices.Concat(
		modelKeys(), modeKeys(), sandboxKeys(), permissionKeys(), networkKeys(), limitKeys(),
		featureKeys(), surfaceKeys(), serviceKeys(),
	)
})

// byName finds a key.
var byName = sync.OnceValue(func() map[string]*Key {
	all := table()
	out := make(map[string]*Key, len(all))
	for i := range all {
		out[all[i].Name] = &all[i]
	}
	return out
})

func modelKeys() []Key {
	spec := text("model as provider/model", "models as provider/model")
	spec.words = "string"
	price := func(name, what string, field func(*Price) **float64) Key {
		return single(about{"modelInfo.price." + name, "US dollars for a million tokens", what},
			optional(number(0, 1e6)), nil, freely[*float64](), func(s *Settings) **float64 { return field(&s.ModelInfo.Price) })
	}
	return []Key{
		single(about{"model", "", "The model, as provider/model. --model and GARUDA_MODEL count before it; without it Garuda takes the default of models.json, then what it finds."},
			spec, "", pinned[string](), func(s *Settings) *string { return &s.Model }),
		single(about{"modelInfo.contextWindow", "tokens", "The model's context window, where the catalogue does not know it or is wrong."},
			integer(1, huge), 0, freely[int](), func(s *Settings) *int { return &s.ModelInfo.ContextWindow }),
		single(about{"modelInfo.maxTokens", "tokens", "The model's output limit."},
			integer(1, huge), 0, pinned[int](), func(s *Settings) *int { return &s.ModelInfo.MaxTokens }),
		price("input", "Price of input.", func(p *Price) **float64 { return &p.Input }),
		price("output", "Price of output.", func(p *Price) **float64 { return &p.Output }),
		price("cacheRead", "Price of input that the provider's cache had.", func(p *Price) **float64 { return &p.CacheRead }),
		price("cacheWrite", "Price of input that the provider's cache takes up.", func(p *Price) **float64 { return &p.CacheWrite }),
		list(about{"toolSets", "", "Sets of tools that the model gets at once; the others are found by tool_search. A set with a minus before it (\"-web\") is off altogether."},
			toolSet(), []string{"core", "edit", "git", "web"}, pinned[string](), func(s *Settings) *[]string { return &s.ToolSets }, placeToolSet),
	}
}

// toolSet is the name of a set of tools, or that name with a minus before it.
func toolSet() codec[string] {
	sets := []string{"core", "edit", "git", "web", "code", "tasks", "agents", "more"}
	var words []string
	for _, s := range sets {
		words = append(words, s, "-"+s)
	}
	// edit-plus is what the set edit was called before.
	c := choice(append(words, "edit-plus", "-edit-plus")...)
	c.many = "sets, of " + strings.Join(sets, ", ")
	return c
}

func placeToolSet(all []string, name string, _ Source) []string {
	name = strings.TrimSuffix(name, "-plus")
	// A set is on or off, whichever was said last.
	opposite := "-" + name
	if off, ok := strings.CutPrefix(name, "-"); ok {
		opposite = off
	}
	all = slices.DeleteFunc(all, func(s string) bool { return s == name || s == opposite })
	return append(all, name)
}

func modeKeys() []Key {
	return []Key{
		single(about{"mode", "", "What a session starts in: build asks before changes, accept_edits lets file tools write inside the project without a question, plan changes nothing."},
			choice("build", "plan", "accept_edits"), "build", towards("accept_edits", "build", "plan"), func(s *Settings) *string { return &s.Mode }),
		single(about{"executor", "", "Where commands run: auto takes the operating system's sandbox where it works, os insists on it, host runs them without isolation."},
			choice("auto", "os", "host"), "auto", towards("host", "auto", "os"), func(s *Settings) *string { return &s.Executor }),
		single(about{"profile", "", "strict: no sandbox, no start, and no way to run a command outside it. No source can take it back."},
			flagWord("strict"), false, onlyOn(), func(s *Settings) *bool { return &s.Strict }),
	}
}

func sandboxKeys() []Key {
	paths := text("path", "paths")
	limit := func(name, unit, meaning string, def int, field func(*SandboxLimits) *int) Key {
		return single(about{"sandbox.limits." + name, unit, meaning}, integer(1, huge), def, pinned[int](),
			func(s *Settings) *int { return field(&s.Sandbox.Limits) })
	}
	return []Key{
		list(about{"sandbox.writePaths", "", "Paths outside the project that commands may write."},
			paths, nil, pinned[string](), func(s *Settings) *[]string { return &s.Sandbox.WritePaths }, nil),
		list(about{"sandbox.denyRead", "", "Paths and patterns that commands may not read."},
			paths, nil, freely[string](), func(s *Settings) *[]string { return &s.Sandbox.DenyRead }, nil),
		list(about{"sandbox.allowUnixSockets", "", "Unix sockets that commands may talk to."},
			paths, nil, pinned[string](), func(s *Settings) *[]string { return &s.Sandbox.AllowUnixSockets }, nil),
		list(about{"sandbox.allowLocalhostPorts", "", "Ports of this machine that commands may talk to."},
			port(), nil, pinned[int](), func(s *Settings) *[]int { return &s.Sandbox.AllowLocalhostPorts }, nil),
		limit("processes", "processes", "How many processes a command may have at once.", 512, func(l *SandboxLimits) *int { return &l.Processes }),
		limit("memoryMB", "MiB", "How much memory a command may use.", 0, func(l *SandboxLimits) *int { return &l.MemoryMB }),
		limit("fileMB", "MiB", "How large a file that a command writes may become.", 0, func(l *SandboxLimits) *int { return &l.FileMB }),
	}
}

func port() codec[int] {
	c := integer(1, 65535)
	c.many = "port numbers"
	return c
}

func permissionKeys() []Key {
	rules := func(name, meaning string, r reach[Rule], field func(*Permissions) *[]Rule) Key {
		return list(about{"permissions." + name, "", meaning}, rule(), nil, r,
			func(s *Settings) *[]Rule { return field(&s.Permissions) },
			func(all []Rule, v Rule, from Source) []Rule {
				v.Source = from
				return append(all, v)
			})
	}
	keys := []Key{
		rules("allow", "Calls that need no question.", pinned[Rule](), func(p *Permissions) *[]Rule { return &p.Allow }),
		rules("ask", "Calls that are always asked about.", freely[Rule](), func(p *Permissions) *[]Rule { return &p.Ask }),
		rules("deny", "Calls that are refused.", freely[Rule](), func(p *Permissions) *[]Rule { return &p.Deny }),
	}
	for i, g := range guardEntries() {
		keys = append(keys, single(about{"guard." + g.ID, "", g.meaning}, choice("off", "ask", "deny"), g.Level,
			towards("off", "ask", "deny"), func(s *Settings) *string { return &s.Guard[i].Level }))
	}
	return keys
}

type guardEntry struct {
	GuardEntry
	meaning string
}

func guardEntries() []guardEntry {
	entry := func(id, level, meaning string) guardEntry { return guardEntry{GuardEntry{id, level}, meaning} }
	return []guardEntry{
		entry("rm-root", "deny", "Recursive removal of /, a home folder, the project or a folder above them."),
		entry("mkfs", "deny", "Making a file system."),
		entry("dd-device", "deny", "dd onto a device."),
		entry("device-write", "deny", "A redirection onto a device."),
		entry("dev-tcp", "deny", "A shell's /dev/tcp and /dev/udp."),
		entry("fork-bomb", "deny", "A function that starts itself twice."),
		entry("shutdown", "deny", "Stopping or restarting the machine."),
		entry("kill-all", "deny", "A signal to every process."),
		entry("pipe-to-interpreter", "deny", "A download that is piped into an interpreter."),
		entry("rm-recursive", "ask", "Recursive removal outside build folders."),
		entry("git-reset-hard", "ask", "git reset --hard."),
		entry("git-clean", "ask", "git clean."),
		entry("git-push-force", "ask", "A forced push."),
		entry("git-branch-delete", "ask", "Deleting a branch."),
		entry("git-history-rewrite", "ask", "Rewriting commits."),
		entry("git-checkout-discard", "ask", "A checkout or restore that discards changes."),
		entry("sql-drop", "ask", "Dropping tables or databases."),
		entry("chmod-777", "ask", "Making files writable by everybody."),
		entry("publish", "ask", "Publishing a package or an image."),
	}
}

func networkKeys() []Key {
	return []Key{
		list(about{"env.allow", "", "Environment variables that commands get beyond the built ones."},
			matching("name of an environment variable", "names of environment variables", `^[A-Za-z_][A-Za-z0-9_]*$`),
			nil, pinned[string](), func(s *Settings) *[]string { return &s.EnvAllow }, nil),
		list(about{"network.allow", "", "Hosts (also *.example.com) and presets that commands in the sandbox may reach."},
			text("host or preset", "hosts or presets"), nil, pinned[string](), func(s *Settings) *[]string { return &s.Network.Allow }, nil),
		list(about{"network.ports", "", "Ports that may be reached beside 80 and 443."},
			port(), nil, pinned[int](), func(s *Settings) *[]int { return &s.Network.Ports }, nil),
		single(about{"web.enabled", "", "Offers web_fetch and web_search."},
			boolean(), true, onlyOff(), func(s *Settings) *bool { return &s.Web.Enabled }),
		single(about{"web.allowLocalhost", "", "Lets web_fetch read from this machine."},
			boolean(), false, onlyOff(), func(s *Settings) *bool { return &s.Web.AllowLocalhost }),
	}
}

func limitKeys() []Key {
	// An agent that runs on for ever costs real money, so its steps have a ceiling.
	const agentSteps = 200
	agents := func(name, meaning string, on bool, field func(*Settings) *Agents) []Key {
		return []Key{
			single(about{name + ".enabled", "", meaning}, boolean(), on, onlyOff(),
				func(s *Settings) *bool { return &field(s).Enabled }),
			single(about{name + ".maxSteps", "steps", "How many model requests one of them may make."}, integer(1, agentSteps), 20, lower[int](),
				func(s *Settings) *int { return &field(s).MaxSteps }),
			single(about{name + ".tokenBudget", "tokens", "How many tokens one of them may use."}, integer(1, huge), 150_000, lower[int](),
				func(s *Settings) *int { return &field(s).TokenBudget }),
		}
	}
	spec := text("model as provider/model", "")
	spec.words = "string"
	return slices.Concat([]Key{
		single(about{"limits.maxSteps", "steps", "How many model requests a turn may make."},
			integer(1, huge), 50, lower[int](), func(s *Settings) *int { return &s.Limits.MaxSteps }),
		single(about{"limits.tokenBudget", "tokens", "How many tokens a session and all its agents may use."},
			integer(1, huge), 20_000_000, lower[int](), func(s *Settings) *int { return &s.Limits.TokenBudget }),
		single(about{"limits.spendUsd", "US dollars", "What a session and all its agents may cost."},
			number(0.000001, 1e9), 0, lower[float64](), func(s *Settings) *float64 { return &s.Limits.SpendUSD }),
		single(about{"limits.commandTimeoutMs", "milliseconds", "How long a command may run that names no limit of its own."},
			integer(1000, 600_000), 120_000, lower[int](), func(s *Settings) *int { return &s.Limits.CommandTimeoutMs }),
		single(about{"subagents.model", "", "The model of subagents, as provider/model; --subagent-model and GARUDA_SUBAGENT_MODEL count before it. The main model without it."},
			spec, "", pinned[string](), func(s *Settings) *string { return &s.Subagents.Model }),
	},
		agents("subagents", "Offers subagents.", true, func(s *Settings) *Agents { return &s.Subagents }),
		agents("moe", "Offers experts.", false, func(s *Settings) *Agents { return &s.MoE }))
}

func featureKeys() []Key {
	feature := func(name, meaning string, on bool, r reach[bool], field func(*Settings) *bool) Key {
		return single(about{name, "", meaning}, boolean(), on, r, field)
	}
	return []Key{
		feature("daemons.enabled", "Lets commands run in the background.", true, onlyOff(), func(s *Settings) *bool { return &s.Daemons }),
		feature("skills.enabled", "Loads skills.", true, onlyOff(), func(s *Settings) *bool { return &s.Skills }),
		feature("agents.enabled", "Loads agent files.", true, onlyOff(), func(s *Settings) *bool { return &s.AgentFiles }),
		feature("commands.enabled", "Loads slash commands from files.", true, onlyOff(), func(s *Settings) *bool { return &s.Commands }),
		feature("hooks.enabled", "Runs hooks.", true, onlyOff(), func(s *Settings) *bool { return &s.Hooks }),
		feature("mcp.enabled", "Starts MCP servers.", true, onlyOff(), func(s *Settings) *bool { return &s.MCP }),
		feature("undo.enabled", "Keeps snapshots, so that every change can be taken back.", true, never[bool](), func(s *Settings) *bool { return &s.Undo }),
		single(about{"codeIndex", "", "Offers the code index to the model: lookup is all its tools but repo_map, all has that too."},
			choice("off", "lookup", "all"), "off", freely[string](), func(s *Settings) *string { return &s.CodeIndex }),
		feature("todo.enabled", "Offers the todo list.", false, freely[bool](), func(s *Settings) *bool { return &s.Todo }),
		feature("lsp.enabled", "Starts language servers.", false, freely[bool](), func(s *Settings) *bool { return &s.LSP }),
		feature("formatters.enabled", "Formats a file after a tool wrote it.", false, freely[bool](), func(s *Settings) *bool { return &s.Formatters.Enabled }),
		named(about{"formatters.commands", "", "Replaces or adds a formatter by name, or switches one off with false. $FILE in the command is the file."},
			formatter(), "name", `^[a-z][a-z0-9-]*$`, pinned[FormatterCommand](),
			func(s *Settings) *map[string]FormatterCommand { return &s.Formatters.Commands }),
		single(about{"shell.mode", "", "staged: commands work on a copy of the project, and what they changed is shown before it is taken over."},
			choice("direct", "staged"), "direct", towards("direct", "staged"), func(s *Settings) *string { return &s.ShellMode }),
	}
}

func surfaceKeys() []Key {
	return []Key{
		single(about{"thinking.enabled", "", "Whether the model thinks first, at the level medium where thinking.effort says none; without it the model's own default."},
			optional(boolean()), nil, freely[*bool](), func(s *Settings) **bool { return &s.Thinking.Enabled }),
		single(about{"thinking.effort", "", "How much it thinks; without it the model's own default."},
			choice("off", "low", "medium", "high", "xhigh", "max"), "", freely[string](), func(s *Settings) *string { return &s.Thinking.Effort }),
		single(about{"thinking.show", "", "Shows the thinking in the chat instead of one line."},
			boolean(), false, freely[bool](), func(s *Settings) *bool { return &s.Thinking.Show }),
		single(about{"thinking.keepBlocks", "", "Sends earlier thinking back to the model, as providers advise."},
			boolean(), true, freely[bool](), func(s *Settings) *bool { return &s.Thinking.KeepBlocks }),
		single(about{"notifications.channel", "", "How the end of long work and waiting questions are told."},
			choice("auto", "bell", "osc9", "osc777", "osc99", "desktop", "off"), "auto", freely[string](), func(s *Settings) *string { return &s.Notifications.Channel }),
		single(about{"notifications.afterSeconds", "seconds", "How long a turn must take for its end to be told."},
			zeroCounts(integer(0, 86_400)), 10, freely[int](), func(s *Settings) *int { return &s.Notifications.AfterSeconds }),
		single(about{"ui.theme", "", "Colours of the chat; auto asks the terminal for its background."},
			choice("auto", "light", "dark"), "auto", freely[string](), func(s *Settings) *string { return &s.UI.Theme }),
		single(about{"ui.vim", "", "vim keys in the input."},
			boolean(), false, freely[bool](), func(s *Settings) *bool { return &s.UI.Vim }),
		single(about{"ui.statusLine", "", "A command that gets the state as JSON and whose first line replaces the footer."},
			text("command", ""), "", never[string](), func(s *Settings) *string { return &s.UI.StatusLine }),
		single(about{"ui.details", "", "Shows results and diffs of calls under them."},
			boolean(), true, freely[bool](), func(s *Settings) *bool { return &s.UI.Details }),
	}
}

func zeroCounts[T any](c codec[T]) codec[T] {
	c.zeroIsValue = true
	return c
}

func serviceKeys() []Key {
	return []Key{
		single(about{"jobs.databaseUrl", "", "A PostgreSQL database for the queue of jobs; a SQLite file without it."},
			text("database address", ""), "", never[string](), func(s *Settings) *string { return &s.Jobs.DatabaseURL }),
		single(about{"jobs.triggers", "", "Lets named triggers start jobs."},
			boolean(), false, never[bool](), func(s *Settings) *bool { return &s.Jobs.Triggers }),
		single(about{"jobs.triggerSocket", "", "A unix socket on which triggers are taken."},
			text("path", ""), "", never[string](), func(s *Settings) *string { return &s.Jobs.TriggerSocket }),
		single(about{"audit.enabled", "", "Writes every decision into the audit log."},
			boolean(), true, never[bool](), func(s *Settings) *bool { return &s.Audit.Enabled }),
		single(about{"audit.level", "", "What is written: every call, those that change something, or denials."},
			choice("all", "mutations", "denials"), "all", never[string](), func(s *Settings) *string { return &s.Audit.Level }),
		single(about{"audit.checkpoint", "", "Keeps the log's end beside it, so that lines cut from the end are noticed."},
			boolean(), true, never[bool](), func(s *Settings) *bool { return &s.Audit.Checkpoint }),
		named(about{"telemetry", "", "Values for OTEL_* variables that the environment does not set; without any there is no telemetry."},
			text("string", ""), "name of an OTEL_ variable", `^OTEL_[A-Z0-9_]+$`, never[string](),
			func(s *Settings) *map[string]string { return &s.Telemetry }),
	}
}
