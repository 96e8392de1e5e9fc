package fileedit

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"garuda/internal/tool"
)

// applyHunks puts only these hunks of a unified diff into a text, as patch would:
// an oracle that knows nothing of edits.
func applyHunks(t testing.TB, text, diff string, only []int) string {
	t.Helper()
	old := strings.SplitAfter(text, "\n")
	var out strings.Builder
	at, n := 0, 0
	lines := strings.SplitAfter(diff, "\n")
	for i := 0; i < len(lines); {
		if !strings.HasPrefix(lines[i], "@@") {
			i++
			continue
		}
		n++
		var from int
		if _, err := fmt.Sscanf(lines[i], "@@ -%d", &from); err != nil {
			t.Fatalf("%q: %v", lines[i], err)
		}
		for ; at < from-1; at++ {
			out.WriteString(old[at])
		}
		for i++; i < len(lines) && lines[i] != "" && !strings.HasPrefix(lines[i], "@@"); i++ {
			kind, rest := lines[i][0], lines[i][1:]
			if kind != '+' {
				at++
			}
			if kind == ' ' || (kind == '+') == slices.Contains(only, n) {
				out.WriteString(rest)
			}
		}
	}
	for ; at < len(old); at++ {
		out.WriteString(old[at])
	}
	return out.String()
}

func runWith(t testing.TB, env *tool.Env, tl tool.Tool, input any, hunks []int) (*tool.Plan, *tool.Output, error) {
	t.Helper()
	raw, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := tl.Plan(t.Context(), env, raw)
	if err != nil {
		t.Fatal(err)
	}
	out, err := tl.Run(t.Context(), &tool.Call{Env: env, Plan: plan, Grant: &tool.Grant{Hunks: hunks}})
	return plan, out, err
}

// TestApprovedHunks: of a change only the approved hunks are written, whatever edits
// it is made of.
func TestApprovedHunks(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var b strings.Builder
		count := rapid.IntRange(8, 80).Draw(r, "lines")
		for i := range count {
			fmt.Fprintf(&b, "line %d of the file\n", i)
		}
		var list edits
		for _, i := range rapid.SliceOfNDistinct(rapid.IntRange(0, count-1), 2, 6, rapid.ID[int]).Draw(r, "edited") {
			with := rapid.SampledFrom([]string{"changed", "", "one\ntwo", "three\nfour\nfive"}).Draw(r, "with")
			list = append(list, args{"old_string": fmt.Sprintf("line %d of", i), "new_string": with})
		}
		env := newEnv(t, map[string]string{"f": b.String()})
		read(t, env, "f")
		in := args{"path": "f", "edits": list}
		raw, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := multiEdit{}.Plan(t.Context(), env, raw)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(plan.Preview, "\n@@"); got != plan.Hunks {
			t.Fatalf("%d hunks are said to be %d", got, plan.Hunks)
		}
		only := rapid.SliceOfNDistinct(rapid.IntRange(1, plan.Hunks), 1, plan.Hunks, rapid.ID[int]).Draw(r, "approved")
		_, out, err := runWith(t, env, multiEdit{}, in, only)
		if err != nil {
			t.Fatal(err)
		}
		if want, got := applyHunks(t, b.String(), plan.Preview, only), content(t, env, "f"); got != want {
			t.Fatalf("with hunks %v of\n%s\ngot\n%s\nwant\n%s", only, plan.Preview, got, want)
		}
		if whole := len(only) == plan.Hunks; whole == strings.Contains(out.Text, "Not written: hunk ") {
			t.Fatalf("%v of %d: %s", only, plan.Hunks, out.Text)
		}
	})
}

func TestApprovedHunksSayWhatWasLeftOut(t *testing.T) {
	text := strings.Repeat("x\n", 20)
	file := "first\n" + text + "second\n" + text + "third\n"
	in := args{"path": "f", "edits": edits{
		{"old_string": "first", "new_string": "1"}, {"old_string": "second", "new_string": "2"}, {"old_string": "third", "new_string": "3"},
	}}
	env := newEnv(t, map[string]string{"f": file})
	read(t, env, "f")
	plan, out, err := runWith(t, env, multiEdit{}, in, []int{2})
	if err != nil {
		t.Fatal(err)
	}
	want := "Edited f: 1 replacement at line 22.\nThe user approved only a part of the change. Not written: hunk 1 at line 1, hunk 3 at line 43. " +
		"Do not make it in another way; ask what to do instead."
	if out.Text != want || plan.Hunks != 3 || !strings.Contains(out.Diff, "+2") || strings.Contains(out.Diff, "+1\n") {
		t.Errorf("%d hunks: %s\n%s", plan.Hunks, out.Text, out.Diff)
	}
	if got := content(t, env, "f"); got != strings.Replace(file, "second", "2", 1) {
		t.Errorf("%q", got)
	}
	// Neither no hunk nor one that is not there writes anything.
	for _, hunks := range [][]int{{}, {7}} {
		env := newEnv(t, map[string]string{"f": file})
		read(t, env, "f")
		if _, _, err := runWith(t, env, multiEdit{}, in, hunks); err == nil || content(t, env, "f") != file {
			t.Errorf("hunks %v: %v", hunks, err)
		}
	}
}

// TestApprovedHunksOfAChangedFile: what is no longer the change that was reviewed is
// not written.
func TestApprovedHunksOfAChangedFile(t *testing.T) {
	file := "first\n" + strings.Repeat("x\n", 20) + "second\n"
	env := newEnv(t, map[string]string{"f": file})
	read(t, env, "f")
	raw, err := json.Marshal(args{"path": "f", "edits": edits{{"old_string": "first", "new_string": "1"}, {"old_string": "second", "new_string": "2"}}})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := multiEdit{}.Plan(t.Context(), env, raw)
	if err != nil {
		t.Fatal(err)
	}
	p, err := env.Workspace.Resolve("f")
	if err != nil {
		t.Fatal(err)
	}
	write(t, p.Abs, "new\n"+file)
	if _, err := (multiEdit{}).Run(t.Context(), &tool.Call{Env: env, Plan: plan, Grant: &tool.Grant{Hunks: []int{1}}}); err == nil || content(t, env, "f") != "new\n"+file {
		t.Errorf("%v: %q", err, content(t, env, "f"))
	}
}
