package plain

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"garuda/internal/front/lines"
	"garuda/internal/tool"
)

// Questions that are no approvals: the model's own, and whether a plan is carried
// out.

// showChoice prints a question of the model's own. All that the model wrote stands
// behind a bar or a number.
func (c *chat) showChoice(q *tool.Question) {
	title := q.Title
	if q.Target != "" {
		title += ": " + q.Target
	}
	c.wrapped(lines.Warn, "? ", oneLine(title))
	c.quote(q.Preview)
	c.field("asked by", q.Agent)
	c.warning(q)
	for i, o := range q.Options {
		c.wrapped(lines.Bold, fmt.Sprintf("  %d  ", i+1), oneLine(o.Label))
		if o.Detail != "" {
			c.wrapped(lines.Normal, bar+"  ", oneLine(o.Detail))
		}
	}
	how := "a number, or your own words"
	switch {
	case len(q.Options) == 0:
		how = "your own words"
	case q.Multiple:
		how = "numbers with commas between, or your own words"
	}
	c.say("  " + how + "; Enter alone skips, and the model decides")
}

// choiceKeys are the numbers of the options, for the prompt.
func choiceKeys(q *question) string {
	switch n := len(q.q.Options); {
	case len(q.draft) > 0:
		return "…"
	case n == 0:
		return ""
	case n == 1:
		return "1"
	default:
		return fmt.Sprintf("1-%d", n)
	}
}

// readChoice takes a line; one that ends in \ goes on in the next.
func (q *question) readChoice(text string) (answer tool.Answer, complete bool, err error) {
	whole, complete := q.joined(text)
	if !complete {
		return answer, false, nil
	}
	answer, err = parseChoice(whole, q.q)
	return answer, err == nil, err
}

// joined is the lines that ended in \ so far with this one, complete when it does
// not.
func (q *question) joined(text string) (whole string, complete bool) {
	begun, more := strings.CutSuffix(text, `\`)
	q.draft = append(q.draft, begun)
	if more {
		return "", false
	}
	whole, q.draft = strings.Join(q.draft, "\n"), nil
	return whole, true
}

// parseChoice reads the answer to a question with options: their numbers, the label
// of one, or whatever else as the person's own words. What is in quotes is words in
// any case. Nothing, or "skip", skips.
func parseChoice(text string, q *tool.Question) (tool.Answer, error) {
	text = strings.TrimSpace(text)
	for i, o := range q.Options {
		if strings.EqualFold(text, o.Label) {
			return tool.Answer{Choice: tool.AnswerGiven, Picked: []int{i}}, nil
		}
	}
	if text == "" || strings.EqualFold(text, "skip") {
		return tool.Answer{Choice: tool.AnswerSkip}, nil
	}
	if picked, err := pickedIn(text, q); picked != nil || err != nil {
		return tool.Answer{Choice: tool.AnswerGiven, Picked: picked}, err
	}
	if cmd, _, err := parseCommand(text); cmd != nil && err == nil {
		return tool.Answer{}, fmt.Errorf(`/%s does not run while a question waits; in quotes ("%s") it is your answer`, cmd.name, inShort(text))
	}
	if inner, ok := unquoted(text); ok {
		if text = strings.TrimSpace(inner); text == "" {
			return tool.Answer{Choice: tool.AnswerSkip}, nil
		}
	}
	if n := utf8.RuneCountInString(text); n > tool.AnswerLimit {
		return tool.Answer{}, fmt.Errorf("that answer is %d characters long, and at most %d are taken; put it into a file and name that", n, tool.AnswerLimit)
	}
	return tool.Answer{Choice: tool.AnswerGiven, Text: text}, nil
}

func unquoted(text string) (inner string, ok bool) {
	inner, ok = strings.CutPrefix(text, `"`)
	if !ok {
		return "", false
	}
	return strings.CutSuffix(inner, `"`)
}

// pickedIn are the options whose numbers the text consists of, counted from 0; nil
// where it is no list of numbers.
func pickedIn(text string, q *tool.Question) ([]int, error) {
	words := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' })
	if len(q.Options) == 0 || len(words) == 0 {
		return nil, nil
	}
	var picked []int
	seen := make(map[int]bool)
	for _, word := range words {
		digits := strings.TrimRight(word, ".)")
		if digits == "" || strings.Trim(digits, "0123456789") != "" {
			return nil, nil
		}
		n, err := strconv.Atoi(digits)
		if err != nil || n < 1 || n > len(q.Options) {
			n = 0
		}
		if !seen[n] {
			seen[n] = true
			picked = append(picked, n-1)
		}
	}
	switch {
	case seen[0] && len(q.Options) == 1:
		return nil, fmt.Errorf(`%s is no option, there is only 1; in quotes ("%s") it is your own words`, inShort(text), inShort(text))
	case seen[0]:
		return nil, fmt.Errorf(`%s is no option, they are 1 to %d; in quotes ("%s") it is your own words`, inShort(text), len(q.Options), inShort(text))
	case len(picked) > 1 && !q.Multiple:
		return nil, errors.New("this question takes one option; give one number, or say it in your own words")
	}
	return picked, nil
}

// saidChoice tells the answer to a question of the model's own.
func saidChoice(q *tool.Question, answer *tool.Answer) string {
	if answer.Choice == tool.AnswerSkip {
		return "skipped: the model decides"
	}
	if len(answer.Picked) == 0 {
		return "answered in your own words"
	}
	labels := make([]string, len(answer.Picked))
	for i, n := range answer.Picked {
		labels[i] = oneLine(q.Options[n].Label)
	}
	return "answered: " + strings.Join(labels, ", ")
}

// showPlan prints a plan and what can be decided about it.
func (c *chat) showPlan(q *tool.Question) {
	c.wrapped(lines.Warn, "? ", oneLine(q.Title))
	c.quote(q.Preview)
	c.field("asked by", q.Agent)
	c.warning(q)
	c.wrapped(lines.Normal, "  b  ", "build: carry it out, and ask for changes")
	c.wrapped(lines.Normal, "  a  ", "build, and accept edits inside the root without a question")
	c.wrapped(lines.Normal, "  k  ", "keep planning")
	c.wrapped(lines.Normal, "  e  ", "edit the plan")
	c.say("  words after the letter go to the model: k the tests come first")
}

func planKeys(q *question) string {
	if q.editing || len(q.draft) > 0 {
		return "…"
	}
	return "b/a/k/e"
}

// planEnd is the line that ends an edited plan.
const planEnd = "."

// readPlan takes a line: a letter with a comment, or a line of the edited plan.
func (q *question) readPlan(text string) (answer tool.Answer, complete bool, err error) {
	if q.editing {
		return q.readEdited(text)
	}
	whole, complete := q.joined(text)
	if !complete {
		return answer, false, nil
	}
	answer, err = parsePlanAnswer(whole)
	if err != nil {
		return answer, false, err
	}
	if answer.Choice == tool.AnswerEditPlan {
		q.editing = true
		if answer.Comment != "" {
			q.draft = append(q.draft, answer.Comment)
		}
		return tool.Answer{}, false, nil
	}
	return answer, true, nil
}

// parsePlanAnswer reads a letter and the comment after it.
func parsePlanAnswer(text string) (tool.Answer, error) {
	word, comment := cutWord(text)
	answer := tool.Answer{Comment: comment}
	switch strings.ToLower(word) {
	case "b", "y", "yes", "build":
		answer.Choice = tool.AnswerBuild
	case "a":
		answer.Choice = tool.AnswerAcceptEdits
	case "k", "n", "no", "keep":
		answer.Choice = tool.AnswerKeepPlanning
	case "e", "edit":
		answer.Choice = tool.AnswerEditPlan
	default:
		return answer, fmt.Errorf("%q is no answer; %s", inShort(text), howToAnswer)
	}
	if n := utf8.RuneCountInString(comment); n > tool.AnswerLimit {
		return answer, fmt.Errorf("that comment is %d characters long, and at most %d are taken", n, tool.AnswerLimit)
	}
	return answer, nil
}

// readEdited takes a line of the plan. What is no plan ends the edit, and the
// question stands as before.
func (q *question) readEdited(text string) (answer tool.Answer, complete bool, err error) {
	if text != planEnd {
		q.draft = append(q.draft, text)
		return answer, false, nil
	}
	plan := strings.TrimSpace(strings.Join(q.draft, "\n"))
	q.draft, q.editing = nil, false
	if plan == "" {
		return answer, false, errors.New("nothing was typed; the plan stays as it was")
	}
	if n := utf8.RuneCountInString(plan); n > tool.PlanLimit {
		return answer, false, fmt.Errorf("that plan is %d characters long, and at most %d are taken; it stays as it was", n, tool.PlanLimit)
	}
	return tool.Answer{Choice: tool.AnswerEditPlan, Text: plan}, true, nil
}
