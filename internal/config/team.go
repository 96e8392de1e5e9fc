package config

import (
	"cmp"
	"slices"
	"strings"
)

// Team is what an organisation, or the user in policy.json, holds every run to:
// it only ever makes things stricter, and no other source can take from it. The
// zero value holds to nothing.
type Team struct {
	// Files are those that it was read from, as people know them.
	Files []string
	// Commands may not run, in the form of bash rules' patterns.
	Commands []TeamEntry
	// RequireSandbox lets no command run without isolation.
	RequireSandbox bool
	// Strict is the strict profile.
	Strict bool
	// Paths are neither read, written, listed nor searched: path rules' patterns.
	Paths []TeamEntry
	// Models may be used; nil is all. A * stands for any characters.
	Models []string
	// BlockedHosts are never reached, whatever other lists say.
	BlockedHosts []TeamEntry
	// StrictAllowlist lets nobody add hosts to network.allow by an answer.
	StrictAllowlist bool
	// MaxSteps, TokenBudget and SpendUSD bound the settings' limits; 0 is no bound.
	MaxSteps, TokenBudget int
	SpendUSD              float64
	// Audit is nil where nothing is said of the log.
	Audit       *TeamAudit
	Permissions Permissions
	// NoYolo refuses --yolo.
	NoYolo bool
}

// TeamEntry is one element of a list, with the file that it stands in.
type TeamEntry struct{ Text, File string }

// TeamAudit holds the audit log to something. Enabled makes it mandatory: no call
// goes on without its line.
type TeamAudit struct {
	Enabled, Checkpoint bool
	Level               string
}

// Bound makes the settings as strict as the policy wants them.
func (t *Team) Bound(s *Settings) {
	from := Source{Kind: Policy, Name: strings.Join(t.Files, " and ")}
	for key, to := range map[string]*int{
		"limits.maxSteps": &s.Limits.MaxSteps, "subagents.maxSteps": &s.Subagents.MaxSteps, "moe.maxSteps": &s.MoE.MaxSteps,
	} {
		lowerTo(s, key, to, t.MaxSteps, from)
	}
	for key, to := range map[string]*int{
		"limits.tokenBudget": &s.Limits.TokenBudget, "subagents.tokenBudget": &s.Subagents.TokenBudget, "moe.tokenBudget": &s.MoE.TokenBudget,
	} {
		lowerTo(s, key, to, t.TokenBudget, from)
	}
	lowerTo(s, "limits.spendUsd", &s.Limits.SpendUSD, t.SpendUSD, from)
	if t.Strict && !s.Strict {
		s.Strict = true
		s.sources["profile"] = []Source{from}
	}
	if t.Audit != nil {
		t.Audit.bound(s, from)
	}
	s.Permissions.Allow = append(s.Permissions.Allow, t.Permissions.Allow...)
	s.Permissions.Ask = append(s.Permissions.Ask, t.Permissions.Ask...)
	s.Permissions.Deny = append(s.Permissions.Deny, t.Permissions.Deny...)
}

// lowerTo makes a limit as strict as this one; 0 is no limit.
func lowerTo[T cmp.Ordered](s *Settings, key string, to *T, most T, from Source) {
	if joined := stricter(*to, most); joined != *to {
		*to = joined
		s.sources[key] = []Source{from}
	}
}

func (a *TeamAudit) bound(s *Settings, from Source) {
	if a.Enabled {
		s.Audit.Enabled, s.Audit.Mandatory = true, true
		s.sources["audit.enabled"] = []Source{from}
	}
	levels := []string{"denials", "mutations", "all"}
	if slices.Index(levels, a.Level) > slices.Index(levels, s.Audit.Level) {
		s.Audit.Level = a.Level
		s.sources["audit.level"] = []Source{from}
	}
	if a.Checkpoint && !s.Audit.Checkpoint {
		s.Audit.Checkpoint = true
		s.sources["audit.checkpoint"] = []Source{from}
	}
}

// AllowsModel tells whether a model, provider/model, may be used.
func (t *Team) AllowsModel(spec string) bool {
	return t.Models == nil || slices.ContainsFunc(t.Models, func(pattern string) bool { return wildcard(pattern, spec) })
}

// wildcard compares a text with a pattern in which * is any characters, without
// regard to case.
func wildcard(pattern, text string) bool {
	parts := strings.Split(strings.ToLower(pattern), "*")
	text = strings.ToLower(text)
	if len(parts) == 1 {
		return text == parts[0]
	}
	text, ok := strings.CutPrefix(text, parts[0])
	if !ok {
		return false
	}
	last := parts[len(parts)-1]
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text = text[i+len(part):]
	}
	return strings.HasSuffix(text, last)
}

// merge takes a second file's policy into this one; the stricter of the two counts.
// What the first one says of models and of the log stands alone.
func (t *Team) merge(o *Team) {
	t.Files = append(t.Files, o.Files...)
	t.Commands = append(t.Commands, o.Commands...)
	t.Paths = append(t.Paths, o.Paths...)
	t.BlockedHosts = append(t.BlockedHosts, o.BlockedHosts...)
	t.RequireSandbox = t.RequireSandbox || o.RequireSandbox
	t.Strict = t.Strict || o.Strict
	t.StrictAllowlist = t.StrictAllowlist || o.StrictAllowlist
	t.NoYolo = t.NoYolo || o.NoYolo
	if t.Models == nil {
		t.Models = o.Models
	}
	if t.Audit == nil {
		t.Audit = o.Audit
	}
	t.MaxSteps = stricter(t.MaxSteps, o.MaxSteps)
	t.TokenBudget = stricter(t.TokenBudget, o.TokenBudget)
	t.SpendUSD = stricter(t.SpendUSD, o.SpendUSD)
	t.Permissions.Allow = append(t.Permissions.Allow, o.Permissions.Allow...)
	t.Permissions.Ask = append(t.Permissions.Ask, o.Permissions.Ask...)
	t.Permissions.Deny = append(t.Permissions.Deny, o.Permissions.Deny...)
}

// stricter is the smaller of two limits, of which 0 is none.
func stricter[T cmp.Ordered](a, b T) T {
	var none T
	if a == none || b != none && b < a {
		return b
	}
	return a
}
