package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// query is one search, as grep's input and as ripgrep's arguments.
type query struct {
	name, pattern, mode string
	fold                bool
}

// queries are rare and frequent, with each kind of pattern. Names are spelled out,
// as \w is any alphabet's letter for ripgrep.
func queries() []query {
	const name = "[0-9A-Za-z_]+"
	return []query{
		{"literal, rare", "ErrUnexpectedEOF", "content", false},
		{"literal, frequent", "return", "content", false},
		{"captures, rare", `func \((` + name + `) \*(Root)\) (` + name + `)\(`, "content", false},
		{"captures, frequent", `func \((` + name + `) \*?(` + name + `)\) (` + name + `)\(`, "content", false},
		{"any case, rare", "errunexpectedeof", "content", true},
		{"any case, frequent", "error", "files", true},
	}
}

func (q query) input(more string) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"pattern":%q,"mode":%q,"ignore_case":%v%s}`, q.pattern, q.mode, q.fold, more))
}

// ripgrep is the same search by ripgrep: dot files too, and ignore files also
// where there is no repository.
func (q query) ripgrep() []string {
	argv := []string{"rg", "--no-config", "--hidden", "--no-require-git", "--no-heading", "--color=never"}
	switch q.mode {
	case "files":
		argv = append(argv, "-l")
	case "count":
		argv = append(argv, "-c")
	default:
		argv = append(argv, "-n")
	}
	if q.fold {
		argv = append(argv, "-i")
	}
	return append(argv, "-e", q.pattern, "./")
}

// tree is where the searches go, and how much longer than ripgrep one may take.
type tree struct {
	name, dir string
	bar       float64
	rounds    int
}

// trees are Go's own sources, and 100,000 small files.
func (b *bench) trees(ctx context.Context) ([]tree, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("find Go's sources: %w", err)
	}
	source, err := filepath.EvalSymlinks(filepath.Join(strings.TrimSpace(string(out)), "src"))
	if err != nil {
		return nil, fmt.Errorf("find Go's sources: %w", err)
	}
	small := filepath.Join(b.dir, "small")
	return []tree{{"Go", source, 1, max(5, b.runs/2)}, {"small", small, 1.2, max(3, b.runs/4)}}, smallFiles(small)
}

// smallFiles makes 100,000 files of 100 to 1,000 bytes in 2,000 folders.
func smallFiles(dir string) error {
	names := []string{"go", "ts", "md", "json"}
	for i := range 2000 {
		folder := filepath.Join(dir, fmt.Sprintf("part%02d", i/100), fmt.Sprintf("unit%02d", i%100))
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
		for j := range 50 {
			var text []byte
			for line := range 3 + (i+j)%17 {
				text = fmt.Appendf(text, "func f%d_%d_%d() error { return nil }\n", i, j, line)
			}
			if (i*50+j)%997 == 0 {
				text = append(text, "var errShort = io.ErrUnexpectedEOF\n"...)
			}
			if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("file%02d.%s", j, names[j%len(names)])), text, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// search measures grep and glob against ripgrep, and compares what they find.
func (b *bench) search(ctx context.Context) ([]row, error) {
	if _, err := exec.LookPath("rg"); err != nil {
		return nil, fmt.Errorf("make setup installs ripgrep: %w", err)
	}
	trees, err := b.trees(ctx)
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, t := range trees {
		for _, q := range queries() {
			s, err := b.fight(ctx, t.dir, duel{
				Mine: deed{Tool: "grep", Inputs: []json.RawMessage{q.input("")}}, Other: deed{Argv: q.ripgrep()}, Rounds: t.rounds,
			})
			if err != nil {
				return nil, err
			}
			same, err := b.sameMatches(ctx, t, q)
			if err != nil {
				return nil, err
			}
			rows = append(rows, t.row("grep "+t.name+", "+q.name, t.bar, s, same))
		}
		r, err := b.glob(ctx, t)
		if err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// row judges a duel by the quickest rounds of both. differ says what differs in
// what they found, and is empty when nothing does.
func (t tree) row(name string, bar float64, s *score, differ string) row {
	ratio := s.least().Seconds() / s.against().Seconds()
	r := row{name, ms(s.least()), fmt.Sprintf("%.1f × ripgrep", bar), fmt.Sprintf("%s (%.2f ×, at best)", ms(s.against()), ratio), ratio <= bar}
	if differ != "" {
		r.reference, r.ok = r.reference+"; "+differ, false
	}
	return r
}

func (b *bench) glob(ctx context.Context, t tree) (row, error) {
	s, err := b.fight(ctx, t.dir, duel{
		Mine:   deed{Tool: "glob", Inputs: []json.RawMessage{json.RawMessage(`{"pattern":"**/*.go","limit":1000}`)}},
		Other:  deed{Argv: []string{"rg", "--no-config", "--hidden", "--no-require-git", "--files", "-g", "**/*.go"}},
		Rounds: t.rounds,
	})
	if err != nil {
		return row{}, err
	}
	theirs := strings.Split(strings.TrimSpace(s.OtherSaid), "\n")
	differ := ""
	for name := range strings.SplitSeq(s.MineSaid, "\n") {
		if !strings.HasPrefix(name, "[") && !slices.Contains(theirs, name) {
			differ = "only glob lists " + name
		}
	}
	if said := fmt.Sprintf("newest of %d;", len(theirs)); len(theirs) > 1000 && !strings.Contains(s.MineSaid, said) {
		differ = fmt.Sprintf("glob does not say %q, the number that ripgrep lists", said)
	}
	return t.row("glob "+t.name+", **/*.go", 1, s, differ), nil
}

// sameMatches compares the matching lines of each file. Files that may not be
// read are not compared; grep must say of each that it may not.
func (b *bench) sameMatches(ctx context.Context, t tree, q query) (differ string, err error) {
	q.mode = "count"
	cmd := exec.CommandContext(ctx, q.ripgrep()[0], q.ripgrep()[1:]...)
	cmd.Dir = t.dir
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return "", err
	}
	theirs := countsOf(string(out), "./")
	if len(theirs) > mostCompared {
		return b.sameSums(ctx, t, q, theirs)
	}
	var pages []json.RawMessage
	for offset := 0; offset <= len(theirs); offset += 500 {
		pages = append(pages, q.input(fmt.Sprintf(`,"limit":500,"offset":%d`, offset)))
	}
	s, err := b.fight(ctx, t.dir, duel{
		Mine: deed{Tool: "grep", Inputs: pages}, Other: deed{Argv: []string{"true"}}, Rounds: len(pages) - 1, All: true,
	})
	if err != nil {
		return "", err
	}
	mine := countsOf(s.MineSaid, "")
	for name, n := range mine {
		if theirs[name] != n {
			return fmt.Sprintf("%s: %d lines, ripgrep %d", name, n, theirs[name]), nil
		}
	}
	for name := range theirs {
		if _, ok := mine[name]; ok {
			continue
		}
		if _, err := b.fight(ctx, t.dir, duel{
			Mine:  deed{Tool: "grep", Inputs: []json.RawMessage{q.input(fmt.Sprintf(`,"path":%q`, name))}},
			Other: deed{Argv: []string{"true"}},
		}); err == nil || !strings.Contains(err.Error(), "may not be read") {
			return "only ripgrep finds " + name, nil
		}
	}
	return "", nil
}

// mostCompared is how many files with matches are compared one by one: each page of
// them is a search of its own.
const mostCompared = 10_000

// sameSums compares how many lines match in how many files.
func (b *bench) sameSums(ctx context.Context, t tree, q query, theirs map[string]int) (differ string, err error) {
	sum := 0
	for _, n := range theirs {
		sum += n
	}
	s, err := b.fight(ctx, t.dir, duel{Mine: deed{Tool: "grep", Inputs: []json.RawMessage{q.input("")}}, Other: deed{Argv: []string{"true"}}})
	if err != nil {
		return "", err
	}
	if want := fmt.Sprintf("[%d matching lines in %d files", sum, len(theirs)); !strings.Contains(s.MineSaid, want) {
		last := s.MineSaid[strings.LastIndexByte(strings.TrimSpace(s.MineSaid), '\n')+1:]
		return fmt.Sprintf("ripgrep has %s], grep %s", want, last), nil
	}
	return "", nil
}

// countsOf reads lines of "path:count".
func countsOf(text, prefix string) map[string]int {
	out := map[string]int{}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		at := strings.LastIndexByte(line, ':')
		if at < 0 || strings.HasPrefix(line, "[") {
			continue
		}
		if n, err := strconv.Atoi(line[at+1:]); err == nil {
			out[strings.TrimPrefix(line[:at], prefix)] = n
		}
	}
	return out
}
