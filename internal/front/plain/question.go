package plain

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"garuda/internal/engine"
	"garuda/internal/front/lines"
	"garuda/internal/tool"
)

// readingTime is how long a question must stand before an answer counts: what
// comes sooner was typed for something else.
const readingTime = 400 * time.Millisecond

// question is one that waits for an answer.
type question struct {
	id int
	q  *tool.Question
	// shown is when the question stood on the screen, from when it may be answered.
	shown, from time.Time
	stopTimer   func() bool
	// draft is what was typed of an answer of several lines; editing is true while
	// that is a plan.
	draft   []string
	editing bool
}

// keys are the answers that are offered, for the prompt.
func (q *question) keys() string {
	switch q.q.Kind {
	case tool.QuestionChoice:
		return choiceKeys(q)
	case tool.QuestionPlan:
		return planKeys(q)
	case tool.QuestionApproval:
	}
	keys := "y"
	if q.q.Hunks > 1 {
		keys += "/h"
	}
	if q.q.SessionRule != "" {
		keys += "/a"
	}
	if q.q.ProjectRule != "" {
		keys += "/p"
	}
	return keys + "/n"
}

// ask shows a question. Lines that came before it stood there are no answers:
// they wait as prompts.
func (c *chat) ask(ctx context.Context, e engine.Asked) {
	if c.o.IsTerminal {
		c.drainTyped(ctx)
	}
	c.question = &question{id: e.ID, q: e.Question, stopTimer: func() bool { return true }}
	if !c.o.IsTerminal || c.inputEnded {
		c.screen.Line(lines.Warn, "? "+strings.TrimSuffix(inShort(e.Question.Title), "?")+": "+inShort(cmp.Or(e.Question.Target, e.Question.Preview)))
		c.unanswered("nobody could be asked: standard input is no terminal, or was closed")
		return
	}
	c.planAsked = c.planAsked || e.Question.Kind == tool.QuestionPlan
	c.dropTyped()
	c.showQuestion(e.Question)
	c.question.shown = c.clock.Now()
	c.question.from = c.question.shown.Add(readingTime)
	if c.o.DropTyped != nil {
		c.question.stopTimer = c.clock.AfterFunc(readingTime, func() {
			select {
			case c.answerable <- e.ID:
			default: // the loop has not taken the last one yet, and will drop what was typed for that
			}
		})
	}
}

// drainTyped takes the lines that are there already.
func (c *chat) drainTyped(ctx context.Context) {
	for !c.inputEnded {
		select {
		case l, more := <-c.input:
			c.line(ctx, l, more)
		default:
			return
		}
	}
}

// becomeAnswerable forgets the keys of the time in which nothing counts; else a
// line that was begun then could end as an answer.
func (c *chat) becomeAnswerable(id int) {
	if c.question != nil && c.question.id == id {
		c.dropTyped()
	}
}

func (c *chat) dropTyped() {
	if c.o.DropTyped != nil {
		c.o.DropTyped()
	}
}

// answerLine takes a line while a question waits.
func (c *chat) answerLine(ctx context.Context, l typedLine) {
	switch q := c.question; {
	case l.at.Before(q.shown):
		c.enter(ctx, l.text)
	case l.at.Before(q.from):
		c.say("too soon to be an answer, not taken: " + inShort(l.text))
	case isExit(l.text):
		c.unanswered("")
		c.leaving = true
	default:
		began := !q.editing
		answer, complete, err := q.read(l.text)
		switch {
		case err != nil:
			c.fail(err)
		case complete:
			c.answer(answer)
		case began && q.editing:
			c.say("type the plan as it should be; a line with only a dot ends it")
		}
	}
}

// read takes one more line of the answer; complete is false while more is to come.
func (q *question) read(text string) (answer tool.Answer, complete bool, err error) {
	switch q.q.Kind {
	case tool.QuestionChoice:
		return q.readChoice(text)
	case tool.QuestionPlan:
		return q.readPlan(text)
	case tool.QuestionApproval:
	}
	answer, err = parseAnswer(text, q.q)
	return answer, err == nil, err
}

// parseAnswer reads a letter and the comment after it.
func parseAnswer(text string, q *tool.Question) (tool.Answer, error) {
	word, comment, _ := strings.Cut(strings.TrimSpace(text), " ")
	answer := tool.Answer{Comment: strings.TrimSpace(comment)}
	switch strings.ToLower(word) {
	case "y", "yes":
		answer.Choice = tool.AnswerOnce
	case "n", "no":
		answer.Choice = tool.AnswerDeny
	case "h":
		return parseHunks(answer.Comment, q)
	case "a":
		if q.SessionRule == "" {
			return answer, fmt.Errorf("this question has no answer for the session; %s", howToAnswer)
		}
		answer.Choice = tool.AnswerSession
	case "p":
		if q.ProjectRule == "" {
			return answer, fmt.Errorf("this question has no answer for the project; %s", howToAnswer)
		}
		answer.Choice = tool.AnswerProject
	default:
		return answer, fmt.Errorf("%q is no answer; %s", inShort(text), howToAnswer)
	}
	return answer, nil
}

// parseHunks reads the numbers of the hunks that are approved, and the comment
// after them.
func parseHunks(text string, q *tool.Question) (tool.Answer, error) {
	answer := tool.Answer{Choice: tool.AnswerOnce, Hunks: []int{}}
	if q.Hunks < 2 {
		return answer, fmt.Errorf("this change has no parts to choose from; %s", howToAnswer)
	}
	list, comment := cutWord(text)
	answer.Comment = comment
	for word := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > q.Hunks {
			return answer, fmt.Errorf("%q is no hunk; write their numbers from 1 to %d with commas between them: h 1,%d", inShort(word), q.Hunks, q.Hunks)
		}
		if !slices.Contains(answer.Hunks, n) {
			answer.Hunks = append(answer.Hunks, n)
		}
	}
	return answer, nil
}

// numberedHunks counts the hunks of a diff in the lines that begin them; no other line
// of a diff begins so.
func numberedHunks(diff string) string {
	all := strings.Split(diff, "\n")
	n := 0
	for i, line := range all {
		if strings.HasPrefix(line, "@@") {
			n++
			all[i] = fmt.Sprintf("%s (hunk %d)", line, n)
		}
	}
	return strings.Join(all, "\n")
}

const howToAnswer = "begin with one of the letters shown, or stop the turn with Ctrl-C"

// unanswered gives the answer that counts where there is none.
func (c *chat) unanswered(why string) { c.answer(c.question.q.Unanswered(why)) }

// answer passes an answer on, and says what it did.
func (c *chat) answer(answer tool.Answer) {
	q := c.question
	c.question = nil
	q.stopTimer()
	c.say("  → " + said(q.q, &answer))
	if q.q.Kind == tool.QuestionApproval && answer.Choice != tool.AnswerDeny {
		c.activity.Seen(q.q.CallID)
	}
	c.session.Answer(q.id, answer)
}

// said tells what an answer does.
func said(q *tool.Question, answer *tool.Answer) string {
	var text string
	switch answer.Choice {
	case tool.AnswerOnce:
		text = "allowed once"
		if answer.Hunks != nil {
			text = fmt.Sprintf("allowed once, of the %d hunks only %s", q.Hunks, strings.Trim(fmt.Sprint(answer.Hunks), "[]"))
		}
	case tool.AnswerSession:
		text = "allowed for this session: " + oneLine(q.SessionRule)
	case tool.AnswerProject:
		text = "allowed in this project from now on: " + oneLine(q.ProjectRule)
	case tool.AnswerDeny:
		text = "denied"
	case tool.AnswerGiven, tool.AnswerSkip:
		text = saidChoice(q, answer)
	case tool.AnswerBuild:
		text = "build mode: the plan is carried out, and changes are asked for"
	case tool.AnswerAcceptEdits:
		text = "accept_edits mode: the plan is carried out, and edits inside the root are not asked for"
	case tool.AnswerKeepPlanning:
		text = "plan mode goes on"
	case tool.AnswerEditPlan:
		text = "the plan as you edited it"
	}
	if answer.Comment != "" {
		text += " (" + oneLine(answer.Comment) + ")"
	}
	return text
}

// withdraw takes a question back that nobody needs answered any more.
func (c *chat) withdraw(id int) {
	if c.question == nil || c.question.id != id {
		return
	}
	c.question.stopTimer()
	c.question = nil
	c.say("  → no longer asked")
}

// showQuestion prints all that an answer depends on. What does not fit on a line
// of its own goes on behind a bar, in lines short enough that the terminal does
// not wrap them: nothing that the model wrote can pass for the question's words.
func (c *chat) showQuestion(q *tool.Question) {
	switch q.Kind {
	case tool.QuestionChoice:
		c.showChoice(q)
		return
	case tool.QuestionPlan:
		c.showPlan(q)
		return
	case tool.QuestionApproval:
	}
	c.wrapped(lines.Warn, "? ", oneLine(q.Title))
	preview := q.Preview
	if preview == "" {
		preview = q.Target
	} else if q.Target != "" && q.Target != preview && !strings.Contains(q.Title, q.Target) {
		c.field("target", q.Target)
	}
	if q.Hunks > 1 {
		preview = numberedHunks(preview)
	}
	c.quote(preview)
	c.field("asked by", q.Agent)
	c.field("where", q.Where)
	c.field("why", q.Why)
	c.warning(q)
	c.wrapped(lines.Normal, "  y  ", "yes, once")
	if q.Hunks > 1 {
		c.wrapped(lines.Normal, "  h  ", "yes, but only these hunks: h 1,2")
	}
	if q.SessionRule != "" {
		c.wrapped(lines.Normal, "  a  ", "yes, for this session; adds the rule "+oneLine(q.SessionRule))
	}
	if q.ProjectRule != "" {
		c.wrapped(lines.Normal, "  p  ", "yes, always in this project; adds to your settings the rule "+oneLine(q.ProjectRule))
	}
	c.wrapped(lines.Normal, "  n  ", "no")
	c.say("  words after the letter go to the model: n please use make test")
}

func (c *chat) warning(q *tool.Question) {
	if q.Warning != "" {
		c.wrapped(lines.Bad, "  warning  ", oneLine(q.Warning))
	}
}

func (c *chat) field(name, text string) {
	if text != "" {
		c.wrapped(lines.Normal, fmt.Sprintf("  %-8s ", name), oneLine(text))
	}
}

// bar stands before what is quoted.
const bar = "  │ "

// quote prints a text whole, behind a bar.
func (c *chat) quote(text string) {
	isDiff := strings.HasPrefix(text, "--- ")
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		style := lines.Bold
		if isDiff {
			style = lines.DiffStyle(line)
		}
		c.wrapped(style, bar, line)
	}
}

func (c *chat) wrapped(style lines.Style, first, text string) {
	limit := c.width() - max(utf8.RuneCountInString(first), utf8.RuneCountInString(bar))
	for i, piece := range wrap(text, limit) {
		if i > 0 {
			first = bar
		}
		c.screen.Verbatim(style, first+piece)
	}
}

func (c *chat) width() int {
	const usual = 80
	if c.o.Width != nil {
		if w := c.o.Width(); w > 0 {
			return w
		}
	}
	return usual
}
