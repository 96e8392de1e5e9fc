package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"garuda/internal/core"
	"garuda/internal/front/lines"
	"garuda/internal/llm/provider"
	"garuda/internal/nearest"
	"garuda/internal/secret"
	"garuda/internal/wire"
)

// errLeft is the end of a setup that was left before anything was done.
var errLeft = errors.New("left without a change")

// shownModels is how many models are listed; the others go by their names.
const shownModels = 15

// setupDialog asks for a provider, its key and the default model. It writes all
// together at its end.
type setupDialog struct {
	ask   asker
	out   io.Writer
	setup *wire.Setup
	// override is a model that the environment names before any default.
	override string

	chosen provider.Status
	// key is to be stored under chosen.KeyName; empty for none. inKeychain says
	// where; preferFile leaves the keychain alone unasked.
	key                    string
	inKeychain, preferFile bool
	// served are the models that the provider's server named.
	served []string
}

func (d *setupDialog) run(ctx context.Context) error {
	for {
		if err := d.chooseProvider(ctx); err != nil {
			return err
		}
		usable, err := d.getKey(ctx)
		if err != nil {
			return err
		}
		if usable {
			break
		}
	}
	if err := d.choosePlace(ctx); err != nil {
		return err
	}
	spec, err := d.chooseModel(ctx)
	if err != nil {
		return err
	}
	return d.store(ctx, spec)
}

// choosePlace finds out where a new key is to be stored: in the keychain where one
// works and the person wants it, else in the file.
func (d *setupDialog) choosePlace(ctx context.Context) error {
	d.inKeychain = false
	if d.key == "" || d.preferFile {
		return nil
	}
	k := d.setup.Keychain()
	if err := k.Probe(ctx); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		d.say("It will be stored in %s, which only you can read; %s cannot be used: %v.", d.setup.CredentialsFile(), k.Title(), err)
		return nil
	}
	answer, err := d.ask.line(core.Visible(fmt.Sprintf("Store it in %s? Enter for yes, f for the file %s› ", k.Title(), d.setup.CredentialsFile())))
	if errors.Is(err, io.EOF) {
		return errLeft
	}
	d.inKeychain = !strings.EqualFold(answer, "f") && !strings.EqualFold(answer, "file") && !strings.EqualFold(answer, "n") && !strings.EqualFold(answer, "no")
	return err
}

func (d *setupDialog) say(format string, args ...any) {
	fmt.Fprintln(d.out, core.Visible(fmt.Sprintf(format, args...)))
}

// keys are the known ones, and the one that was typed.
func (d *setupDialog) keys() provider.Keys {
	if d.key == "" {
		return d.setup.Keys
	}
	return typedKey{Keys: d.setup.Keys, name: d.chosen.KeyName, value: d.key}
}

func (d *setupDialog) providers() *provider.Registry { return d.setup.Providers(d.keys()) }

// chooseProvider lists the providers until one is named that can be used.
func (d *setupDialog) chooseProvider(ctx context.Context) error {
	d.key, d.served = "", nil
	all := d.providers().List(ctx, true)
	if err := ctx.Err(); err != nil {
		return err
	}
	names := make([]string, len(all))
	d.say("Providers:")
	for i, p := range all {
		names[i] = p.Name
		d.say("  %2d  %-11s %s", i+1, p.Name, d.state(p))
	}
	d.say("Any other server that speaks one of these interfaces: name it in %s first.", d.setup.ModelsFile())
	for {
		name, err := pick(d.ask, "Which one? Number or name, Enter to leave› ", names)
		if err != nil {
			return err
		}
		if name == "" {
			return errLeft
		}
		p := named(all, name)
		switch {
		case p == nil:
			text := fmt.Sprintf("There is no provider %q.", name)
			if near := nearest.Of(name, names); near != "" {
				text = fmt.Sprintf("There is no provider %q; did you mean %q?", name, near)
			}
			d.say("%s", text)
		case unusable(p.Problem):
			d.say("%s cannot be used: %s.", p.Name, d.state(*p))
		default:
			d.chosen = *p
			return nil
		}
	}
}

func named(all []provider.Status, name string) *provider.Status {
	for i := range all {
		if all[i].Name == name {
			return &all[i]
		}
	}
	return nil
}

// unusable reports whether a provider has a problem that a key does not mend.
func unusable(problem error) bool {
	var missing *provider.MissingKeyError
	return problem != nil && !errors.As(problem, &missing)
}

// state says in a few words what a provider has and lacks.
func (d *setupDialog) state(p provider.Status) string {
	where := p.BaseURL
	if u, err := url.Parse(p.BaseURL); err == nil {
		where = u.Host
	}
	switch {
	case p.KeyName == "" && errors.Is(p.Problem, provider.ErrNoModels):
		return "answers at " + where + ", but has no model yet"
	case p.KeyName == "" && p.Problem != nil && p.Local:
		return "does not answer at " + where
	case unusable(p.Problem):
		// The line begins with the name.
		return strings.TrimPrefix(p.Problem.Error(), "provider "+p.Name+" cannot be used: ")
	case p.KeyName == "" && len(p.Models) > 0:
		return fmt.Sprintf("answers at %s, %s, no key needed", where, lines.Count(len(p.Models), "model"))
	case p.KeyName == "":
		return "at " + where + ", no key needed"
	case secret.IsStored(p.KeySource):
		return "key stored (" + p.KeyName + ")"
	case p.KeySource != "none":
		return "key from the environment (" + p.KeyName + ")"
	}
	return "no key yet (" + p.KeyName + ")"
}

// getKey sees to it that the provider has a key, and checks it. False without an
// error goes back to the list.
func (d *setupDialog) getKey(ctx context.Context) (bool, error) {
	p := d.chosen
	if p.KeyName == "" {
		return d.check(ctx, false)
	}
	value, source, known := d.setup.Keys.Key(p.KeyName)
	if known && !secret.IsStored(source) {
		d.say("%s is set in the environment (%s), which counts before a stored key.", p.KeyName, secret.Hint(value))
		return d.checkEnvironment(ctx, value)
	}
	question := fmt.Sprintf("Key of %s (not shown while you type), Enter to go back› ", p.Name)
	if known {
		question = fmt.Sprintf("Key of %s (not shown while you type), Enter to keep the stored one (%s)› ", p.Name, secret.Hint(value))
	}
	for {
		key, err := d.ask.hidden(question)
		switch {
		case errors.Is(err, io.EOF), err == nil && key == "" && !known:
			return false, nil
		case err != nil:
			return false, err
		case strings.ContainsFunc(key, func(c rune) bool { return c <= ' ' || c > '~' }):
			d.say("That holds a character that no key has, such as a space; once more:")
			continue
		}
		d.key = key
		ok, err := d.check(ctx, true)
		if ok || err != nil {
			return ok, err
		}
	}
}

// checkEnvironment checks the environment's key, and offers to store it.
func (d *setupDialog) checkEnvironment(ctx context.Context, value string) (bool, error) {
	ok, err := d.check(ctx, false)
	if !ok || err != nil {
		return ok, err
	}
	store, err := confirm(d.ask, "Store it, so that it is there without the variable? [y/N]› ")
	if store {
		d.key = value
	}
	return true, err
}

// check asks the provider's server. Where that fails the person decides: typed
// says that another key can be typed. False without an error means once more.
func (d *setupDialog) check(ctx context.Context, typed bool) (bool, error) {
	d.say("Asking %s …", d.chosen.BaseURL)
	served, err := d.providers().ReachProvider(ctx, d.chosen.Name)
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if err == nil {
		d.served = served
		d.say("%s", d.accepted())
		return true, nil
	}
	var refused *provider.KeyRefusedError
	if errors.As(err, &refused) {
		d.say("%s does not accept the key: %v.", d.chosen.Name, refused.Err)
	} else {
		d.say("The check failed: %v.", err)
	}
	again := "Enter to choose again, q to leave"
	if typed {
		again = "Enter to type it again, s to store it all the same, q to leave"
	}
	answer, err := d.ask.line(again + "› ")
	switch {
	case errors.Is(err, io.EOF), err == nil && strings.EqualFold(answer, "q"):
		return false, errLeft
	case err != nil:
		return false, err
	}
	return typed && strings.EqualFold(answer, "s"), nil
}

// accepted claims no more than was seen: some servers list their models to everybody.
func (d *setupDialog) accepted() string {
	if d.chosen.KeyName == "" {
		return "It answers."
	}
	return "It answers, and does not refuse the key."
}

// chooseModel returns the new default model, or "" to leave it as it is.
func (d *setupDialog) chooseModel(ctx context.Context) (string, error) {
	usual, ids := d.models(ctx)
	if len(ids) == 0 {
		d.say("Nobody knows the models of %s; give its own name for one.", d.chosen.Name)
	} else {
		d.say("Models of %s:", d.chosen.Name)
	}
	for i, id := range ids[:min(len(ids), shownModels)] {
		d.say("  %2d  %s", i+1, id)
	}
	if more := len(ids) - shownModels; more > 0 {
		d.say("      and %d more, by name", more)
	}
	current := d.setup.Default()
	question := "Which one by default? Number or name"
	switch {
	case usual != "":
		question += ", Enter for " + usual
	case current == "":
		question += ", Enter for none"
	}
	if current != "" {
		question += ", - to keep " + current
	}
	for {
		id, err := pick(d.ask, core.Visible(question)+"› ", ids[:min(len(ids), shownModels)])
		switch {
		case err != nil:
			return "", err
		case id == "-", id == "" && usual == "":
			return "", nil
		case id == "":
			id = usual
		}
		spec, err := d.spec(id, ids)
		if spec != "" || err != nil {
			return spec, err
		}
	}
}

// models are the ids of the chosen provider's models, the usual one first.
func (d *setupDialog) models(ctx context.Context) (usual string, ids []string) {
	r := d.providers()
	if c, err := r.Usual(ctx, d.chosen.Name); err == nil {
		usual = c.Info.ID
		ids = append(ids, usual)
	}
	var others []string
	if p := named(r.List(ctx, true), d.chosen.Name); p != nil {
		for _, m := range p.Models {
			others = append(others, m.ID)
		}
	}
	if len(others) == 0 {
		others = d.served
	}
	for _, id := range others {
		if id != usual {
			ids = append(ids, id)
		}
	}
	return usual, ids
}

// spec makes provider/model of an answer; "" asks again.
func (d *setupDialog) spec(id string, ids []string) (string, error) {
	id = strings.TrimPrefix(id, d.chosen.Name+"/")
	c, err := d.providers().Resolve(d.chosen.Name+"/"+id, nil)
	if err != nil {
		d.say("%v.", err)
		return "", nil
	}
	for _, known := range ids {
		if known == id || known == c.Info.ID {
			return c.Info.Spec, nil
		}
	}
	question := fmt.Sprintf("%q is not in the list. ", id)
	if near := nearest.Of(id, ids); near != "" {
		question = fmt.Sprintf("%q is not in the list, but %q is. ", id, near)
	}
	yes, err := confirm(d.ask, core.Visible(question)+"Take it all the same? [y/N]› ")
	if !yes {
		return "", err
	}
	return c.Info.Spec, err
}

// store writes what was decided, and says where it stands.
func (d *setupDialog) store(ctx context.Context, spec string) error {
	if d.key != "" {
		if err := d.setup.StoreKey(ctx, d.chosen.KeyName, d.key, d.inKeychain); err != nil {
			return fmt.Errorf("store the key: %w", err)
		}
		place := d.setup.CredentialsFile()
		if d.inKeychain {
			place = d.setup.Keychain().Title()
		}
		d.say("Stored %s in %s.", d.chosen.KeyName, place)
	}
	if spec != "" && spec != d.setup.Default() {
		if err := d.setup.SetDefault(spec); err != nil {
			return fmt.Errorf("write the default model: %w", err)
		}
		d.say("The default model is %s (%s).", spec, d.setup.ModelsFile())
	}
	if spec == "" {
		spec = d.setup.Default()
	}
	if d.override != "" && d.override != spec {
		d.say("GARUDA_MODEL is set to %s, which counts before the default.", d.override)
	}
	d.say("Ready: `garuda` in a project, or `garuda demo -m %s` to try it.", spec)
	return nil
}
