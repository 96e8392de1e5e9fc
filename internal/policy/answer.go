package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"garuda/internal/policy/shellscan"
	"garuda/internal/tool"
)

// sessionSource is how a decision names the answers of this session.
const sessionSource = "this session"

// exactApproval is a command that a person approved as it stands, with the
// scripts it names.
type exactApproval struct {
	tool, text string
	files      map[string]string // path → sha256
}

// denial is what was denied in this turn.
type denial struct{ what, by, reason string }

// What is kept of a denied file. Who may not write a file may still look at it;
// who may not read it may not write it either.
const (
	keyRead  = "read "
	keyWrite = "write "
)

// everyCommand is the pattern of a bare rule for a command tool.
var everyCommand = sync.OnceValue(func() *shellscan.Pattern {
	p, _, err := shellscan.CompilePattern("*")
	if err != nil {
		panic(err) // a constant
	}
	return p
})

// Resolve turns the answer to a question into a decision, and keeps what the
// answer said for the session.
func (e *Engine) Resolve(req *tool.DecisionRequest, asked *tool.Decision, a tool.Answer) *tool.Decision {
	s := e.situation(req, true)
	d := &tool.Decision{Outcome: tool.Deny, Row: asked.Row, By: byUser, Commands: asked.Commands}
	if asked.Outcome != tool.Ask || asked.Question == nil {
		d.Reason = "it was not asked"
		return d
	}
	switch a.Choice {
	case tool.AnswerOnce, tool.AnswerSession, tool.AnswerProject:
	default:
		d.Reason = "the user said no"
		if c := strings.TrimSpace(a.Comment); c != "" {
			d.Reason += ": " + c
		} else {
			d.Reason += ". Do not try it by other means; ask what to do instead"
		}
		e.remember(s, d)
		return d
	}
	if why := badHunks(a, asked.Question); why != "" {
		d.Reason = why
		return d
	}
	// Between question and answer the mode may have changed, or a rule of another
	// row may now refuse.
	if again := s.decide(); again.Outcome == tool.Deny {
		e.remember(s, again)
		return again
	}
	if name := s.changedScript(asked.Scripts); name != "" {
		d.By, d.Reason = byUnreadable, name+" changed while the question stood, so the answer was to another text. Read it, and repeat the call to ask again"
		return d
	}
	d.Outcome, d.Reason = tool.Allow, "the user allowed it"
	d.Grant = s.grant()
	d.Grant.Hunks = a.Hunks
	e.forget(s)
	e.reads.clear()
	if a.Choice != tool.AnswerOnce && asked.Question.SessionRule != "" {
		e.keep(s, asked.Scripts)
		d.Rule, d.Source = asked.Question.SessionRule, sessionSource
	}
	if a.Choice == tool.AnswerProject && asked.Question.ProjectRule != "" && e.cfg.SaveProjectRule != nil {
		if err := e.save(s, asked.Question.ProjectRule); err != nil {
			d.Reason = "the user allowed it; the rule counts for this session only, since it could not be saved: " + err.Error()
		}
	}
	return d
}

// save keeps the rule for the project that the person saw, and no other one.
func (e *Engine) save(s *situation, seen string) error {
	r, ok := s.projectRule()
	if !ok || r.shown() != seen {
		return errors.New("what it depends on changed while the question stood")
	}
	return e.cfg.SaveProjectRule(r)
}

// badHunks says why an answer's choice of hunks allows nothing; "" where it may.
func badHunks(a tool.Answer, q *tool.Question) string {
	switch {
	case a.Hunks == nil:
		return ""
	case len(a.Hunks) == 0:
		return "the user approved no part of the change"
	case a.Choice != tool.AnswerOnce:
		return "an answer for some hunks counts once, and was given for more"
	}
	for _, n := range a.Hunks {
		if n < 1 || n > q.Hunks {
			return fmt.Sprintf("the answer names hunk %d of a change that has %d to choose from", n, q.Hunks)
		}
	}
	return ""
}

// scriptHashes are the hashes of the files that the call's commands run, "" of one
// that cannot be read.
func (s *situation) scriptHashes() map[string]string {
	sums := map[string]string{}
	for _, p := range s.scriptFiles() {
		sum, err := hashFile(p)
		if err != nil {
			sum = ""
		}
		sums[p] = sum
	}
	return sums
}

// changedScript is a script that is not what it was when the question was put, or "".
func (s *situation) changedScript(then map[string]string) string {
	now := s.scriptHashes()
	for _, p := range slices.Concat(slices.Sorted(maps.Keys(now)), slices.Sorted(maps.Keys(then))) {
		is, there := now[p]
		if was, asked := then[p]; !asked || !there || was != is {
			if rel, err := filepath.Rel(s.e.root.given, p); err == nil && filepath.IsLocal(rel) {
				return filepath.ToSlash(rel)
			}
			return p
		}
	}
	return ""
}

// keep adds what an answer allows for the session. A script that could not be read
// cannot be bound, and then nothing is kept.
func (e *Engine) keep(s *situation, files map[string]string) {
	for _, sum := range files {
		if sum == "" {
			return
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if s.class == tool.ClassCommand {
		e.exact = append(e.exact[:len(e.exact):len(e.exact)], exactApproval{tool: s.tool, text: s.commandText(), files: files})
		return
	}
	session := e.session[:len(e.session):len(e.session)]
	for _, text := range s.sessionRules() {
		r, err := e.compileRule(text, allowRule, sessionSource)
		if err != nil {
			continue // a path that no pattern can spell; it is asked again
		}
		session = append(session, r)
	}
	e.session = session
}

// approvedAsItStands tells a command that was approved for the session, while the
// scripts it names are unchanged.
func (s *situation) approvedAsItStands() bool {
	if s.class != tool.ClassCommand || len(s.plan.Effects.Commands) == 0 {
		return false
	}
	text := s.commandText()
	for _, x := range s.exact {
		if x.tool == s.tool && x.text == text && filesUnchanged(x.files) {
			return true
		}
	}
	return false
}

func filesUnchanged(files map[string]string) bool {
	for p, want := range files {
		if sum, err := hashFile(p); err != nil || sum != want {
			return false
		}
	}
	return true
}

// filesHold tells whether the scripts that a rule is bound to are as they were.
func (e *Engine) filesHold(r *rule) bool {
	for p, want := range r.files {
		if sum, err := hashFile(e.fromRoot(p)); err != nil || sum != strings.TrimPrefix(want, "sha256:") {
			return false
		}
	}
	return true
}

func (e *Engine) fromRoot(p string) string {
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	return filepath.Join(e.root.given, p)
}

// boundTo tells whether a rule that is bound to files is bound to all the scripts
// that a command runs: the same words may name another script elsewhere.
func (s *situation) boundTo(r *rule, script *shellscan.Script, c *shellscan.Command) bool {
	if r.files == nil {
		return true
	}
	var scripts []string
	for _, inner := range script.Commands { // those behind wrappers, too
		outer := inner
		for outer.Via != nil && outer != c {
			outer = outer.Via
		}
		if outer == c {
			scripts = append(scripts, s.scriptsOf(script, inner)...)
		}
	}
	for _, p := range scripts {
		bound := false
		for f := range r.files {
			real, err := s.e.follow(s.memo, s.e.fromRoot(f))
			bound = bound || err == nil && real == p
		}
		if !bound {
			return false
		}
	}
	return s.e.filesHold(r)
}

// maxScript bounds what is hashed of a script.
const maxScript = 16 << 20

func hashFile(p string) (string, error) {
	info, err := os.Stat(p)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > maxScript {
		return "", os.ErrInvalid
	}
	f, err := os.Open(p)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// scriptFiles are the files inside the root that the call's commands run, where
// they really lie: an interpreter's script, or a command named by its path.
func (s *situation) scriptFiles() []string {
	var out []string
	s.commands(func(script *shellscan.Script, c *shellscan.Command) bool {
		for _, p := range s.scriptsOf(script, c) {
			if !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
		return true
	})
	return out
}

// scriptsOf are those of one simple command.
func (s *situation) scriptsOf(script *shellscan.Script, c *shellscan.Command) (out []string) {
	words := c.Likely()
	if len(words) == 0 {
		return nil
	}
	candidates := words[:1]
	if name := c.Program(); shellscan.Interprets(name) || name == "source" || name == "." {
		candidates = words
	} else if !strings.Contains(words[0].Text, "/") {
		return nil
	}
	for _, w := range candidates {
		for _, p := range script.Paths(c, w) {
			info, err := os.Stat(p)
			if err != nil || !info.Mode().IsRegular() || !s.e.inside(s.memo, p) {
				continue
			}
			if real, err := s.e.follow(s.memo, p); err == nil {
				out = append(out, real)
			}
		}
	}
	return out
}

// keys name what a call would do, so that another way to the same thing is known.
func (s *situation) keys() []string {
	var out []string
	add := func(key string, list []target) {
		for _, t := range list {
			for _, sp := range t.spellings {
				out = append(out, key+sp.abs)
			}
		}
	}
	add(keyRead, s.reads)
	add(keyWrite, s.writes)
	for _, h := range s.plan.Effects.Hosts {
		out = append(out, "host "+strings.ToLower(h))
	}
	s.commands(func(script *shellscan.Script, c *shellscan.Command) bool {
		if len(c.Words) > 0 {
			out = append(out, "command "+show(c))
		}
		// A command may name the file as any of its words, and write what it names.
		reads := script.ReadOnly(c) == ""
		for _, w := range c.Likely()[min(1, len(c.Likely())):] {
			for _, p := range script.Paths(c, w) {
				out = append(out, keyRead+path.Clean(p))
				if !reads {
					out = append(out, keyWrite+path.Clean(p))
				}
			}
		}
		return true
	})
	if s.class == tool.ClassInput {
		out = append(out, "input "+s.req.Tool+" "+string(s.req.Input))
	}
	return out
}

// remember keeps a denial for the turn: the files, hosts and commands it was for.
func (e *Engine) remember(s *situation, d *tool.Decision) {
	if d.By == byPlan {
		return // it denies again by itself, and must not outlive the mode
	}
	add := map[string]denial{}
	put := func(key, what string) { add[key] = denial{what: what, by: d.By, reason: d.Reason} }
	for _, t := range s.writes {
		for _, sp := range t.spellings {
			put(keyWrite+sp.abs, t.shown)
		}
	}
	for _, t := range s.reads {
		for _, sp := range t.spellings {
			put(keyRead+sp.abs, t.shown)
			put(keyWrite+sp.abs, t.shown)
		}
	}
	for _, h := range s.plan.Effects.Hosts {
		put("host "+strings.ToLower(h), h)
	}
	s.commands(func(script *shellscan.Script, c *shellscan.Command) bool {
		if len(c.Words) > 0 && (c.Via != nil || script.ReadOnly(c) != "") {
			if _, covered := s.coveredCommand(script, c); !covered {
				put("command "+show(c), show(c))
			}
		}
		return true
	})
	if s.class == tool.ClassInput {
		put("input "+s.req.Tool+" "+string(s.req.Input), s.req.Tool)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	denied := maps.Clone(e.denied) // decisions under way read the old map
	maps.Copy(denied, add)
	e.denied = denied
}

// forget takes back the denials of what a person has now allowed.
func (e *Engine) forget(s *situation) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.denied) == 0 {
		return
	}
	denied := maps.Clone(e.denied)
	for _, key := range s.keys() {
		delete(denied, key)
	}
	e.denied = denied
}

// fieldIs compares a scalar field of the input.
func fieldIs(input json.RawMessage, field, want string) bool {
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) != nil {
		return false
	}
	raw, ok := fields[field]
	if !ok {
		return false
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text == want
	}
	return string(raw) == want
}
