package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"garuda/internal/session"
	"garuda/internal/testkit/tooltest"
	"garuda/internal/tool"
)

func newEnv() *tool.Env { return &tool.Env{Keeper: session.Memory("20260101-120000-abcd")} }

// step is one call and what it gives back.
type step struct {
	tool, in string
	want     string // beginning with "Error: " where it fails
}

func play(t *testing.T, env *tool.Env, tools []tool.Tool, steps []step) {
	t.Helper()
	for _, s := range steps {
		if got := call(t, env, tools, s.tool, s.in); got != s.want {
			t.Errorf("%s %s:\n%s\nwant\n%s", s.tool, s.in, got, s.want)
		}
	}
}

func call(t *testing.T, env *tool.Env, tools []tool.Tool, name, in string) string {
	t.Helper()
	return tooltest.Call(t, env, tools, name, in)
}

func TestSpecs(t *testing.T) {
	tooltest.CheckSpec[createInput](t, create{}.Spec(), 330)
	tooltest.CheckSpec[getInput](t, get{}.Spec(), 170)
	tooltest.CheckSpec[listInput](t, list{}.Spec(), 140)
	tooltest.CheckSpec[updateInput](t, update{}.Spec(), 520)
	tooltest.CheckSpec[stopInput](t, stop{}.Spec(), 220)
}

func TestItems(t *testing.T) {
	play(t, newEnv(), New(), []step{
		{"task_list", `{}`, "There are no items."},
		{"task_get", `{"id":"t1"}`, `Error: task_get failed: there is no item "t1", and none at all; task_create makes one`},
		{"task_create", `{"subject":"Write  the\nparser","description":" For \n numbers. "}`, "Created t1 [ ] Write the parser"},
		{"task_create", `{"subject":"Test it"}`, "Created t2 [ ] Test it"},
		{"task_create", `{"subject":"Ship it"}`, "Created t3 [ ] Ship it"},
		{"task_update", `{"id":"t2","blocked_by":["t1"],"blocks":["t3"]}`, "t2 [ ] Test it (waits for t1)"},
		{"task_list", `{}`, "t1 [ ] Write the parser\nt2 [ ] Test it (waits for t1)\nt3 [ ] Ship it (waits for t2)"},
		{"task_update", `{"id":"t2","status":"in_progress"}`, "Error: task_update failed: t2 waits for t1 (pending); complete that first, or change blocked_by"},
		{"task_update", `{"id":"t1","status":"in_progress","owner":"a1"}`, "t1 [>] Write the parser (owner a1)"},
		{"task_update", `{"id":"t1","blocked_by":["t3"]}`, "Error: task_update failed: t1 would wait for itself: t1 waits for t3 waits for t2 waits for t1; nothing was changed"},
		{"task_update", `{"id":"t3","blocks":["t3"]}`, "Error: task_update failed: t3 would wait for itself: t3 waits for t3; nothing was changed"},
		{"task_get", `{"id":"t1"}`, "t1 [>] Write the parser\nstatus: in_progress\nowner: a1\nblocks: t2 (pending)\n\nFor \n numbers."},
		{"task_update", `{"id":"t1","status":"completed"}`, "t1 [x] Write the parser (owner a1)\nNothing to wait for any more:\nt2 [ ] Test it"},
		{"task_get", `{"id":"t2"}`, "t2 [ ] Test it\nstatus: pending\nblocked by: t1 (completed)\nblocks: t3 (pending)"},
		{"task_stop", `{"id":"t2"}`, "t2 is stopped. It still blocks t3: change their blocked_by, or stop them too."},
		{"task_stop", `{"id":"t2"}`, "t2 is over already: stopped."},
		{"task_update", `{"id":"t3","status":"completed"}`, "Error: task_update failed: t3 waits for t2 (stopped); complete that first, or change blocked_by"},
		{"task_update", `{"id":"t3","blocked_by":[],"status":"completed","owner":""}`, "t3 [x] Ship it"},
		{"task_list", `{}`, "t1 [x] Write the parser (owner a1)\nt2 [-] Test it\nt3 [x] Ship it"},
	})
}

// Wrong calls, and what the model is told.
func TestRefusals(t *testing.T) {
	env, tools := newEnv(), New(&fakeSource{running: []Work{{"b1", "make\nwatch"}, {"b2", strings.Repeat("x", 150)}}})
	play(t, env, tools, []step{
		{"task_create", `{"subject":"One"}`, "Created t1 [ ] One"},
		{"task_create", `{"title":"Two","details":"more"}`, "Created t2 [ ] Two"},
		{"task_create", `{}`, "Error: task_create failed: subject is missing; give subject, and if you like description"},
		{"task_create", `{"subject":" "}`, "Error: task_create failed: the subject is empty; say in a few words what is to be done"},
		{"task_create", `{"subject":"` + strings.Repeat("a", 201) + `"}`, "Error: task_create failed: the subject has 201 characters, at most 200; shorten it, details belong into the description"},
		{"task_create", `{"subject":"a","description":"` + strings.Repeat("a", 4001) + `"}`, "Error: task_create failed: the description has 4001 characters, at most 4000; put the rest into a file and name it"},
		{"task_create", `{"subject":"a","blockedBy":["t1"]}`, `Error: task_create failed: task_create has no field "blockedBy"; its fields are description, subject`},
		{"task_get", `{"taskId":"1"}`, "t1 [ ] One\nstatus: pending"},
		{"task_get", `{"id":"#t2"}`, "t2 [ ] Two\nstatus: pending\n\nmore"},
		{"task_get", `{"id":"t9"}`, `Error: task_get failed: there is no item "t9"; there are t1, t2`},
		{"task_update", `{"id":"t1"}`, "Error: task_update failed: nothing is to be changed; give a status, an owner, blocks or blocked_by"},
		{"task_update", `{"id":"t1","state":"doing"}`, "t1 [>] One"},
		{"task_update", `{"id":"t1","addBlockedBy":["t2"]}`, `Error: task_update failed: task_update has no field "addBlockedBy"; did you mean "blocked_by"?`},
		{"task_update", `{"id":"t2","blocked_by":"[\"t7\"]"}`, `Error: task_update failed: blocked_by: there is no item "t7"; there are t1, t2`},
		{"task_update", `{"id":"t2","blocks":["x"]}`, `Error: task_update failed: blocks: there is no item "x"; there are t1, t2`},
		{"task_update", `{"id":"t1","status":"done"}`, "t1 [x] One"},
		{"task_update", `{"id":"t1","status":"finishd"}`, `Error: task_update failed: status is "finishd", want pending, in_progress, completed or stopped`},
		{"task_update", `{"id":"t1","blocks":"t2"}`, `Error: task_update failed: blocks is "t2", want a list of texts`},
		{"task_update", `{"status":"done"}`, "Error: task_update failed: id is missing; give id, and if you like blocked_by, blocks, owner, status"},
		{"task_stop", `{"pid":7}`, `Error: task_stop failed: task_stop has no field "pid"; did you mean "id"?`},
		{"task_stop", `{"id":"b7"}`, "Error: task_stop failed: nothing has the id \"b7\"; running:\nb1 make watch\nb2 " + strings.Repeat("x", 100) + "…\nopen items:\nt2 [ ] Two"},
		{"task_stop", `{"shell_id":"b1"}`, "b1 was ended."},
		{"task_stop", `{"id":"b2"}`, "Error: task_stop failed: it does not end"},
	})
	play(t, &tool.Env{}, New(), []step{
		{"task_list", `{}`, "Error: task_list failed: this session keeps no list of items; go on without one"},
		{"task_stop", `{"id":"t1"}`, `Error: task_stop failed: nothing has the id "t1", and nothing runs`},
	})
}

// task_stop is no reader: plan mode denies what changes something.
func TestStopChanges(t *testing.T) {
	tools := New(&fakeSource{running: []Work{{"b1", "x"}}})
	plan, err := tools[4].Plan(t.Context(), newEnv(), []byte(`{"id":"b1"}`))
	if err != nil || plan.ReadOnly || tools[4].Spec().Class != tool.ClassRead {
		t.Errorf("%+v, %v", plan, err)
	}
}

type fakeSource struct{ running []Work }

func (s *fakeSource) Running() []Work { return s.running }
func (s *fakeSource) Has(id string) bool {
	return slices.ContainsFunc(s.running, func(w Work) bool { return w.ID == id })
}
func (s *fakeSource) Stop(_ context.Context, id string) (string, error) {
	if id == "b2" {
		return "", errors.New("it does not end")
	}
	return id + " was ended.", nil
}

func TestFullList(t *testing.T) {
	env, tools := newEnv(), New()
	for i := range MaxItems {
		call(t, env, tools, "task_create", fmt.Sprintf(`{"subject":"number %d"}`, i+1))
	}
	play(t, env, tools, []step{
		{"task_create", `{"subject":"one more"}`, "Error: task_create failed: there are 200 items, the most there may be, and none that is over; complete or stop some first"},
		{"task_update", `{"id":"t4","status":"completed","blocks":["t5"]}`, "t4 [x] number 4\nNothing to wait for any more:\nt5 [ ] number 5"},
		{"task_create", `{"subject":"one more"}`, "Error: task_create failed: there are 200 items, the most there may be, and none that is over; complete or stop some first"},
		{"task_stop", `{"id":"t7"}`, "t7 is stopped."},
		{"task_create", `{"subject":"one more"}`, "Created t201 [ ] one more\nt7 (stopped) was dropped to make room."},
		{"task_get", `{"id":"t7"}`, `Error: task_get failed: there is no item "t7"; there are t1 to t6, t8 to t201`},
	})
}

// A list that was edited by hand may hold anything.
func TestEditedList(t *testing.T) {
	entry := func(rest string) string {
		return `{"version":1,"last":2,"items":[{"id":"t1","subject":"a","status":"pending"},` + rest + `]}`
	}
	for text, want := range map[string]string{
		entry("null"): "entry 2 is null",
		entry(`{"id":"t1","subject":"b","status":"pending"}`):                   `two entries have the id "t1"`,
		entry(`{"id":"t3","subject":"b","status":"pending"}`):                   `entry 2 has the id "t3", want t1 to t2`,
		entry(`{"id":"t02","subject":"b","status":"pending"}`):                  `entry 2 has the id "t02"`,
		entry(`{"id":"t2","subject":"b","status":"on fire"}`):                   `t2 has the status "on fire"`,
		entry(`{"id":"t2","subject":"b\nt9 [x] c","status":"pending"}`):         "t2 has a subject or an owner of several lines",
		entry(`{"id":"t2","subject":"b","owner":"\u202eb","status":"pending"}`): "with hidden characters",
	} {
		env := &tool.Env{Keeper: edited(text)}
		for name, in := range map[string]string{"task_list": `{}`, "task_get": `{"id":"t2"}`, "task_update": `{"id":"t2","status":"completed"}`, "task_create": `{"subject":"x"}`} {
			if got := call(t, env, New(), name, in); !strings.Contains(got, want) || !strings.Contains(got, "set it right or delete it") {
				t.Errorf("%s of %s:\n%s", name, text, got)
			}
		}
	}
}

// edited is a keeper whose file has this text.
type edited string

func (e edited) Keep(_ context.Context, _ string, value any, change func() error) error {
	if err := json.Unmarshal([]byte(e), value); err != nil {
		return err
	}
	return change()
}
