package script_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// replayAfter holds that every session which a script leaves can be replayed: with the
// same conversation, calls and ends, and the same requests byte for byte.
func replayAfter(env *testscript.Env) {
	env.Defer(func() {
		for root, journals := range journalsBelow(env.T(), env.WorkDir) {
			replayIn(env, root, journals)
		}
	})
}

// journalsBelow finds the sessions of each folder below dir.
func journalsBelow(t testscript.T, dir string) map[string][]string {
	found := map[string][]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return fs.SkipDir // a folder that the script closed
		}
		folder := filepath.Dir(path)
		if !d.IsDir() && filepath.Ext(path) == ".jsonl" && filepath.Base(folder) == "sessions" {
			root := filepath.Dir(filepath.Dir(folder))
			found[root] = append(found[root], strings.TrimSuffix(filepath.Base(path), ".jsonl"))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func replayIn(env *testscript.Env, root string, journals []string) {
	t := env.T()
	cmd := exec.Command(binary, append([]string{"replay", "--json", "--cwd", root}, journals...)...)
	cmd.Env = env.Vars
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	dec := json.NewDecoder(bytes.NewReader(out))
	for n := 0; ; n++ {
		var report struct {
			Session, Verdict  string
			Turns, Uncompared int
			Notes             []string
			Differences       []map[string]any
		}
		if err := dec.Decode(&report); errors.Is(err, io.EOF) {
			if n != len(journals) {
				t.Fatal("garuda replay told of ", n, " of ", len(journals), " sessions in ", root, ": ", errs.String())
			}
			return
		} else if err != nil {
			t.Fatal(err, ": ", string(out), errs.String())
		}
		t.Log("replayed ", report.Session, ": ", report.Verdict, " ", report.Turns, " turns ", strings.Join(report.Notes, "; "))
		if report.Verdict == "different" {
			t.Fatal("session ", report.Session, " in ", root, " was not replayed as recorded: ", report.Differences, report.Notes)
		}
	}
}
