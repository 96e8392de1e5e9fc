package repl

import (
	"context"
	_ "embed" // for the drivers
	"errors"
	"fmt"
	"sync"

	"garuda/internal/core"
	"garuda/internal/sandbox"
	"garuda/internal/tool"
)

// Interpreters are those of one session, one for a language at most. It is safe
// for concurrent use.
type Interpreters struct {
	clock core.Clock

	mu     sync.Mutex
	slots  map[string]*slot
	closed bool
}

// NewInterpreters makes an empty set; Close ends what it holds.
func NewInterpreters(clock core.Clock) *Interpreters {
	return &Interpreters{clock: clock, slots: map[string]*slot{}}
}

// slot is the place of one language's interpreter.
type slot struct {
	owner    *Interpreters
	language *language
	// turn holds one token, which whoever uses the slot has.
	turn chan struct{}
	// current is the interpreter, nil where none was started; under the owner's lock.
	current *interpreter
}

// language is how to start an interpreter and how to talk to it.
type language struct {
	argv func(token string) []string
	// ask is what is written to its standard input for one call.
	ask func(token, code string) string
	// missing says what was looked for in vain.
	missing string
}

//go:embed python.py
var pythonDriver string

//go:embed node.js
var nodeDriver string

// launch starts the first of the programs in $3… with the driver $1 as the
// argument behind the option that ends it. What the code reads is empty, what it
// prints is one stream; the driver has the calls at descriptor 3 and answers at 4.
const launch = `exec 3<&0 4>&1 </dev/null 2>&1
driver=$1 token=$2 option=$3; shift 3
for name; do
	if path=$(type -P "$name"); then exec "$path" "$option" "$driver"; fi
done
printf '\0%s missing\0' "$token"; exit 127`

func launched(driver, option string, programs ...string) func(string) []string {
	return func(token string) []string {
		return append([]string{"bash", "-c", launch, "repl", driver, token, option}, programs...)
	}
}

func framed(token, code string) string { return token + "\x00" + code + "\x00" }

// languages finds a language by its name; nil for one that there is not.
func languages(name string) *language {
	switch name {
	case "python":
		return &language{
			argv: launched(pythonDriver, "-c", "python3", "python"), ask: framed,
			missing: "there is neither python3 nor python in the PATH of commands",
		}
	case "node":
		return &language{
			argv: launched(nodeDriver, "-e", "node", "nodejs"), ask: framed,
			missing: "there is neither node nor nodejs in the PATH of commands",
		}
	case "bash":
		return &language{
			argv: func(string) []string { return []string{"bash", "--norc", "--noprofile", "-c", bashLaunch} }, ask: bashAsk,
		}
	}
	return nil
}

// bashLaunch makes a bash that reads its script, call by call, from standard input,
// prints into one stream, and keeps a copy of that as descriptor 4.
const bashLaunch = `exec 4>&1 2>&1; exec "$BASH" --norc --noprofile -s`

// bashAsk is a call as a piece of script. No loop stands around it, so that a break
// in the code has none to end.
//
// The code may define functions with the names of anything, eval and builtin too. In
// bash's POSIX mode the special builtins, which eval, exec, export and unset are, come before
// functions, and an assignment is enough to enter it. As it changes other options of
// the shell, that is done in shells of their own; in this one only where there is a
// function eval, and the mode is left before the code runs.
func bashAsk(token, code string) string {
	shadowed := "[[ ! -o posix ]] && ( POSIXLY_CORRECT=1; \\export -f eval ) 2>/dev/null" // it fails where there is none
	mode := "if " + shadowed + "; then POSIXLY_CORRECT=" + token + "; fi\n"
	leave := "[[ ${POSIXLY_CORRECT-} != " + token + " ]] || \\unset -v POSIXLY_CORRECT\n"
	run := "\\eval " + quoted(leave+code) + " </dev/null >&4 2>&4 4>&-\n"
	format := `'\0%s %d\0' ` + token + ` "$POSIXLY_CORRECT" >&4`
	return mode + run + "( POSIXLY_CORRECT=$?; if [[ -x /usr/bin/printf ]]; then \\exec /usr/bin/printf " + format +
		"; fi; \\unset -f builtin; \\builtin printf " + format + " ) 2>/dev/null\n"
}

// quoted is a text as one word of bash.
func quoted(s string) string {
	out := make([]byte, 0, len(s)+2)
	out = append(out, '\'')
	for i := range len(s) {
		if s[i] == '\'' {
			out = append(out, `'\''`...)
			continue
		}
		out = append(out, s[i])
	}
	return string(append(out, '\''))
}

var errClosed = errors.New("the session is ending")

// slot waits for a language's turn; release gives it back.
func (i *Interpreters) slot(ctx context.Context, name string) (*slot, error) {
	i.mu.Lock()
	s := i.slots[name]
	if s == nil {
		s = &slot{owner: i, language: languages(name), turn: make(chan struct{}, 1)}
		s.turn <- struct{}{}
		i.slots[name] = s
	}
	i.mu.Unlock()
	select {
	case <-s.turn:
		return s, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (s *slot) release() { s.turn <- struct{}{} }

// running is the interpreter that is there, which may have ended; or nil.
func (s *slot) running() *interpreter {
	s.owner.mu.Lock()
	defer s.owner.mu.Unlock()
	return s.current
}

// start starts the language's interpreter. It outlives the call, and ends by
// itself, by reset, or with the session.
func (s *slot) start(call *tool.Call, token string) (*interpreter, error) {
	env := call.Env
	s.owner.mu.Lock()
	defer s.owner.mu.Unlock()
	if s.owner.closed {
		return nil, errClosed
	}
	env.Watcher.Begin()
	p, err := env.Exec.Start(context.Background(), &sandbox.Command{
		Argv: s.language.argv(token), Dir: env.Workspace.Root(), Env: env.CommandEnv,
		Call: call.ID, ReadOnlyRoot: readOnlyRoot(call), LockWatched: true,
	})
	if err != nil {
		return nil, fmt.Errorf("start the interpreter: %w", err)
	}
	s.current = newInterpreter(s.owner.clock, p, s.language.ask)
	s.current.readOnly = readOnlyRoot(call)
	return s.current, nil
}

// readOnlyRoot reports whether the call was allowed on the condition that it writes
// nothing in the project.
func readOnlyRoot(call *tool.Call) bool { return call.Grant != nil && call.Grant.ReadOnlyRoot }

// end ends the interpreter that is there, and waits for its end.
func (s *slot) end() {
	s.owner.mu.Lock()
	it := s.current
	s.current = nil
	s.owner.mu.Unlock()
	if it != nil {
		it.process.Kill()
		<-it.ended
	}
}

// EndAll ends every interpreter and waits for their end, at most until ctx ends.
func (i *Interpreters) EndAll(ctx context.Context) {
	i.mu.Lock()
	var all []*interpreter
	for _, s := range i.slots {
		if s.current != nil {
			all = append(all, s.current)
			s.current.process.Kill()
		}
	}
	i.mu.Unlock()
	for _, it := range all {
		select {
		case <-it.ended:
		case <-ctx.Done():
			return
		}
	}
}

// Close is EndAll, and nothing new is started afterwards.
func (i *Interpreters) Close(ctx context.Context) {
	i.mu.Lock()
	i.closed = true
	i.mu.Unlock()
	i.EndAll(ctx)
}
