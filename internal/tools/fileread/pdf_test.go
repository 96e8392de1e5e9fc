package fileread

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"garuda/internal/testkit/tooltest"
	"garuda/internal/workspace"
)

// makePDF is a document without a table of its objects, which readers do without.
func makePDF(trailer string, contents ...string) string {
	var b strings.Builder
	b.WriteString("%PDF-1.4\n1 0 obj <</Type /Catalog /Pages 2 0 R>> endobj\n2 0 obj <</Type /Pages /Kids [")
	for i := range contents {
		fmt.Fprintf(&b, "%d 0 R ", 10+2*i)
	}
	b.WriteString("] /Resources <</Font <</F <</Type /Font /Subtype /Type1 /Encoding /WinAnsiEncoding>>>> /XObject <</Im 3 0 R>>>>>> endobj\n" +
		"3 0 obj <</Subtype /Image /Length 1>> stream\nx\nendstream endobj\n")
	for i, c := range contents {
		fmt.Fprintf(&b, "%d 0 obj <</Type /Page /Contents %d 0 R>> endobj\n%d 0 obj <</Length %d>> stream\n%s\nendstream endobj\n", 10+2*i, 11+2*i, 11+2*i, len(c), c)
	}
	return b.String() + "trailer <</Root 1 0 R " + trailer + ">>\n%%EOF\n"
}

func shows(text string) string { return "BT /F 10 Tf 12 TL 72 700 Td (" + text + ") Tj ET" }

func numberedPages(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = shows(fmt.Sprintf("text %d", i+1))
	}
	return out
}

func TestReadPDF(t *testing.T) {
	env := newEnv(t, map[string]string{
		"one.pdf": makePDF("", shows("first line) Tj T* (second")), "long.pdf": makePDF("", numberedPages(36)...),
		"scan.pdf": makePDF("", "/Im Do", "", shows("a\x01b")),
	})
	for _, tc := range []struct{ name, path, pages, want string }{
		{"all of a short one", "one.pdf", "", "===== page 1 of 1 =====\nfirst line\nsecond"},
		{"one page", "long.pdf", "3", "===== page 3 of 36 =====\ntext 3\n\n[long.pdf has 36 pages; to go on use pages=\"4-13\"]"},
		{"parts", "long.pdf", "35, 36,35–36", "===== page 35 of 36 =====\ntext 35\n\n===== page 36 of 36 =====\ntext 36"},
		{"partly past the end", "long.pdf", "36-40", "===== page 36 of 36 =====\ntext 36"},
		{"without text", "scan.pdf", "", "===== page 1 of 3 =====\n[no text: the page is a picture, perhaps a scan; text in pictures is not recognised]\n\n" +
			"===== page 2 of 3 =====\n[no text on this page]\n\n===== page 3 of 3 =====\na\ufffdb\n[1 character that the file gives no meaning of, shown as U+FFFD]"},
	} {
		in := args{"path": tc.path}
		if tc.pages != "" {
			in["pages"] = tc.pages
		}
		if got := mustRun(t, env, readFile{}, in); got != tc.want {
			t.Errorf("%s:\n%s\nwant\n%s", tc.name, got, tc.want)
		}
	}
	first := mustRun(t, env, readFile{}, args{"path": "long.pdf"})
	if strings.Count(first, "=====\ntext ") != 10 || !strings.HasSuffix(first, "[long.pdf has 36 pages; to go on use pages=\"11-20\"]") {
		t.Errorf("without pages: %s", first)
	}
	if again := mustRun(t, env, readFile{}, args{"path": "long.pdf", "pages": "3"}); !strings.Contains(again, "unchanged") {
		t.Errorf("the same pages again: %s", again)
	}
	for _, pages := range []string{"5,9", "6,8"} { // neither is in the conversation
		if got := mustRun(t, env, readFile{}, args{"path": "long.pdf", "pages": pages}); !strings.Contains(got, "text "+pages[:1]) {
			t.Errorf("pages %s: %s", pages, got)
		}
	}
	many := mustRun(t, env, readManyFiles{}, args{"files": []args{{"path": "long.pdf", "pages": "7-8"}, {"path": "one.pdf", "pages": "9"}}})
	if !strings.Contains(many, "===== long.pdf =====\n===== page 7 of 36 =====\ntext 7\n") || !strings.Contains(many, "[unreadable: one.pdf has 1 page; page 9 is past its end]") {
		t.Errorf("read_many_files: %s", many)
	}
}

// A result holds no more than 50,000 characters, and says where to go on.
func TestReadLongPages(t *testing.T) {
	page := shows(strings.Repeat("0123456789", 2_000)) // 20,000
	env := newEnv(t, map[string]string{"p.pdf": makePDF("", page, page, page, page), "huge.pdf": makePDF("", shows(strings.Repeat("x", 70_000)))})
	got := mustRun(t, env, readFile{}, args{"path": "p.pdf"})
	if len(got) > 41_000 || !strings.HasSuffix(got, `[2 of the 4 pages that were asked for; to go on use pages="3-4"]`) {
		t.Errorf("%d bytes, ending in %q", len(got), got[len(got)-100:])
	}
	got = mustRun(t, env, readFile{}, args{"path": "huge.pdf"})
	if len(got) > 50_200 || !strings.HasSuffix(got, "[page 1 is cut after 50000 characters]") {
		t.Errorf("%d bytes, ending in %q", len(got), got[len(got)-100:])
	}
}

// What a model gets for the calls that go wrong.
func TestReadPDFTeaches(t *testing.T) {
	env := newEnv(t, map[string]string{
		"a.pdf": makePDF("", numberedPages(12)...), "text": "x\n", "cut.pdf": "%PDF-1.7\n1 0 obj <<",
		"locked.pdf": makePDF("/Encrypt <</Filter /Standard /V 9>>", shows("secret")), "about.txt": "The mark %PDF-1.4 begins a PDF.\n",
	})
	for _, tc := range []struct{ in, want string }{
		{`{"path":"a.pdf","pages":"30-40"}`, `Error: read_file failed: a.pdf has 12 pages; page 30 is past its end`},
		{`{"path":"a.pdf","pages":"1-12,3-20"}`, `Error: read_file failed: pages "1-12,3-20" are more than the 20 that one call gives; begin with "1-20"`},
		{`{"path":"a.pdf","pages":"5-2"}`, `Error: read_file failed: pages is "5-2", which ends before it begins; did you mean "2-5"?`},
		{`{"path":"a.pdf","pages":"all"}`, `Error: read_file failed: pages is "all"; write it like "1-5", "3" or "2,4-6", with pages counted from 1`},
		{`{"path":"a.pdf","pages":"0"}`, `Error: read_file failed: pages is "0"; write it like "1-5", "3" or "2,4-6", with pages counted from 1`},
		{`{"path":"a.pdf","pages":"3-"}`, `Error: read_file failed: pages is "3-"; write it like "1-5", "3" or "2,4-6", with pages counted from 1`},
		{`{"path":"a.pdf","page":"3"}`, `Error: read_file failed: read_file has no field "page"; did you mean "pages"?`},
		{`{"path":"a.pdf","offset":3}`, `Error: read_file failed: a.pdf is a PDF document, which has pages and no lines: give pages, like "1-5", in place of offset and limit`},
		{`{"path":"text","pages":"1"}`, `Error: read_file failed: text is no PDF document, and only those have pages: use offset and limit`},
		{`{"path":"cut.pdf"}`, `Error: read_file failed: cut.pdf is a PDF document that cannot be read: no page was found in it; it may be damaged or cut short`},
		{`{"path":"locked.pdf"}`, `Error: read_file failed: locked.pdf is a PDF document, but it is encrypted, and opens only with a password; ask the user for a copy without one`},
		{`{"path":"about.txt"}`, "1\tThe mark %PDF-1.4 begins a PDF."},
	} {
		if got := tooltest.Call(t, env, New(), "read_file", tc.in); got != tc.want {
			t.Errorf("%s:\n%s\nwant\n%s", tc.in, got, tc.want)
		}
	}
	for _, name := range []string{"locked.pdf", "cut.pdf"} {
		p, err := env.Workspace.Resolve(name)
		if err != nil {
			t.Fatal(err)
		}
		c, err := env.Workspace.ReadFile(p)
		if err != nil || env.Tracker.Status(p.Real, c.Snapshot) != workspace.Unread {
			t.Errorf("%s counts as read (%v)", name, err)
		}
	}
}

func TestReadLargePDF(t *testing.T) {
	env := newEnv(t, nil)
	padding := "%" + strings.Repeat("x", workspace.MaxWhole) + "\n"
	write(t, filepath.Join(env.Workspace.Root(), "large.pdf"), strings.Replace(makePDF("", numberedPages(2)...), "1 0 obj", padding+"1 0 obj", 1))
	if got := mustRun(t, env, readFile{}, args{"path": "large.pdf", "pages": "2"}); got != "===== page 2 of 2 =====\ntext 2" {
		t.Error(got)
	}
	f, err := os.Create(filepath.Join(env.Workspace.Root(), "huge.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(bytes.TrimSpace([]byte("%PDF-1.4"))); err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(maxPDF + 1); err != nil {
		t.Skipf("no sparse files here: %v", err)
	}
	wantError(t, env, readFile{}, args{"path": "huge.pdf"}, "only those of at most 67 MB can be read")
}
