package tasks

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"garuda/internal/core"
)

const version = 1

// items is the list, as it is in the file.
type items struct {
	Version int `json:"version"`
	// Last is the number of the newest item that ever was; numbers are not used again.
	Last  int     `json:"last"`
	Items []*item `json:"items"`
}

// item is one entry of the list.
type item struct {
	ID          string `json:"id"`
	Subject     string `json:"subject"`
	Description string `json:"description,omitempty"`
	Status      string `json:"status"`
	Owner       string `json:"owner,omitempty"`
	// BlockedBy are the items that must be completed before this one. Which ones it
	// blocks is the same seen from the other side.
	BlockedBy []string `json:"blocked_by,omitempty"`
}

// The states of an item. A stopped one is given up, and goes on blocking what waits
// for it: that it was to be done first is for the model to think over.
const (
	pending    = "pending"
	inProgress = "in_progress"
	completed  = "completed"
	stopped    = "stopped"
)

// check says what is wrong with a list that was read: the file may have been edited.
func (l *items) check() error {
	seen := make(map[string]bool, len(l.Items))
	for n, i := range l.Items {
		switch {
		case i == nil:
			return fmt.Errorf("entry %d is null", n+1)
		case number(i.ID) < 1 || number(i.ID) > l.Last || i.ID != "t"+strconv.Itoa(number(i.ID)):
			return fmt.Errorf("entry %d has the id %q, want t1 to t%d", n+1, i.ID, l.Last)
		case seen[i.ID]:
			return fmt.Errorf("two entries have the id %q", i.ID)
		case !slices.Contains([]string{pending, inProgress, completed, stopped}, i.Status):
			return fmt.Errorf("%s has the status %q", i.ID, i.Status)
		}
		seen[i.ID] = true
		for _, field := range []string{i.Subject, i.Owner} {
			if core.Visible(field) != field || strings.ContainsAny(field, "\r\n") {
				return fmt.Errorf("%s has a subject or an owner of several lines, or with hidden characters", i.ID)
			}
		}
	}
	return nil
}

func mark(status string) string {
	switch status {
	case inProgress:
		return "[>]"
	case completed:
		return "[x]"
	case stopped:
		return "[-]"
	}
	return "[ ]"
}

func (i *item) over() bool { return i.Status == completed || i.Status == stopped }

// find gives the item with an id, which may lack its t.
func (l *items) find(id string) (*item, error) {
	id = strings.TrimPrefix(strings.TrimSpace(id), "#")
	for _, i := range l.Items {
		if i.ID == id || i.ID == "t"+id {
			return i, nil
		}
	}
	if len(l.Items) == 0 {
		return nil, fmt.Errorf("there is no item %q, and none at all; task_create makes one", id)
	}
	return nil, fmt.Errorf("there is no item %q; there are %s", id, l.ids())
}

// ids are the items' ids, those in a row in short: t1 to t7, t9.
func (l *items) ids() string {
	var out []string
	for k := 0; k < len(l.Items); {
		first := number(l.Items[k].ID)
		last := first
		for k++; k < len(l.Items) && number(l.Items[k].ID) == last+1; k++ {
			last++
		}
		switch last - first {
		case 0:
			out = append(out, fmt.Sprintf("t%d", first))
		case 1:
			out = append(out, fmt.Sprintf("t%d, t%d", first, last))
		default:
			out = append(out, fmt.Sprintf("t%d to t%d", first, last))
		}
	}
	return strings.Join(out, ", ")
}

func number(id string) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(id, "t")) // 0 for what check refuses
	return n
}

// add makes an item. Where the list is full, the oldest one that is over, and that
// nothing else names, makes room; dropped is that one.
func (l *items) add(subject, description string) (made, dropped *item, err error) {
	if len(l.Items) >= MaxItems {
		at := slices.IndexFunc(l.Items, func(i *item) bool { return i.over() && len(l.blocks(i.ID)) == 0 })
		if at < 0 {
			return nil, nil, fmt.Errorf("there are %d items, the most there may be, and none that is over; complete or stop some first", MaxItems)
		}
		dropped = l.Items[at]
		l.Items = slices.Delete(l.Items, at, at+1)
	}
	l.Last++
	made = &item{ID: "t" + strconv.Itoa(l.Last), Subject: subject, Description: description, Status: pending}
	l.Items = append(l.Items, made)
	return made, dropped, nil
}

// blocks are the items that wait for this one.
func (l *items) blocks(id string) []string {
	var out []string
	for _, i := range l.Items {
		if slices.Contains(i.BlockedBy, id) {
			out = append(out, i.ID)
		}
	}
	return out
}

// waits are the items that this one still waits for.
func (l *items) waits(i *item) []*item {
	var out []*item
	for _, other := range l.Items {
		if other.Status != completed && slices.Contains(i.BlockedBy, other.ID) {
			out = append(out, other)
		}
	}
	return out
}

// resolve makes a list of ids one of items that there are, each once, in order.
func (l *items) resolve(field string, ids []string) ([]string, error) {
	var out []string
	for _, id := range ids {
		i, err := l.find(id)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", field, err)
		}
		out = append(out, i.ID)
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Compare(number(a), number(b)) })
	return slices.Compact(out), nil
}

// setBlockedBy and setBlocks put other dependencies in place of an item's.
func (l *items) setBlockedBy(i *item, ids []string) error {
	ids, err := l.resolve("blocked_by", ids)
	if err != nil {
		return err
	}
	i.BlockedBy = ids
	return l.acyclic(i)
}

func (l *items) setBlocks(i *item, ids []string) error {
	ids, err := l.resolve("blocks", ids)
	if err != nil {
		return err
	}
	for _, other := range l.Items {
		has, want := slices.Contains(other.BlockedBy, i.ID), slices.Contains(ids, other.ID)
		switch {
		case has && !want:
			other.BlockedBy = slices.DeleteFunc(other.BlockedBy, func(id string) bool { return id == i.ID })
		case want && !has:
			// The list's own resolve sorts it.
			if other.BlockedBy, err = l.resolve("blocks", append(other.BlockedBy, i.ID)); err != nil {
				return err
			}
		}
	}
	return l.acyclic(i)
}

// acyclic says in which circle an item would wait for itself.
func (l *items) acyclic(i *item) error {
	seen := map[string]bool{}
	var way func(from string) []string
	way = func(from string) []string {
		at, err := l.find(from)
		if err != nil || seen[from] {
			return nil // it leads nowhere, or was looked at
		}
		seen[from] = true
		for _, id := range at.BlockedBy {
			if id == i.ID {
				return []string{from, id}
			}
			if rest := way(id); rest != nil {
				return append([]string{from}, rest...)
			}
		}
		return nil
	}
	if circle := way(i.ID); circle != nil {
		return fmt.Errorf("%s would wait for itself: %s; nothing was changed", i.ID, strings.Join(circle, " waits for "))
	}
	return nil
}

// setStatus moves an item on, and gives those that have nothing left to wait for now.
func (l *items) setStatus(i *item, status string) (freed []*item, err error) {
	if status == i.Status {
		return nil, nil
	}
	if waits := l.waits(i); len(waits) > 0 && (status == inProgress || status == completed) {
		return nil, fmt.Errorf("%s waits for %s; complete that first, or change blocked_by", i.ID, inWords(waits))
	}
	i.Status = status
	if status != completed {
		return nil, nil
	}
	for _, id := range l.blocks(i.ID) {
		other, err := l.find(id)
		if err == nil && !other.over() && len(l.waits(other)) == 0 {
			freed = append(freed, other)
		}
	}
	return freed, nil
}

// inWords names items with their state.
func inWords(list []*item) string {
	out := make([]string, len(list))
	for k, i := range list {
		out[k] = i.ID + " (" + i.Status + ")"
	}
	return strings.Join(out, ", ")
}

// line is an item on one line of a list.
func (l *items) line(i *item) string {
	out := i.ID + " " + mark(i.Status) + " " + i.Subject
	var more []string
	if i.Owner != "" {
		more = append(more, "owner "+i.Owner)
	}
	if waits := l.waits(i); len(waits) > 0 && !i.over() {
		ids := make([]string, len(waits))
		for k, w := range waits {
			ids[k] = w.ID
		}
		more = append(more, "waits for "+strings.Join(ids, ", "))
	}
	if len(more) > 0 {
		out += " (" + strings.Join(more, "; ") + ")"
	}
	return out
}

func (l *items) lines(list []*item) string {
	out := make([]string, len(list))
	for k, i := range list {
		out[k] = l.line(i)
	}
	return strings.Join(out, "\n")
}
