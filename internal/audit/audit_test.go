package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/core"
)

func options(t testing.TB) Options {
	t.Helper()
	return Options{Home: t.TempDir(), Root: "/srv/my project", Level: LevelAll, Checkpoint: true, Clock: core.SystemClock}
}

func line(tool string) Line {
	return Line{ID: "c1", Tool: tool, Target: "a.txt", Decision: AllowRule, Allowed: true, Risk: Medium}
}

// filled makes a log of n lines and gives its path.
func filled(t testing.TB, o Options, n int) string {
	t.Helper()
	l := New(o)
	defer l.Close()
	for i := range n {
		if err := l.Append(line("tool" + strconv.Itoa(i))); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(l.path, l.name)
}

func verify(t testing.TB, o Options) *Report {
	t.Helper()
	r, err := Open(o.Home, o.Root)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	report, err := r.Verify()
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestLines(t *testing.T) {
	o := options(t)
	o.Redact = func(s string) string { return strings.ReplaceAll(s, "hunter2", "[redacted]") }
	l := New(o)
	defer l.Close()
	sent := Line{ID: "call_1", SessionID: "s", Tool: "bash", Target: "echo hunter2 <&>\u2028\xff", Reason: "hunter2", Decision: AllowUser, Allowed: true, Risk: High, UserChoice: "once"}
	if err := l.Append(sent); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(l.path, l.name))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(data), "hunter2") {
		t.Errorf("a secret was written: %s", data)
	}
	var m map[string]any
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"v": 1.0, "id": "call_1", "timestamp": m["timestamp"], "sessionId": "s", "tool": "bash", "target": "echo [redacted] <&>\u2028\ufffd",
		"reason": "[redacted]", "decision": "allow_user", "allowed": true, "risk": "high", "userChoice": "once",
		"seq": 1.0, "prev": strings.Repeat("0", 64), "hash": m["hash"],
	}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Error(diff)
	}
	for path, want := range map[string]os.FileMode{
		l.path: 0o700, filepath.Join(l.path, l.name): 0o600,
		filepath.Join(l.path, checkpointsName, l.name+".json"): 0o600,
	} {
		info, err := os.Stat(path)
		if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != want {
			t.Errorf("%s: %v %v", path, info.Mode(), err)
		}
	}
}

func TestFolder(t *testing.T) {
	for root, want := range map[string]string{
		"/srv/my project": "my_project-", "/": "_-", "/a/..b": "b-", "/x/" + strings.Repeat("é", 90): strings.Repeat("_", 60) + "-",
	} {
		got := filepath.Base(Folder("/h", root))
		if !strings.HasPrefix(got, want) || len(got) != len(want)+8 {
			t.Errorf("%s: %s", root, got)
		}
	}
	if Folder("/h", "/a/p") == Folder("/h", "/b/p") {
		t.Error("two projects of one name share a folder")
	}
}

func TestNothingIsMadeBeforeTheFirstLine(t *testing.T) {
	o := options(t)
	New(o).Close()
	if entries, _ := os.ReadDir(o.Home); len(entries) > 0 {
		t.Error(entries)
	}
	if got := verify(t, o); !got.OK() || got.Files != 0 || len(got.Notes) > 0 {
		t.Errorf("%+v", got)
	}
}

// TestTampering: each kind of change is found, and what is no proof is only noted.
func TestTampering(t *testing.T) {
	lines := func(data []byte) [][]byte {
		return bytes.SplitAfter(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
	}
	edit := func(f func([][]byte) [][]byte) func(*testing.T, string, string) {
		return func(t *testing.T, log, _ string) {
			data, err := os.ReadFile(log)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(log, bytes.Join(f(lines(data)), nil), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	mark := func(text string) func(*testing.T, string, string) {
		return func(t *testing.T, _, checkpoint string) {
			if err := os.WriteFile(checkpoint, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, tt := range []struct {
		name         string
		do           func(t *testing.T, log, checkpoint string)
		broken, note string
	}{
		{"nothing", func(*testing.T, string, string) {}, "", ""},
		{"a word changed", edit(func(l [][]byte) [][]byte { l[2] = bytes.Replace(l[2], []byte("a.txt"), []byte("b.txt"), 1); return l }), "line 3: the line is not what was written", ""},
		{"a member added", edit(func(l [][]byte) [][]byte {
			l[2] = bytes.Replace(l[2], []byte(`"tool"`), []byte(`"x":1,"tool"`), 1)
			return l
		}), "line 3", ""},
		{"a hash of its own", edit(func(l [][]byte) [][]byte {
			got, err := decode(bytes.TrimSpace(l[2]))
			if err != nil {
				t.Fatal(err)
			}
			got.Target = "b.txt"
			l[2], _ = got.encode()
			return l
		}), "line 4: it does not follow", ""},
		{"the last one with a hash of its own", edit(func(l [][]byte) [][]byte {
			got, err := decode(bytes.TrimSpace(l[4]))
			if err != nil {
				t.Fatal(err)
			}
			got.Target = "b.txt"
			l[4], _ = got.encode()
			return l
		}), "line 5: it is not the line that the checkpoint knows", ""},
		{"one removed", edit(func(l [][]byte) [][]byte { return append(l[:1:1], l[2:]...) }), "line 2: it does not follow", ""},
		{"the first removed", edit(func(l [][]byte) [][]byte { return l[1:] }), "line 1: it does not follow", ""},
		{"one twice", edit(func(l [][]byte) [][]byte { return append(l[:2:2], l[1:]...) }), "line 3: it does not follow", ""},
		{"two exchanged", edit(func(l [][]byte) [][]byte { l[1], l[2] = l[2], l[1]; return l }), "line 2: it does not follow", ""},
		{"garbage", edit(func(l [][]byte) [][]byte { l[2] = []byte("x\n"); return l }), "line 3: the line is not", ""},
		{"an empty line", edit(func(l [][]byte) [][]byte { l[2] = append(l[2], '\n'); return l }), "line 4: the line is not", ""},
		{"a huge line", edit(func(l [][]byte) [][]byte { l[2] = append(bytes.Repeat([]byte("x"), 1<<20), '\n'); return l }), "longer than any", ""},
		{"the end cut", edit(func(l [][]byte) [][]byte { return l[:3] }), "its checkpoint knows line 5", ""},
		{"all cut", edit(func([][]byte) [][]byte { return nil }), "its checkpoint knows line 5", ""},
		{"the last one torn", edit(func(l [][]byte) [][]byte { l[4] = l[4][:9]; return l }), "its checkpoint knows line 5", ""},
		{"one more, torn", edit(func(l [][]byte) [][]byte { return append(l, []byte("\n"), []byte(`{"v":1,"id`)) }), "", "cut off, as by a crash"},
		{"the log gone", func(t *testing.T, log, _ string) {
			if err := os.Remove(log); err != nil {
				t.Fatal(err)
			}
		}, "the log is gone", ""},
		{"the checkpoint gone", func(t *testing.T, _, checkpoint string) {
			if err := os.Remove(checkpoint); err != nil {
				t.Fatal(err)
			}
		}, "", "has no checkpoint"},
		{"both emptied", func(t *testing.T, log, checkpoint string) {
			if err := errors.Join(os.Truncate(log, 0), os.Remove(checkpoint)); err != nil {
				t.Fatal(err)
			}
		}, "", "is empty and has no checkpoint"},
		{"a checkpoint that is none", mark("{"), "its checkpoint cannot be read", ""},
		{"an empty checkpoint", mark(""), "its checkpoint cannot be read", ""},
		{"a checkpoint of nothing", mark(`{"seq":0,"hash":""}`), "its checkpoint cannot be read", ""},
		{"a checkpoint before the end", nil, "", ""},
		{"a folder for a log", func(t *testing.T, log, _ string) {
			if err := errors.Join(os.Remove(log), os.Mkdir(log, 0o700)); err != nil {
				t.Fatal(err)
			}
		}, "not a regular file", ""},
		{"a link for a log", func(t *testing.T, log, _ string) {
			if err := errors.Join(os.Rename(log, log+"x"), os.Symlink(log+"x", log)); err != nil {
				t.Skip(err)
			}
		}, "not a regular file", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := options(t)
			log := filled(t, o, 5)
			if tt.do == nil { // kill -9 between a line and its checkpoint
				tt.do = func(t *testing.T, log, checkpoint string) {
					data, err := os.ReadFile(log)
					if err != nil {
						t.Fatal(err)
					}
					l, err := decode(bytes.TrimSpace(lines(data)[3]))
					if err != nil {
						t.Fatal(err)
					}
					mark(fmt.Sprintf(`{"seq":4,"hash":%q}`, l.Hash))(t, log, checkpoint)
				}
			}
			tt.do(t, log, filepath.Join(filepath.Dir(log), checkpointsName, filepath.Base(log)+".json"))
			got := verify(t, o)
			check := func(what string, list []string, want string) {
				t.Helper()
				if all := strings.Join(list, "\n"); (want == "") != (all == "") || !strings.Contains(all, want) {
					t.Errorf("%s: %q, want %q", what, all, want)
				}
			}
			check("broken", got.Broken, tt.broken)
			check("notes", got.Notes, tt.note)
		})
	}
}

// TestUnreadableIsNotEmpty: what cannot be listed is an error and never an empty log.
func TestUnreadableIsNotEmpty(t *testing.T) {
	o := options(t)
	if err := os.MkdirAll(filepath.Dir(Folder(o.Home, o.Root)), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(Folder(o.Home, o.Root), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(o.Home, o.Root); err == nil {
		t.Error("a file in place of the folder was taken for no log")
	}
	if err := New(o).Append(line("x")); err == nil {
		t.Error("a line was written into a file in place of the folder")
	}
}

func TestRemovedFoldersAreMadeAgain(t *testing.T) {
	o := options(t)
	l := New(o)
	defer l.Close()
	for _, remove := range []string{"", l.path, filepath.Join(l.path, checkpointsName)} {
		if remove != "" {
			if err := os.RemoveAll(remove); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			if err := l.Append(line("x")); err != nil {
				t.Fatalf("after %q was removed: %v", remove, err)
			}
		}
	}
	if got := verify(t, o); !got.OK() || got.Lines != 4 || len(got.Notes) > 0 {
		t.Errorf("%+v", got)
	}
	// A folder that is moved away takes no checkpoint with it.
	moved := filepath.Join(t.TempDir(), "moved")
	if err := os.Rename(filepath.Join(l.path, checkpointsName), moved); err != nil {
		t.Fatal(err)
	}
	if err := l.Append(line("x")); err != nil {
		t.Fatal(err)
	}
	if got := verify(t, o); !got.OK() || got.Lines != 5 || len(got.Notes) > 0 {
		t.Errorf("%+v", got)
	}
	if err := os.Remove(filepath.Join(l.path, l.name)); err != nil {
		t.Fatal(err)
	}
	if err := l.Append(line("x")); err != nil {
		t.Fatal(err)
	}
	if got := verify(t, o); got.OK() || !strings.Contains(got.Broken[0], "the log is gone") {
		t.Errorf("a removed file does not show: %+v", got)
	}
}

// TestFailedCheckpoint: the chain goes on, and the next checkpoint covers what was missed.
func TestFailedCheckpoint(t *testing.T) {
	o := options(t)
	l := New(o)
	defer l.Close()
	if err := l.Append(line("x")); err != nil {
		t.Fatal(err)
	}
	blocked := filepath.Join(l.path, checkpointsName, l.name+".json")
	if err := errors.Join(os.Remove(blocked), os.MkdirAll(filepath.Join(blocked, "x"), 0o700)); err != nil {
		t.Fatal(err)
	}
	var failed *CheckpointError
	if err := l.Append(line("x")); !errors.As(err, &failed) || !strings.HasPrefix(err.Error(), "the line was written, but its checkpoint could not be written") {
		t.Fatal(err)
	}
	if err := os.RemoveAll(blocked); err != nil {
		t.Fatal(err)
	}
	if err := l.Append(line("x")); err != nil {
		t.Fatal(err)
	}
	if got := verify(t, o); !got.OK() || got.Lines != 3 || len(got.Notes) > 0 {
		t.Errorf("%+v", got)
	}
}

func TestLevels(t *testing.T) {
	all := []Line{
		{Tool: "read", Decision: AllowReadOnly, Allowed: true, Risk: Low},
		{Tool: "write", Decision: AllowRule, Allowed: true, Risk: Medium},
		{Tool: "no", Decision: DenyRule, Risk: High},
		{Tool: "done", Decision: Executed, Allowed: true, Risk: Low},
		{Tool: "failed", Decision: Error, Allowed: true, IsError: true, Risk: Medium},
	}
	for level, want := range map[Level][]string{
		LevelAll: {"read", "write", "no", "done", "failed"}, LevelMutations: {"write", "no", "failed"}, LevelDenials: {"no", "failed"},
	} {
		o := options(t)
		o.Level = level
		l := New(o)
		for _, one := range all {
			if err := l.Append(one); err != nil {
				t.Fatal(err)
			}
		}
		l.Close()
		r, err := Open(o.Home, o.Root)
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.Last(100, nil)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, one := range got {
			names = append(names, one.Tool)
		}
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("%s: %s", level, diff)
		}
		if none, err := r.Last(0, nil); err != nil || len(none) > 0 {
			t.Errorf("the newest 0 lines: %v %v", none, err)
		}
		r.Close()
	}
}

// TestDecided: every word of the decision table has its own, and an unknown one
// never shows as less than it is.
func TestDecided(t *testing.T) {
	for by, want := range map[string][2]Decision{
		"read_only": {AllowReadOnly, DenyPolicy}, "session_state": {AllowSessionState, DenyPolicy}, "sandbox": {AllowSandbox, DenyPolicy},
		"rule": {AllowRule, DenyRule}, "session": {AllowSession, DenyPolicy}, "accept_edits": {AllowEdit, DenyPolicy}, "yolo": {AllowYolo, DenyPolicy},
		"hook": {AllowHook, DenyHook}, "user": {AllowUser, DenyUser}, "policy": {AllowUser, DenyPolicy}, "guard": {AllowUser, DenyGuard},
		"sensitive": {AllowUser, DenySensitive}, "protected": {AllowUser, DenyProtected}, "plan": {AllowUser, DenyPlan},
		"denied_before": {AllowUser, DenyAsk}, "repeat": {AllowUser, DenyRepeat}, "unreadable": {AllowUser, DenyAsk},
		"unattended": {AllowUser, DenyUnattended}, "budget": {AllowUser, DenyBudget}, "novel": {AllowUser, DenyPolicy}, "": {AllowUser, DenyPolicy},
	} {
		if got := [2]Decision{Decided(true, by), Decided(false, by)}; got != want {
			t.Errorf("%s: %v, want %v", by, got, want)
		}
	}
	for _, d := range Decisions() {
		if strings.HasPrefix(string(d), "deny") && d.Risk() == Low {
			t.Errorf("%s is of low risk", d)
		}
	}
	if Low.AtLeast(High) != High || Critical.AtLeast(High) != Critical || Medium.AtLeast(Low) != Medium {
		t.Error("risks are not raised as they should be")
	}
}

func TestStatsAndExport(t *testing.T) {
	o := options(t)
	l := New(o)
	for _, one := range []Line{
		line("bash"), {Tool: "bash", Decision: Executed, Allowed: true, Risk: Low}, {Tool: "bash", Decision: DenyUser, Risk: High},
		{Tool: "glob", Decision: Error, Allowed: true, IsError: true, Risk: Medium},
	} {
		if err := l.Append(one); err != nil {
			t.Fatal(err)
		}
	}
	l.Close()
	r, err := Open(o.Home, o.Root)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s, err := r.Stats()
	if err != nil {
		t.Fatal(err)
	}
	s.First, s.Last = "", ""
	want := &Stats{
		Files: 1, Lines: 4, Allowed: 1, Denied: 1, Failed: 1, Tools: map[string]int{"bash": 2},
		Decisions: map[Decision]int{AllowRule: 1, Executed: 1, DenyUser: 1, Error: 1}, Risks: map[Risk]int{Low: 1, Medium: 2, High: 1},
	}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Error(diff)
	}
	var b bytes.Buffer
	if err := r.Export(&b); err != nil || strings.Count(b.String(), "\n") != 4 || !strings.HasPrefix(b.String(), `{"file":"`) {
		t.Errorf("%s %v", &b, err)
	}
	if err := r.Export(failingWriter{}); err == nil {
		t.Error("a failed export was not told of")
	}
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("no") }

// TestManyWriters: goroutines share a log, processes have one each.
func TestManyWriters(t *testing.T) {
	if home := os.Getenv("AUDIT_TEST_HOME"); home != "" {
		o := options(t)
		o.Home = home
		filled(t, o, 100)
		return
	}
	o := options(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			cmd := exec.Command(os.Args[0], "-test.run=^TestManyWriters$")
			cmd.Env = append(os.Environ(), "AUDIT_TEST_HOME="+o.Home)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	l := New(o)
	for range 8 {
		wg.Go(func() {
			for range 100 {
				if err := l.Append(line("x")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	l.Close()
	if got := verify(t, o); !got.OK() || got.Files != 9 || got.Lines != 1600 || len(got.Notes) > 0 {
		t.Errorf("%+v", got)
	}
}

// TestVerifyWhileItIsWritten: a log that others write just now, and one that they
// begin, is whole.
func TestVerifyWhileItIsWritten(t *testing.T) {
	o := options(t)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for _, many := range []struct{ logs, lines int }{{100, 1}, {1, 1_000_000}} { // new ones, and always the same
		wg.Go(func() {
			for range many.logs {
				l := New(o)
				for range many.lines {
					select {
					case <-stop:
						l.Close()
						return
					default:
					}
					if err := l.Append(line("x")); err != nil {
						t.Error(err)
						return
					}
				}
				l.Close()
			}
		})
	}
	for range 15 {
		got := verify(t, o)
		for _, note := range got.Notes { // a line may be there before its checkpoint
			if !strings.HasSuffix(note, "has no checkpoint: lines that were cut from its end would not show") {
				t.Error(note)
			}
		}
		if !got.OK() {
			t.Fatalf("%+v", got.Broken)
		}
	}
	close(stop)
	wg.Wait()
	if got := verify(t, o); !got.OK() || len(got.Notes) > 0 {
		t.Errorf("%+v %+v", got.Broken, got.Notes)
	}
}

// TestHalfALine: where the disk takes half a line, the log holds none of it.
func TestHalfALine(t *testing.T) {
	o := options(t)
	l := New(o)
	defer l.Close()
	if err := l.Append(line("x")); err != nil {
		t.Fatal(err)
	}
	// A file opened for reading only stands for a disk that takes nothing more.
	name := filepath.Join(l.path, l.name)
	whole := l.file
	var err error
	if l.file, err = os.Open(name); err != nil {
		t.Fatal(err)
	}
	if err := l.Append(line("x")); err == nil {
		t.Fatal("a line that was not written went unnoticed")
	}
	if err := whole.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := l.Append(line("x")); err != nil {
			t.Fatal(err)
		}
	}
	if got := verify(t, o); !got.OK() || got.Lines != 3 {
		t.Errorf("%+v", got)
	}
}

func TestALineOfANewerVersion(t *testing.T) {
	body := []byte(`{"v":2,"id":"x","tool":"t","seq":1,"prev":"` + firstPrev + `"}`)
	raw := []byte(string(body[:len(body)-1]) + hashMark + hashOf(body) + `"}`)
	if _, err := decode(raw); err == nil || !strings.Contains(err.Error(), "version 2") {
		t.Error(err)
	}
}

func FuzzDecode(f *testing.F) {
	one := line("x")
	one.Prev, one.Seq = firstPrev, 1
	raw, err := one.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(bytes.TrimSuffix(raw, []byte("\n")))
	f.Add([]byte(`{,"hash":""}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		l, err := decode(raw)
		if err != nil {
			return
		}
		// Whoever finds bytes with a good hash has written a line by the rules.
		if l.Hash == "" || l.V > Version {
			t.Fatalf("%+v", l)
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	for _, mandatory := range []bool{false, true} {
		b.Run(map[bool]string{false: "plain", true: "fsync"}[mandatory], func(b *testing.B) {
			o := options(b)
			o.Mandatory = mandatory
			l := New(o)
			defer l.Close()
			for b.Loop() {
				if err := l.Append(line("bash")); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
