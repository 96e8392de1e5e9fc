package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"garuda/internal/front/plain"
	"garuda/internal/wire"
)

// runChat opens the chat in the terminal.
func runChat(ctx context.Context, f *Factory, o *runOptions) error {
	o.Attended = f.InIsTerminal
	o.Options.Version, o.Consent = f.Version, f.askConsent(ctx)
	sys, err := f.Open(ctx, &o.Options)
	if err != nil {
		return err
	}
	defer sys.Close()
	s, said, err := sys.OpenSession(sessionOptions(o))
	if err != nil {
		return err
	}
	ctx, interrupts, stop := chatSignals(ctx)
	defer stop()
	code, err := plain.Run(ctx, plain.Options{
		Host: wire.NewHost(sys, s), In: f.In, Out: f.Out, Interrupts: interrupts,
		IsTerminal: f.InIsTerminal, Color: f.canDraw() && f.Getenv("NO_COLOR") == "",
		Redraw: f.canDraw() && f.Getenv("GARUDA_PLAIN") != "1", ShowThinking: sys.ShowThinking(),
		FirstPrompt: o.prompt, Notices: append(sys.Notices(), said...), Clock: f.Clock,
		DropTyped: f.dropTyped(), Width: f.width(),
	})
	switch {
	case errors.Is(err, context.Canceled):
		return &codeError{code: exitSignal, err: errSilent} // ended from outside
	case err != nil:
		return &codeError{code: max(code, exitError), err: err}
	case code != 0:
		return &codeError{code: code, err: errSilent}
	}
	return nil
}

// canDraw reports whether Out is a terminal that knows more than lines.
func (f *Factory) canDraw() bool { return f.OutIsTerminal && f.Getenv("TERM") != "dumb" }

// chatSignals delivers Ctrl-C to the chat, and ends the context at a signal that
// wants the program gone.
func chatSignals(ctx context.Context) (context.Context, <-chan os.Signal, func()) {
	interrupts := make(chan os.Signal, 4)
	signal.Notify(interrupts, os.Interrupt)
	catchBrokenPipe()
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGHUP)
	return ctx, interrupts, func() {
		signal.Stop(interrupts)
		stop()
	}
}

// dropTyped forgets what was typed but not sent, where In is a terminal.
func (f *Factory) dropTyped() func() {
	file, ok := f.In.(*os.File)
	if !ok || !f.InIsTerminal {
		return nil
	}
	return plain.DropTyped(file)
}

// width is the terminal's, where Out is one.
func (f *Factory) width() func() int {
	file, ok := f.Out.(*os.File)
	if !ok || !f.OutIsTerminal {
		return nil
	}
	return func() int {
		w, _, err := term.GetSize(int(file.Fd()))
		if err != nil {
			return 0 // the chat then takes a usual width
		}
		return w
	}
}
