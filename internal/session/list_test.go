package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"garuda/internal/core"
)

// threeSessions makes sessions an hour apart; the first is long.
func threeSessions(t testing.TB) (*fixture, []string) {
	t.Helper()
	f := newFixture(t)
	ids := []string{"20260101-100000-aaaa", "20260101-110000-bbbb", "20260102-110000-cccc"}
	var long []Record
	for n := range 300 {
		long = append(long, turn(n)...)
	}
	f.write(t, ids[0], append(long, &Title{Title: "The long one"})...)
	f.write(t, ids[1], append([]Record{user("Fix the\n\x1b[31mtest " + strings.Repeat("x", 100))}, turn(1)...)...)
	f.write(t, ids[2], user("hello"))
	for i, id := range ids {
		at := time.Date(2026, 1, 1, 10+i, 0, 0, 0, time.UTC)
		if err := os.Chtimes(f.path(id), at, at); err != nil {
			t.Fatal(err)
		}
	}
	return f, ids
}

func TestList(t *testing.T) {
	f, ids := threeSessions(t)
	// A child's journal never counts.
	if err := os.WriteFile(filepath.Join(f.root, ".garuda", "sessions", ids[0], "child.jsonl"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	want := []Info{
		{ID: ids[2], Prompt: "hello", Turns: 1, Model: "anthropic/a"},
		{ID: ids[1], Prompt: "Fix the [31mtest " + strings.Repeat("x", 43), Turns: 2, Model: "anthropic/a", Cost: core.Cost{USD: 1, Known: true}},
		{ID: ids[0], Title: "The long one", Prompt: "prompt 0", Turns: 300, Model: "anthropic/a", Cost: core.Cost{USD: 300, Known: true}},
	}
	check := func(when string) {
		t.Helper()
		list, err := f.List(0)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, list, cmpopts.IgnoreFields(Info{}, "Time", "Size")); d != "" {
			t.Errorf("%s: %s", when, d)
		}
		if !list[0].Time.Equal(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)) {
			t.Errorf("%s: %v", when, list[0].Time)
		}
	}
	check("scanned")
	index := filepath.Join(f.root, ".garuda", "sessions", indexName)
	if err := os.WriteFile(index, []byte(strings.Replace(read(t, index), "prompt 0", "cached 0", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	want[2].Prompt = "cached 0"
	check("from the index")
	want[2].Prompt = "prompt 0"
	if err := os.WriteFile(index, []byte("{broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	check("with a broken index")

	if limited, err := f.List(1); err != nil || len(limited) != 1 || limited[0].ID != ids[2] {
		t.Errorf("%v %v", limited, err)
	}
	latest, err := f.Latest()
	if err != nil || latest.ID != ids[2] {
		t.Errorf("%v %v", latest, err)
	}
}

func TestScanAfterACrashInALongTurn(t *testing.T) {
	f := newFixture(t)
	var recs []Record
	for n := range 300 {
		recs = append(recs, turn(n)[:4]...)
	}
	f.write(t, testID, recs...)
	if info, err := f.Latest(); err != nil || info.Turns != 300 || info.Prompt != "prompt 0" {
		t.Errorf("%+v %v", info, err)
	}
}

func TestEmpty(t *testing.T) {
	f := newFixture(t)
	if list, err := f.List(0); err != nil || len(list) != 0 {
		t.Errorf("%v %v", list, err)
	}
	if _, err := f.Latest(); !errors.Is(err, ErrNotFound) {
		t.Errorf("%v", err)
	}
}

func TestFind(t *testing.T) {
	f, ids := threeSessions(t)
	for ref, want := range map[string]string{
		ids[0]: ids[0], "20260102": ids[2], "20260101-11": ids[1], "the LONG one": ids[0], "1": ids[2], " 3 ": ids[0],
	} {
		if got, err := f.Find(ref); err != nil || got.ID != want {
			t.Errorf("%q: %v %v", ref, got.ID, err)
		}
	}
	for _, ref := range []string{"../x", "../" + ids[0], "", "4", "0", "nothing", "sessions/../" + ids[0]} {
		if got, err := f.Find(ref); !errors.Is(err, ErrNotFound) {
			t.Errorf("%q: %v %v", ref, got.ID, err)
		}
	}
	var ambiguous *AmbiguousError
	if _, err := f.Find("20260101"); !errors.As(err, &ambiguous) || len(ambiguous.IDs) != 2 {
		t.Errorf("%v", err)
	}
}

func TestRename(t *testing.T) {
	f, ids := threeSessions(t)
	before, err := os.Stat(f.path(ids[1]))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Rename(ids[1], "  Two\nlines "+strings.Repeat("é", 80)); err != nil {
		t.Fatal(err)
	}
	list, err := f.List(0)
	if err != nil {
		t.Fatal(err)
	}
	if want := "Two lines " + strings.Repeat("é", 50); list[1].ID != ids[1] || list[1].Title != want || !list[1].Time.Equal(before.ModTime()) {
		t.Errorf("%+v", list[1])
	}
	if err := f.Rename(ids[1], " \n"); err == nil {
		t.Error("an empty title was taken")
	}
}

func TestDelete(t *testing.T) {
	f, ids := threeSessions(t)
	if err := os.WriteFile(f.path(ids[0])+".torn-7", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Delete(ids[0]); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(f.root, ".garuda", "sessions", ids[0]+"*"))
	if err != nil || len(left) != 0 {
		t.Errorf("%v %v", left, err)
	}
	if _, err := f.Load(ids[0]); !errors.Is(err, ErrNotFound) {
		t.Errorf("%v", err)
	}
	if err := f.Delete(ids[0]); !errors.Is(err, ErrNotFound) {
		t.Errorf("%v", err)
	}
	if list, err := f.List(0); err != nil || len(list) != 2 {
		t.Errorf("%v %v", list, err)
	}
}

func TestExport(t *testing.T) {
	f := newFixture(t)
	failed := results("a")
	failed.Message.Blocks[0].IsError = true
	attached := &core.Message{Role: core.RoleUser, Blocks: []core.Block{core.Text("look at *this*"), {Type: core.BlockText, Text: "file text", Note: "attachment"}}}
	f.write(t, testID, &User{Message: attached}, answer(think("private"), core.Text("I look."), call("a")), failed,
		answer(core.Text("Done.\n\n```go\nx\n```")), &End{StopReason: core.EndMaxSteps})
	h := f.load(t, testID)
	if err := ExportFile(f.dir, "garuda.md", h); err != nil {
		t.Fatal(err)
	}
	const want = "# look at \\*this\\*\n\nSession 20260101-120000-abcd · anthropic/a · 1 turns\n" +
		"\n## You\n\nlook at *this*\n\n*Attached: attachment.*\n" +
		"\n## Garuda\n\nI look.\n\n- `read_file` a.go (failed)\n" +
		"\n## Garuda\n\nDone.\n\n```go\nx\n```\n\n*Stopped: max_steps.*\n"
	if d := cmp.Diff(want, read(t, filepath.Join(f.root, "garuda.md"))); d != "" {
		t.Error(d)
	}
	if err := ExportFile(f.dir, "garuda.md", h); !errors.Is(err, fs.ErrExist) {
		t.Errorf("overwrites: %v", err)
	}
	if err := ExportFile(f.dir, "../garuda.md", h); err == nil {
		t.Error("leaves the root")
	}
}

// Many journals are looked at by several goroutines: none is lost or listed twice, and
// the newest stand first.
func TestListOfMany(t *testing.T) {
	const many = 500
	f := newFixture(t)
	f.write(t, "20260101-100000-0000", user("hello"))
	text, err := os.ReadFile(f.path("20260101-100000-0000"))
	if err != nil {
		t.Fatal(err)
	}
	for n := range many {
		path := f.path(fmt.Sprintf("20260101-100000-%04x", n))
		at := time.Date(2026, 1, 1, 0, 0, n*7%many, 0, time.UTC) // 7 shares no divisor with many: each time once
		if err := errors.Join(os.WriteFile(path, text, 0o600), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	list, err := f.List(0)
	if err != nil || len(list) != many {
		t.Fatalf("%d of %d sessions, %v", len(list), many, err)
	}
	for i, info := range list {
		if want := time.Date(2026, 1, 1, 0, 0, many-1-i, 0, time.UTC); !info.Time.Equal(want) || info.Size != int64(len(text)) {
			t.Fatalf("at place %d stands %+v, not the one of %s", i, info, want)
		}
	}
}

func BenchmarkList200(b *testing.B) {
	f := newFixture(b)
	for n := range 200 {
		f.write(b, fmt.Sprintf("20260101-100000-%04x", n), turn(n)...)
	}
	for b.Loop() {
		if _, err := f.List(0); err != nil {
			b.Fatal(err)
		}
	}
}
