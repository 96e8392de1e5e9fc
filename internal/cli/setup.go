package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"garuda/internal/core"
	"garuda/internal/llm/provider"
	"garuda/internal/nearest"
	"garuda/internal/secret"
	"garuda/internal/wire"
)

func newSetup(f *Factory) *cobra.Command {
	var show, forget, file bool
	cmd := &cobra.Command{
		Use:   "setup",
		Short: "Choose a provider, store its key, choose the default model",
		Long: "Asks on the terminal for a provider and its key, checks the key with the provider, and\n" +
			"stores it in the system's keychain or in ~/.garuda/credentials, which only you can read;\n" +
			"then asks for the default model. A key in the environment counts before a stored one.\n" +
			"Nothing is written before the last question is answered.",
		Example: "  garuda setup\n  garuda setup --file\n  garuda setup --show\n  garuda setup --forget OPENAI_API_KEY",
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case show && forget:
				return usagef("--show and --forget contradict each other; give one")
			case file && (show || forget):
				return usagef("--file says where a new key goes; it means nothing with --show and --forget")
			case len(args) > 0 && !forget:
				return usagef("garuda setup takes no arguments, got %q; it asks for a provider and a key", args[0])
			case len(args) > 1:
				return usagef("--forget takes one name, got %d", len(args))
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
			defer stop()
			o := setupOptions{show: show, forget: forget, file: file, name: strings.Join(args, "")}
			return runSetup(ctx, f, o)
		},
	}
	cmd.Flags().BoolVar(&show, "show", false, "list the keys by name and source, and the default model")
	cmd.Flags().BoolVar(&file, "file", false, "store the key in ~/.garuda/credentials, not in a keychain")
	cmd.Flags().BoolVar(&forget, "forget", false, "remove a stored key: the one that is named, or asks which")
	return cmd
}

type setupOptions struct {
	show, forget, file bool
	// name is the key to forget; may be empty.
	name string
}

func runSetup(ctx context.Context, f *Factory, o setupOptions) error {
	setup, err := wire.OpenSetup()
	if unusable := (*secret.CredentialsError)(nil); errors.As(err, &unusable) {
		if o.show || o.forget || !f.attended() {
			return err
		}
		setup, err = setAside(ctx, f, setup, unusable)
	}
	if err != nil {
		return setupError(err)
	}
	for _, w := range setup.Keys.Warnings() {
		fmt.Fprintln(f.Err, "garuda: "+core.Visible(w))
	}
	switch {
	case o.show:
		return showKeys(f, setup)
	case o.forget:
		return setupError(forgetKey(ctx, f, setup, o.name))
	case !f.attended():
		return errors.New("setup asks on a terminal, and this is none: set a provider's key instead, such as ANTHROPIC_API_KEY, and GARUDA_MODEL to provider/model")
	}
	d := &setupDialog{ask: f.terminal(ctx), out: f.Out, setup: setup, override: f.Getenv("GARUDA_MODEL"), preferFile: o.file}
	return setupError(d.run(ctx))
}

// attended says that questions can be put and answered.
func (f *Factory) attended() bool {
	_, isFile := f.In.(*os.File)
	return isFile && f.InIsTerminal && f.OutIsTerminal
}

// setupError gives an ending its exit code.
func setupError(err error) error {
	switch {
	case errors.Is(err, context.Canceled):
		return &codeError{code: exitSignal, err: errors.New("stopped; nothing was changed")}
	case errors.Is(err, errLeft):
		return &codeError{code: exitError, err: errors.New("nothing was changed")}
	}
	return err
}

// setAside offers to begin a new credentials file in place of one that cannot be used.
func setAside(ctx context.Context, f *Factory, setup *wire.Setup, unusable *secret.CredentialsError) (*wire.Setup, error) {
	fmt.Fprintf(f.Out, "%s cannot be used: %s.\nTo keep it: %s.\n", unusable.Path, core.Visible(unusable.Problem), core.Visible(unusable.Fix))
	yes, err := confirm(f.terminal(ctx), "Or rename it and begin a new one? [y/N]› ")
	if err != nil {
		return nil, err
	}
	if !yes {
		return nil, errLeft
	}
	to, err := secret.SetCredentialsAside(setup.Home)
	if err != nil {
		return nil, fmt.Errorf("rename %s: %w", unusable.Path, err)
	}
	fmt.Fprintln(f.Out, "It is now "+to+".")
	return setup, nil
}

func showKeys(f *Factory, setup *wire.Setup) error {
	entries := setup.Keys.Entries(setup.KeyNames())
	if len(entries) == 0 {
		fmt.Fprintln(f.Out, "No key is set or stored. `garuda setup` stores one.")
	} else {
		w := tabwriter.NewWriter(f.Out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "KEY\tFROM\tLOOKS LIKE")
		for _, e := range entries {
			fmt.Fprintf(w, "%s\t%s\t%s\n", core.Visible(e.Name), keyFrom(e), core.Visible(e.Hint))
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	text := "no default model"
	if setup.Default() != "" {
		text = "default model: " + core.Visible(setup.Default())
	}
	_, err := fmt.Fprintf(f.Out, "%s (%s)\n", text, setup.ModelsFile())
	return err
}

func keyFrom(e secret.Entry) string {
	switch {
	case e.Source == secret.SourceKeychain && e.Hint == "":
		return "keychain (cannot be read)"
	case secret.IsStored(e.Source):
		return e.Source
	case e.InKeychain:
		return "environment (one is in the keychain too)"
	case e.Stored:
		return "environment (one is in the credentials file too)"
	}
	return "environment"
}

// forgetKey removes a stored key, by its own name or its provider's.
func forgetKey(ctx context.Context, f *Factory, setup *wire.Setup, name string) error {
	var stored []string
	for _, e := range setup.Keys.Entries(nil) {
		stored = append(stored, e.Name)
	}
	if len(stored) == 0 {
		return errors.New("no key is stored")
	}
	named := name != ""
	if !named {
		if !f.attended() {
			return fmt.Errorf("there is no terminal to ask on: name the key, one of %s", strings.Join(stored, ", "))
		}
		t := f.terminal(ctx)
		for i, n := range stored {
			fmt.Fprintf(f.Out, "  %d  %s\n", i+1, core.Visible(n))
		}
		var err error
		if name, err = pick(t, "Which one shall be removed? Number or name, Enter for none› ", stored); err != nil {
			return err
		}
		if name == "" {
			return errLeft
		}
	}
	entry := storedName(setup, stored, name)
	if entry == "" {
		text := fmt.Sprintf("no key %q is stored", name)
		if near := nearest.Of(name, stored); near != "" {
			return fmt.Errorf("%s; did you mean %q?", text, near)
		}
		return fmt.Errorf("%s; there are %s", text, strings.Join(stored, ", "))
	}
	if named && f.attended() {
		yes, err := confirm(f.terminal(ctx), core.Visible(fmt.Sprintf("Remove the stored key %s? [y/N]› ", entry)))
		if err != nil {
			return err
		}
		if !yes {
			return errLeft
		}
	}
	if err := setup.ForgetKey(ctx, entry); err != nil {
		return err
	}
	fmt.Fprintf(f.Out, "%s is no longer stored.\n", core.Visible(entry))
	if _, source, ok := setup.Keys.Key(entry); ok && !secret.IsStored(source) {
		fmt.Fprintln(f.Out, "The environment still sets it, and that one is used.")
	}
	return nil
}

// storedName finds the entry that a person means: its name, or the provider whose key it is.
func storedName(setup *wire.Setup, stored []string, name string) string {
	for _, s := range stored {
		if s == name {
			return s
		}
	}
	if key := setup.Providers(setup.Keys).KeyName(name); key != "" {
		for _, s := range stored {
			if s == key {
				return s
			}
		}
	}
	return ""
}

// typedKey is the store with a key that was typed and is not stored yet.
type typedKey struct {
	provider.Keys
	name, value string
}

// typedSource is what errors call the source of such a key.
const typedSource = "this terminal"

func (k typedKey) Key(name string) (value, source string, ok bool) {
	if name == k.name {
		return k.value, typedSource, true
	}
	return k.Keys.Key(name)
}
