package budget

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"garuda/internal/core"
)

const model = "fake/m"

func request(tokens int) Request {
	return Request{Model: model, Tokens: tokens, USD: float64(tokens) / 1e6, PriceKnown: true}
}

func usage(tokens int) core.ModelUsage {
	return core.ModelUsage{
		Spec: model, Usage: core.Usage{Input: tokens}, Cost: core.Cost{USD: float64(tokens) / 1e6, Known: true}, Requests: 1,
	}
}

// node is an account with what a plain count says of it.
type node struct {
	*Account
	parent *node
	call   string
	spent  int
	floor  int
	open   []*Reservation
	told   map[string]int
	closed bool
}

func (n *node) below(of *node) bool {
	for ; n != nil; n = n.parent {
		if n == of {
			return true
		}
	}
	return false
}

// forest draws operations on a tree of accounts and counts along.
type forest struct {
	t     *rapid.T
	nodes []*node
}

func newForest(t *rapid.T) *forest {
	limits := rapid.Custom(func(t *rapid.T) Limits {
		l := Limits{Tokens: rapid.IntRange(1, 2000).Draw(t, "limit")}
		if rapid.Bool().Draw(t, "money") {
			l.USD, l.Tokens = float64(l.Tokens)/1e6, 0
		}
		return l
	})
	f := &forest{t: t}
	add := func(parent *node) {
		n := &node{parent: parent, call: fmt.Sprint("call ", len(f.nodes)), told: map[string]int{}}
		told := func(call string, used core.ModelUsage) { n.told[call] += used.Usage.Total() }
		l := limits.Draw(t, "limits")
		if parent == nil {
			n.Account = New(l)
		} else {
			if rapid.Bool().Draw(t, "no limit of its own") {
				l = Limits{}
			}
			n.Account = parent.Child(n.call, l)
		}
		n.Tell(told)
		f.nodes = append(f.nodes, n)
	}
	add(nil)
	for range rapid.IntRange(0, 5).Draw(t, "agents") {
		add(f.any("parent"))
	}
	return f
}

func (f *forest) any(what string) *node {
	return f.nodes[rapid.IntRange(0, len(f.nodes)-1).Draw(f.t, what)]
}

func (f *forest) book(n *node, tokens int) {
	for ; n != nil; n = n.parent {
		n.spent += tokens
	}
}

// reserve sends a request of an agent; what it keeps must be enough for one that is
// no larger.
func (f *forest) reserve(*rapid.T) {
	n, tokens := f.any("agent"), rapid.IntRange(1, 600).Draw(f.t, "tokens")
	may, sure := n.Account.kept, tokens <= n.floor
	for p := n.parent; p != nil; p = p.parent {
		may = may && (p.floor == 0 || p.Account.kept)
	}
	r, err := n.Reserve(request(tokens))
	switch {
	case err == nil:
		n.open, n.floor = append(n.open, r), 0
	case may && sure && !n.closed:
		f.t.Fatalf("%d tokens were refused to an agent that keeps %d: %v", tokens, n.floor, err)
	}
}

// part takes a request out of what the agent keeps; the rest stays kept.
func (f *forest) part(*rapid.T) {
	n, tokens := f.any("agent"), rapid.IntRange(1, 600).Draw(f.t, "tokens")
	if r, err := n.ReservePart(request(tokens)); err == nil {
		n.open, n.floor = append(n.open, r), max(n.floor-tokens, 0)
	}
}

func (f *forest) beside(*rapid.T) {
	n := f.any("agent")
	if r, err := n.ReserveBeside(request(rapid.IntRange(1, 600).Draw(f.t, "tokens"))); err == nil {
		n.open = append(n.open, r)
	}
}

func (f *forest) keep(*rapid.T) {
	n := f.any("agent")
	if n.closed {
		return
	}
	n.floor = rapid.IntRange(1, 600).Draw(f.t, "floor")
	n.Keep(request(n.floor))
}

func (f *forest) settle(*rapid.T) {
	n := f.any("agent")
	if len(n.open) == 0 {
		return
	}
	i := rapid.IntRange(0, len(n.open)-1).Draw(f.t, "which")
	r := n.open[i]
	n.open = append(n.open[:i:i], n.open[i+1:]...)
	if rapid.Bool().Draw(f.t, "lost") {
		if got := r.Lose(); got.Usage.Unreported != r.Tokens || got.UnreportedUSD != r.USD {
			f.t.Fatalf("lost %+v of %+v", got, r.Request)
		}
		f.book(n, r.Tokens)
	} else {
		used := rapid.IntRange(0, r.Tokens).Draw(f.t, "used")
		r.Settle(usage(used))
		f.book(n, used)
	}
	r.Settle(usage(1_000_000)) // twice is nothing
	r.Lose()
}

// end closes the account of an agent whose calls have ended, and those below.
func (f *forest) end(*rapid.T) {
	top := f.any("agent")
	if top.parent == nil {
		return
	}
	for i := len(f.nodes) - 1; i >= 0; i-- {
		n := f.nodes[i]
		if !n.below(top) || n.closed {
			continue
		}
		for _, r := range n.open {
			f.book(n, r.Tokens)
		}
		n.open, n.closed, n.floor = nil, true, 0
		n.Close()
	}
}

// check holds that no limit is passed, whatever is still to come, and that the sums
// are those of what was settled.
func (f *forest) check(t *rapid.T) {
	for _, n := range f.nodes {
		worst, kept := n.spent, 0
		for _, m := range f.nodes {
			if !m.below(n) {
				continue
			}
			for _, r := range m.open {
				worst += r.Tokens
			}
			if m.Account.kept {
				kept += m.floor
			}
		}
		if got := int(n.Account.spent.tokens); got != n.spent {
			t.Fatalf("%s has spent %d, want %d", n.call, got, n.spent)
		}
		if got := int(n.held.tokens); got != worst-n.spent+kept {
			t.Fatalf("%s holds %d, want %d", n.call, got, worst-n.spent+kept)
		}
		if l := int(n.limit.tokens); l > 0 && worst+kept > l {
			t.Fatalf("%s: %d and %d kept, of %d tokens", n.call, worst, kept, l)
		}
		if l := int(n.limit.nanos) / 1000; n.limit.nanos > 0 && worst+kept > l {
			t.Fatalf("%s: %d and %d kept, of %d millionths of a dollar", n.call, worst, kept, l)
		}
		for _, child := range f.nodes {
			if child.parent == n && n.told[child.call] != child.spent {
				t.Fatalf("%s was told that %s used %d, it was %d", n.call, child.call, n.told[child.call], child.spent)
			}
		}
	}
}

// Whatever is reserved, kept, settled, lost and closed, in any order: no limit of the
// tree is passed, and who keeps a floor can send its next request.
func TestNeverOverTheLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := newForest(t)
		t.Repeat(map[string]func(*rapid.T){
			"reserve": f.reserve, "reserve again": f.reserve, "beside": f.beside, "part": f.part, "keep": f.keep,
			"settle": f.settle, "settle again": f.settle, "end": f.end, "": f.check,
		})
	})
}

// The same with agents that run at once: run it with -race.
func TestManyAgentsAtOnce(t *testing.T) {
	const limit, agents, requests = 50_000, 8, 200
	told := map[string]int{}
	root := New(Limits{Tokens: limit})
	root.Tell(locked(func(call string, used core.ModelUsage) { told[call] += used.Usage.Total() }))
	floor := request(5_000)
	root.Keep(floor)
	var wg sync.WaitGroup
	for i := range agents {
		wg.Go(func() {
			child := root.Child(fmt.Sprint(i), Limits{Tokens: 9_000})
			defer child.Close()
			for n := range requests {
				r, err := child.Reserve(request(100 + n))
				if err != nil {
					return
				}
				if n%3 == 0 {
					r.Lose()
				} else {
					r.Settle(usage(50 + n%50))
				}
			}
		})
	}
	wg.Wait()
	total := 0
	for _, n := range told {
		total += n
	}
	if int(root.spent.tokens) != total || total > limit-floor.Tokens || root.held != floor.sum() {
		t.Errorf("spent %d, told of %d, held %+v", root.spent.tokens, total, root.held)
	}
	if _, err := root.Reserve(floor); err != nil {
		t.Errorf("the parent cannot answer: %v", err)
	}
}

func locked(f func(string, core.ModelUsage)) func(string, core.ModelUsage) {
	var mu sync.Mutex
	return func(call string, used core.ModelUsage) {
		mu.Lock()
		defer mu.Unlock()
		f(call, used)
	}
}

func TestRefusals(t *testing.T) {
	var exceeded *ExceededError
	tokens := New(Limits{Tokens: 100})
	if _, err := tokens.Reserve(request(101)); !errors.As(err, &exceeded) || exceeded.End != core.EndTokenBudget {
		t.Errorf("tokens: %v", err)
	}
	money := New(Limits{USD: 0.0001})
	if _, err := money.Reserve(request(101)); !errors.As(err, &exceeded) || exceeded.End != core.EndSpend {
		t.Errorf("money: %v", err)
	}
	for _, a := range []*Account{tokens, money} {
		if r, err := a.Reserve(request(100)); err != nil {
			t.Error(err)
		} else {
			r.Settle(usage(1))
		}
		if _, err := a.Reserve(request(100)); err == nil {
			t.Error("what was spent does not count")
		}
	}
	if _, err := New(Limits{USD: 1e-12}).Reserve(request(1)); err == nil {
		t.Error("the smallest limit is none")
	}
	child := tokens.Child("1", Limits{})
	child.Close()
	if _, err := child.Reserve(request(1)); !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

// While what a parent wants to keep does not fit, its agents get nothing; as soon as
// it does, they get what it leaves.
func TestAFloorThatDoesNotFit(t *testing.T) {
	root := New(Limits{Tokens: 1000})
	other, err := root.Reserve(request(600))
	if err != nil {
		t.Fatal(err)
	}
	root.Keep(request(500))
	child := root.Child("1", Limits{})
	for what, reserve := range map[string]func(Request) (*Reservation, error){"child": child.Reserve, "side request": root.ReserveBeside} {
		if _, err := reserve(request(1)); err == nil {
			t.Errorf("a %s got what its parent could not keep", what)
		}
	}
	other.Settle(usage(100))
	if _, err := child.Reserve(request(401)); err == nil {
		t.Error("the child did not leave the floor")
	}
	if _, err := child.Reserve(request(400)); err != nil {
		t.Error(err)
	}
	if _, err := root.Reserve(request(500)); err != nil {
		t.Errorf("the parent cannot answer: %v", err)
	}
}

// A report takes the place of what was booked for its call, at every level.
func TestReports(t *testing.T) {
	root := New(Limits{})
	child := root.Child("task", Limits{})
	grandchild := child.Child("deeper", Limits{})
	for a, tokens := range map[*Account]int{child: 10, grandchild: 100} {
		r, err := a.Reserve(request(1000))
		if err != nil {
			t.Fatal(err)
		}
		r.Settle(usage(tokens))
	}
	root.Book(usage(7))
	spent := func(want ...int64) {
		t.Helper()
		if d := cmp.Diff(want, []int64{root.spent.tokens, child.spent.tokens, grandchild.spent.tokens}); d != "" {
			t.Error(d)
		}
	}
	spent(117, 110, 100)
	child.Report("deeper", core.ByModel{usage(150)})
	spent(167, 160, 100)
	root.Report("task", core.ByModel{usage(100), usage(61)})
	spent(168, 160, 100)
	root.Report("other", core.ByModel{usage(2)})
	spent(170, 160, 100)
}

func TestWarnings(t *testing.T) {
	a := New(Limits{Tokens: 1000, USD: 0.002})
	for _, step := range []struct {
		tokens int
		want   []string
	}{
		{799, nil},
		{1, []string{"this session's 1000 tokens"}},
		{1, nil},
		{800, []string{"the $0.002 that this session may cost"}},
		{1, nil},
	} {
		a.Book(usage(step.tokens))
		if d := cmp.Diff(step.want, a.Warn()); d != "" {
			t.Errorf("after %d more: %s", step.tokens, d)
		}
	}
}

func TestLargest(t *testing.T) {
	price := core.Price{Input: 1, CacheWrite: 2, Output: 10, Known: true}
	for _, tc := range []struct {
		name  string
		price core.Price
		size  Size
		want  Request
	}{
		{"estimate", core.Price{}, Size{Estimate: 500, Measured: 300, After: 100, Output: 50}, Request{model, 550, 0, false}},
		{"measured", core.Price{}, Size{Estimate: 500, Measured: 450, After: 100, Output: 50}, Request{model, 600, 0, false}},
		{"written to the cache", price, Size{Estimate: 500, Output: 50}, Request{model, 550, 0.0015, true}},
	} {
		if d := cmp.Diff(tc.want, Largest(model, tc.price, tc.size)); d != "" {
			t.Errorf("%s: %s", tc.name, d)
		}
	}
}

func TestFloor(t *testing.T) {
	results := Results{
		Caps: []int{1000, 10}, Tokens: func(bytes int) int { return bytes / 4 }, Due: func(tokens int) bool { return tokens > 3000 },
	}
	added := (3*emptyResult + 6*1010) / 4
	if got, want := Floor(model, core.Price{}, Size{Estimate: 500, Output: 50}, results).Tokens, 500+added+50; got != want {
		t.Errorf("not due: %d, want %d", got, want)
	}
	if got, want := Floor(model, core.Price{}, Size{Estimate: 1500, Output: 50}, results).Tokens, 2*(1500+added)+50+4096; got != want {
		t.Errorf("due: %d, want %d", got, want)
	}
	if got, want := Floor(model, core.Price{}, Size{Measured: 400, After: 100, Output: 50}, results).Tokens, 500+added+50; got != want {
		t.Errorf("measured: %d, want %d", got, want)
	}
}
