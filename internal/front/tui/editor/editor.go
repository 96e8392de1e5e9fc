// Package editor is the text that a person writes before it is sent: several lines,
// a cursor that moves by whole characters, words killed and yanked, undo, and long
// pastes that show as one sign and are sent whole.
//
// It knows no keys and no terminal, reads no clipboard and keeps no history: the
// chat calls it by what is to be done, and draws the lines that it lays out.
package editor

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"garuda/internal/core"
	"garuda/internal/ui/styled"
)

const (
	// A paste of more lines or characters than these is folded.
	foldLines = 10
	foldChars = 1000
	// mostUndo is how many changes can be taken back, mostKills how many killed
	// texts are kept.
	mostUndo, mostKills = 200, 20
)

// item is one character as the cursor sees it: a cluster, a line end, or a paste.
type item struct {
	text string
	// paste is what a folded paste stands for; its text is then the sign for it.
	paste string
}

func (i item) lineEnd() bool { return i.text == "\n" }

// action is what was done last: some things go on from what was done before.
type action uint8

const (
	other action = iota
	typing
	killing
	yanking
	rowing
)

// Editor is one text and its cursor. The zero Editor is empty. It is for one
// goroutine.
type Editor struct {
	items  []item
	at     int
	undone []state
	redone []state
	kills  [][]item
	// yanked is where the last yanked text lies, which YankPop takes the place of.
	yanked [2]int
	pop    int
	last   action
	// goal is the column that moving up and down keeps to.
	goal int
	// pastes counts the folded pastes, so that each has a name of its own.
	pastes int
}

type state struct {
	items []item
	at    int
}

// split takes a text apart into items. Line ends of any kind become one, and
// control characters but tabs are left to be seen as signs.
func split(text string) []item {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	var out []item
	for text != "" {
		if text[0] == '\n' || text[0] == '\t' || text[0] < utf8.RuneSelf && (len(text) == 1 || text[1] < utf8.RuneSelf) {
			out = append(out, item{text: text[:1]})
			text = text[1:]
			continue
		}
		cluster, _ := ansi.FirstGraphemeCluster(text, ansi.GraphemeWidth)
		out = append(out, item{text: cluster})
		text = text[len(cluster):]
	}
	return out
}

func joined(items []item) string {
	var b strings.Builder
	for _, i := range items {
		if i.paste != "" {
			b.WriteString(i.paste)
		} else {
			b.WriteString(i.text)
		}
	}
	return b.String()
}

// Text is the whole text, pastes unfolded.
func (e *Editor) Text() string { return joined(e.items) }

// Empty reports whether nothing is written.
func (e *Editor) Empty() bool { return len(e.items) == 0 }

// Before is the text of the cursor's line before the cursor, for completion; a
// folded paste ends it.
func (e *Editor) Before() string {
	start := e.at
	for start > 0 && !e.items[start-1].lineEnd() && e.items[start-1].paste == "" {
		start--
	}
	return joined(e.items[start:e.at])
}

// AtStart reports whether nothing stands before the cursor.
func (e *Editor) AtStart() bool { return e.at == 0 }

// Set replaces the whole text, which can be undone, and puts the cursor behind it.
func (e *Editor) Set(text string) {
	e.save(other)
	e.items = split(text)
	e.at = len(e.items)
}

// Reset empties the text and forgets its changes, but not what was killed.
func (e *Editor) Reset() { *e = Editor{kills: e.kills} }

// Insert writes a text at the cursor.
func (e *Editor) Insert(text string) {
	kind := typing
	if text == "" || utf8.RuneCountInString(text) > 1 || strings.ContainsAny(text, " \n\r") {
		kind = other
	}
	e.save(kind)
	e.put(split(text))
}

// Paste writes a pasted text at the cursor, folded when it is long.
func (e *Editor) Paste(text string) {
	e.save(other)
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	lines := strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
	chars := utf8.RuneCountInString(text)
	if lines <= foldLines && chars <= foldChars {
		e.put(split(text))
		return
	}
	e.pastes++
	sign := fmt.Sprintf("[pasted %d lines", lines)
	if lines == 1 {
		sign = fmt.Sprintf("[pasted %d characters", chars)
	}
	if e.pastes > 1 {
		sign += fmt.Sprintf(" #%d", e.pastes)
	}
	e.put([]item{{text: sign + "]", paste: text}})
}

func (e *Editor) put(items []item) {
	e.items = slices.Insert(e.items, e.at, items...)
	e.at += len(items)
}

// Replace puts a text in the place of the last n characters before the cursor.
func (e *Editor) Replace(n int, text string) {
	e.save(other)
	from := max(e.at-n, 0)
	e.items = slices.Delete(e.items, from, e.at)
	e.at = from
	e.put(split(text))
}

// save keeps the text as it is, so that what comes can be undone. Typed characters
// are undone a word at a time.
func (e *Editor) save(what action) {
	if what != typing || e.last != typing {
		e.undone = append(e.undone, state{slices.Clone(e.items), e.at})
		if over := len(e.undone) - mostUndo; over > 0 {
			e.undone = slices.Delete(e.undone, 0, over)
		}
	}
	e.redone = nil
	e.last = what
}

// Undo takes the last change back; Redo makes it again.
func (e *Editor) Undo() { e.travel(&e.undone, &e.redone) }

// Redo makes again what was undone last.
func (e *Editor) Redo() { e.travel(&e.redone, &e.undone) }

func (e *Editor) travel(from, to *[]state) {
	e.last = other
	n := len(*from)
	if n == 0 {
		return
	}
	*to = append(*to, state{slices.Clone(e.items), e.at})
	s := (*from)[n-1]
	*from = (*from)[:n-1]
	e.items, e.at = s.items, s.at
}

// Backspace removes the character before the cursor, Delete the one behind it.
func (e *Editor) Backspace() { e.cut(e.at-1, e.at) }

// Delete removes the character behind the cursor.
func (e *Editor) Delete() { e.cut(e.at, e.at+1) }

func (e *Editor) cut(from, to int) {
	from, to = max(from, 0), min(to, len(e.items))
	if from >= to {
		return
	}
	e.save(other)
	e.items = slices.Delete(e.items, from, to)
	e.at = from
}

// Left, Right and the other moves take the cursor somewhere else.
func (e *Editor) Left() { e.move(e.at - 1) }

// Right goes one character on.
func (e *Editor) Right() { e.move(e.at + 1) }

// LineStart goes to the beginning of the line.
func (e *Editor) LineStart() { e.move(e.lineStart()) }

// LineEnd goes to the end of the line.
func (e *Editor) LineEnd() { e.move(e.lineEnd()) }

// Start goes to the beginning of the text.
func (e *Editor) Start() { e.move(0) }

// End goes to the end of the text.
func (e *Editor) End() { e.move(len(e.items)) }

// WordLeft goes to the beginning of the word, or of the one before.
func (e *Editor) WordLeft() { e.move(e.wordStart()) }

// WordRight goes behind the word, or behind the next one.
func (e *Editor) WordRight() { e.move(e.wordEnd()) }

func (e *Editor) move(to int) {
	e.at = min(max(to, 0), len(e.items))
	e.last = other
}

func (e *Editor) lineStart() int {
	at := e.at
	for at > 0 && !e.items[at-1].lineEnd() {
		at--
	}
	return at
}

func (e *Editor) lineEnd() int {
	at := e.at
	for at < len(e.items) && !e.items[at].lineEnd() {
		at++
	}
	return at
}

func (i item) word() bool {
	r, _ := utf8.DecodeRuneInString(i.text)
	return i.paste != "" || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

func (e *Editor) wordStart() int {
	at := e.at
	for at > 0 && !e.items[at-1].word() {
		at--
	}
	for at > 0 && e.items[at-1].word() {
		at--
	}
	return at
}

func (e *Editor) wordEnd() int {
	at := e.at
	for at < len(e.items) && !e.items[at].word() {
		at++
	}
	for at < len(e.items) && e.items[at].word() {
		at++
	}
	return at
}

// KillToLineEnd removes what is behind the cursor in its line, or the line end
// itself; killed text can be yanked.
func (e *Editor) KillToLineEnd() {
	to := e.lineEnd()
	if to == e.at {
		to++
	}
	e.kill(e.at, to, true)
}

// KillToLineStart removes what is before the cursor in its line.
func (e *Editor) KillToLineStart() { e.kill(e.lineStart(), e.at, false) }

// KillWordLeft removes the word before the cursor.
func (e *Editor) KillWordLeft() { e.kill(e.wordStart(), e.at, false) }

// KillBlankLeft removes what is before the cursor up to a blank.
func (e *Editor) KillBlankLeft() {
	at := e.at
	blank := func(i item) bool { return i.text == " " || i.lineEnd() || i.text == "\t" }
	for at > 0 && blank(e.items[at-1]) {
		at--
	}
	for at > 0 && !blank(e.items[at-1]) {
		at--
	}
	e.kill(at, e.at, false)
}

// KillWordRight removes the word behind the cursor.
func (e *Editor) KillWordRight() { e.kill(e.at, e.wordEnd(), true) }

// kill removes a part and keeps it; kills one after the other are kept as one.
func (e *Editor) kill(from, to int, forward bool) {
	to = min(to, len(e.items))
	if from >= to {
		return
	}
	more := e.last == killing && len(e.kills) > 0
	e.save(killing)
	part := slices.Clone(e.items[from:to])
	switch n := len(e.kills); {
	case more && forward:
		e.kills[n-1] = append(e.kills[n-1], part...)
	case more:
		e.kills[n-1] = append(part, e.kills[n-1]...)
	default:
		e.kills = append(e.kills, part)
		if n == mostKills {
			e.kills = e.kills[1:]
		}
	}
	e.items = slices.Delete(e.items, from, to)
	e.at = from
}

// Yank writes what was killed last.
func (e *Editor) Yank() {
	if len(e.kills) == 0 {
		return
	}
	e.save(yanking)
	e.pop = len(e.kills) - 1
	e.yanked = [2]int{e.at, e.at + len(e.kills[e.pop])}
	e.put(e.kills[e.pop])
}

// YankPop puts what was killed before in the place of what was just yanked.
func (e *Editor) YankPop() {
	if e.last != yanking || len(e.kills) < 2 {
		return
	}
	e.save(yanking)
	e.pop = (e.pop - 1 + len(e.kills)) % len(e.kills)
	e.items = slices.Delete(e.items, e.yanked[0], e.yanked[1])
	e.at = e.yanked[0]
	e.yanked[1] = e.at + len(e.kills[e.pop])
	e.put(e.kills[e.pop])
}

// Transpose swaps the two characters around the cursor.
func (e *Editor) Transpose() {
	at := e.at
	if at == len(e.items) {
		at--
	}
	if at < 1 {
		return
	}
	e.save(other)
	e.items[at-1], e.items[at] = e.items[at], e.items[at-1]
	e.at = at + 1
}

// shown is how an item looks, and how many columns it takes.
func (i item) shown() (styled.Span, int) {
	switch {
	case i.paste != "":
		return styled.Span{Text: i.text, Role: styled.Accent}, styled.Width(i.text)
	case i.text == "\t":
		return styled.Span{Text: "    "}, 4
	}
	text := core.Visible(i.text)
	span := styled.Span{Text: text}
	if text != i.text {
		span.Role = styled.Warn
	}
	return span, styled.Width(text)
}
