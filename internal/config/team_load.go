package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/tailscale/hujson"

	"garuda/internal/jsonc"
	"garuda/internal/userfile"
)

// TeamOptions say where a policy may lie.
type TeamOptions struct {
	// Home, UserHome and Root are those of Options.
	Home, UserHome, Root string
	// Managed is the administrator's file; empty for the system's usual place.
	Managed string
	// Owned says whether an opened file is the administrator's own; nil for the
	// system's answer.
	Owned func(*os.File) error
}

// teamName is the policy's file in the user's home, and what a project may not have.
const teamName = "policy.json"

// LoadTeam reads the managed policy and the user's. A file that is there and
// cannot be used, or a managed one that others could have written, is an *Error:
// nothing may start without what it says. The project's own is only told of.
func LoadTeam(o TeamOptions) (*Team, []Notice, error) {
	t := &Team{}
	managed := o.Managed
	if managed == "" {
		managed = managedPolicy()
	}
	owned := o.Owned
	if owned == nil {
		owned = ownedByRoot
	}
	if managed != "" {
		if err := t.read(managed, managed, owned); err != nil {
			return nil, nil, err
		}
	}
	if filepath.IsAbs(o.Home) {
		path := filepath.Join(o.Home, teamName)
		if err := t.read(path, Shown(path, o.UserHome), nil); err != nil {
			return nil, nil, err
		}
	}
	return t, o.ignored(), nil
}

// managedPolicy is where administrators put the policy of a machine.
func managedPolicy() string {
	switch runtime.GOOS {
	case "linux":
		return "/etc/garuda/policy.json"
	case "darwin":
		return "/Library/Application Support/Garuda/policy.json"
	}
	return ""
}

// ignored tells of a policy in the project, which whoever wrote the project made.
func (o *TeamOptions) ignored() []Notice {
	if o.Root == "" {
		return nil
	}
	if _, err := os.Lstat(filepath.Join(o.Root, filepath.FromSlash(".garuda/"+teamName))); err != nil {
		return nil
	}
	return []Notice{{
		Key: teamName, Source: Source{Kind: Project, Name: "project .garuda/" + teamName}, Line: 1,
		Text: "it is ignored: a policy counts in " + filepath.Join("~/.garuda", teamName) + " or where an administrator put it",
	}}
}

// read adds a file's policy, where there is one.
func (t *Team) read(path, shown string, owned func(*os.File) error) error {
	source := Source{Kind: Policy, Name: shown}
	file, err := userfile.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return unreadable(source, err)
	}
	if owned == nil {
		owned = ownFile
	}
	if err := owned(file); err != nil {
		return errors.Join(&Error{Source: source, Message: err.Error(), Err: err}, file.Close())
	}
	text, err := readAll(file, source)
	if err != nil {
		return err
	}
	more, err := decodeTeam(text, source)
	if err != nil {
		return err
	}
	t.merge(more)
	return nil
}

// decodeTeam reads one policy file.
func decodeTeam(text []byte, source Source) (*Team, error) {
	d, err := parse(text, source)
	if err != nil {
		return nil, err
	}
	t := &Team{Files: []string{source.Name}}
	return t, d.Object(&d.Root, "a policy", jsonc.Fields{
		"disallowedCommands": d.teamList(&t.Commands, text1("command")),
		"requireSandbox":     into(d, &t.RequireSandbox, boolean()),
		"profile":            into(d, &t.Strict, flagWord("strict")),
		"denyPaths":          d.teamList(&t.Paths, text1("path")),
		"allowedModels":      intoList(d, &t.Models, text1("model")),
		"network": d.within("network", jsonc.Fields{
			"blockedHosts":    d.teamList(&t.BlockedHosts, text1("host")),
			"strictAllowlist": into(d, &t.StrictAllowlist, boolean()),
		}),
		"limits": d.within("limits", jsonc.Fields{
			"maxSteps":    into(d, &t.MaxSteps, integer(1, huge)),
			"tokenBudget": into(d, &t.TokenBudget, integer(1, huge)),
			"spendUsd":    into(d, &t.SpendUSD, number(1e-6, 1e9)),
		}),
		"audit":       d.teamAudit(t),
		"allow":       d.teamRules(&t.Permissions.Allow),
		"ask":         d.teamRules(&t.Permissions.Ask),
		"deny":        d.teamRules(&t.Permissions.Deny),
		"disableYolo": into(d, &t.NoYolo, boolean()),
	})
}

func text1(what string) codec[string] { return text(what, what+"s") }

func (d *document) within(what string, fields jsonc.Fields) func(*hujson.Value) error {
	return func(v *hujson.Value) error { return d.Object(v, what, fields) }
}

func into[T any](d *document, to *T, c codec[T]) func(*hujson.Value) error {
	return func(v *hujson.Value) (err error) {
		*to, err = c.decode(d, v)
		return err
	}
}

// intoList tells an empty list, which lets nothing pass, from none.
func intoList[T any](d *document, to *[]T, c codec[T]) func(*hujson.Value) error {
	return func(v *hujson.Value) error {
		got, err := decodeList(d, v, c)
		*to = append([]T{}, got...)
		return err
	}
}

func (d *document) teamList(to *[]TeamEntry, c codec[string]) func(*hujson.Value) error {
	return func(v *hujson.Value) error {
		got, err := decodeList(d, v, c)
		for _, text := range got {
			*to = append(*to, TeamEntry{Text: text, File: d.source.Name})
		}
		return err
	}
}

func (d *document) teamRules(to *[]Rule) func(*hujson.Value) error {
	return func(v *hujson.Value) error {
		got, err := decodeList(d, v, rule())
		for i := range got {
			got[i].Source = d.source
		}
		*to = got
		return err
	}
}

func (d *document) teamAudit(t *Team) func(*hujson.Value) error {
	return func(v *hujson.Value) error {
		t.Audit = &TeamAudit{}
		return d.Object(v, "audit", jsonc.Fields{
			"enabled":    into(d, &t.Audit.Enabled, boolean()),
			"level":      into(d, &t.Audit.Level, choice("all", "mutations", "denials")),
			"checkpoint": into(d, &t.Audit.Checkpoint, boolean()),
		})
	}
}

// errNotOwn says why a file in the user's home does not count as theirs.
func errNotOwn(why string) error {
	return fmt.Errorf("%s, so what it says may not be yours; see what stands in it, then take it over (chown, chmod o-w)", why)
}

// errOpenToOthers says why a managed file does not count as one.
func errOpenToOthers(why string) error {
	return fmt.Errorf("%s, so it may not be the administrator's; "+
		"it must belong to root and be writable by nobody else (chown root, chmod go-w)", why)
}
