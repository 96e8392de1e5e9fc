// Package budget is the account of what a session and its whole tree of agents may
// spend on model requests, in tokens and in money: reserved before a request is sent,
// settled when it ended.
//
// It is arithmetic under one lock: it sends and writes nothing, and never waits.
package budget

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"garuda/internal/core"
)

// ErrClosed refuses a reservation of an agent that has ended.
var ErrClosed = errors.New("the agent has ended and may send no request")

// ExceededError refuses a reservation that does not fit. A refused request is no step;
// the run ends with End.
type ExceededError struct{ End core.TurnEnd }

func (e *ExceededError) Error() string {
	return "the next request does not fit the budget (" + string(e.End) + ")"
}

// Limits bound an account and those below it; 0 means no bound of its own.
type Limits struct {
	Tokens int
	USD    float64
}

// sum is tokens and billionths of a dollar: whole numbers, so that a sum does not
// depend on the order of its parts.
type sum struct {
	tokens int64
	nanos  int64
}

func (s sum) plus(o sum) sum  { return sum{s.tokens + o.tokens, s.nanos + o.nanos} }
func (s sum) minus(o sum) sum { return sum{s.tokens - o.tokens, s.nanos - o.nanos} }

const nanosADollar = 1e9

func (r Request) sum() sum { return sum{int64(r.Tokens), roundUp(r.USD)} }

func roundUp(usd float64) int64 { return int64(math.Ceil(usd * nanosADollar)) }

func spentBy(m core.ModelUsage) sum {
	return sum{int64(m.Usage.Total()), roundUp(m.Cost.USD + m.UnreportedUSD)}
}

// Account is what one agent may spend. All accounts of a tree share one lock; the
// methods may be called from any goroutine.
type Account struct {
	lock   *sync.Mutex
	parent *Account
	// call is the parent's call that started this account's agent.
	call string
	// told is told what agents below have used, and through which call.
	told func(call string, used core.ModelUsage)

	limit sum // 0: none
	// spent is settled, held is reserved or kept; both hold what accounts below have.
	spent, held sum
	// floor is what this account wants to keep for its own next request; kept is true
	// once it is part of held.
	floor sum
	kept  bool
	// debits are what agents below have used, by call, until that call reports.
	debits map[string]sum
	open   map[*Reservation]bool
	closed bool
	// warned has the limits of which it was said that little is left.
	warned struct{ tokens, usd bool }
}

// New makes the account of a session's main agent.
func New(limits Limits) *Account {
	return &Account{
		lock: new(sync.Mutex), limit: sum{int64(limits.Tokens), roundUp(limits.USD)},
		debits: map[string]sum{}, open: map[*Reservation]bool{},
	}
}

// Child makes the account of an agent that this one's call started. Each of its
// requests has to fit its own limits and those of all above, and leave what they keep.
func (a *Account) Child(call string, limits Limits) *Account {
	c := New(limits)
	c.lock, c.parent, c.call = a.lock, a, call
	return c
}

// Tell sets what is called with what each request of an agent below has used and with
// the call that the agent came from, as soon as it is settled, in the goroutine that
// settles it. It is set before there is an agent below.
func (a *Account) Tell(told func(call string, used core.ModelUsage)) { a.told = told }

// Book adds what was spent before: by a session that is resumed.
func (a *Account) Book(used core.ModelUsage) {
	a.lock.Lock()
	defer a.lock.Unlock()
	a.add(spentBy(used))
}

// Keep sets the floor of this account's own next request. It holds for as long as it
// fits; while it does not, agents below get nothing. It ends with that request, or
// with Drop.
func (a *Account) Keep(floor Request) {
	a.lock.Lock()
	defer a.lock.Unlock()
	a.drop()
	a.floor = floor.sum()
	_ = a.keep()
}

// Drop gives up the floor.
func (a *Account) Drop() {
	a.lock.Lock()
	defer a.lock.Unlock()
	a.drop()
}

// keep makes the floor part of what is held, where it fits and leaves the floors
// above; the lock is held.
func (a *Account) keep() error {
	if a.kept || a.floor == (sum{}) {
		return nil
	}
	if err := a.keepAbove(); err != nil {
		return err
	}
	if err := a.fits(a.floor); err != nil {
		return err
	}
	a.kept = true
	a.hold(a.floor)
	return nil
}

func (a *Account) drop() {
	if a.kept {
		a.hold(sum{}.minus(a.floor))
	}
	a.kept, a.floor = false, sum{}
}

// fits says whether so much is left here and above; the lock is held.
func (a *Account) fits(s sum) error {
	for n := a; n != nil; n = n.parent {
		after := n.spent.plus(n.held).plus(s)
		switch {
		case n.limit.tokens > 0 && after.tokens > n.limit.tokens:
			return &ExceededError{core.EndTokenBudget}
		case n.limit.nanos > 0 && after.nanos > n.limit.nanos:
			return &ExceededError{core.EndSpend}
		}
	}
	return nil
}

func (a *Account) hold(s sum) {
	for n := a; n != nil; n = n.parent {
		n.held = n.held.plus(s)
	}
}

func (a *Account) add(s sum) {
	for n := a; n != nil; n = n.parent {
		n.spent = n.spent.plus(s)
	}
}

// Reservation is a request that may be on its way. Settle or Lose ends it, once; what
// comes after does nothing.
type Reservation struct {
	Request
	account *Account
}

// Reserve admits the agent's own next request, for which what it keeps is there. The
// error is an *ExceededError, or ErrClosed.
func (a *Account) Reserve(r Request) (*Reservation, error) { return a.reserveOwn(r, false) }

// ReservePart admits a request that the agent makes before its next one, for a summary:
// it is taken out of what the agent keeps, and the rest is kept on.
func (a *Account) ReservePart(r Request) (*Reservation, error) { return a.reserveOwn(r, true) }

func (a *Account) reserveOwn(r Request, keepRest bool) (*Reservation, error) {
	a.lock.Lock()
	defer a.lock.Unlock()
	floor := a.floor
	a.drop()
	out, err := a.reserve(r)
	switch {
	case err == nil && !keepRest:
		return out, nil
	case err == nil:
		rest := floor.minus(r.sum())
		floor = sum{max(rest.tokens, 0), max(rest.nanos, 0)}
	}
	a.floor = floor
	_ = a.keep() // what is kept above may have come first meanwhile
	return out, err
}

// ReserveBeside admits a request outside the agent's conversation. Like one of an
// agent below it has to leave what the agent keeps.
func (a *Account) ReserveBeside(r Request) (*Reservation, error) {
	a.lock.Lock()
	defer a.lock.Unlock()
	if err := a.keep(); err != nil {
		return nil, err
	}
	return a.reserve(r)
}

// reserve admits a request that leaves what all above keep; the lock is held.
func (a *Account) reserve(r Request) (*Reservation, error) {
	if a.closed {
		return nil, ErrClosed
	}
	if err := a.keepAbove(); err != nil {
		return nil, err
	}
	s := r.sum()
	if err := a.fits(s); err != nil {
		return nil, err
	}
	a.hold(s)
	out := &Reservation{Request: r, account: a}
	a.open[out] = true
	return out, nil
}

// keepAbove keeps the floors above that did not fit so far, the uppermost first.
func (a *Account) keepAbove() error {
	if a.parent == nil {
		return nil
	}
	if err := a.parent.keepAbove(); err != nil {
		return err
	}
	return a.parent.keep()
}

// Settle books what the request used as its provider reported it.
func (r *Reservation) Settle(used core.ModelUsage) {
	r.account.settle(r, used)
}

// Lose books all of the reservation: the request failed, was cancelled, or its
// provider did not say what it used. It gives what was booked.
func (r *Reservation) Lose() core.ModelUsage {
	used := r.Lost()
	r.account.settle(r, used)
	return used
}

func (a *Account) settle(r *Reservation, used core.ModelUsage) {
	a.lock.Lock()
	if !a.open[r] {
		a.lock.Unlock()
		return
	}
	delete(a.open, r)
	s := spentBy(used)
	a.hold(sum{}.minus(r.sum()))
	a.add(s)
	for n := a; n.parent != nil; n = n.parent {
		n.parent.debits[n.call] = n.parent.debits[n.call].plus(s)
	}
	a.lock.Unlock()
	for n := a; n.parent != nil; n = n.parent {
		if n.parent.told != nil {
			n.parent.told(n.call, used)
		}
	}
}

// Report takes what a call's agent says that it has used, in all, and puts it in place
// of what was booked for that call so far, and of nothing else.
func (a *Account) Report(call string, used core.ByModel) {
	a.lock.Lock()
	defer a.lock.Unlock()
	more := sum{}.minus(a.debits[call])
	for _, m := range used {
		more = more.plus(spentBy(m))
	}
	delete(a.debits, call)
	a.add(more)
	for n := a; n.parent != nil; n = n.parent {
		n.parent.debits[n.call] = n.parent.debits[n.call].plus(more)
	}
}

// Close ends the account of an agent that has ended: it keeps nothing any more, sends
// nothing any more, and what is still on its way counts in full.
func (a *Account) Close() {
	a.lock.Lock()
	a.drop()
	a.closed = true
	var left []*Reservation
	for r := range a.open {
		left = append(left, r)
	}
	a.lock.Unlock()
	for _, r := range left {
		r.Lose()
	}
}

// warnShare is the part of a limit from which on it is said that it is nearly spent.
const warnShare = 0.8

// Warn says which limits are spent to 80 %, in words, each of them once.
func (a *Account) Warn() []string {
	a.lock.Lock()
	defer a.lock.Unlock()
	var out []string
	if l := a.limit.nanos; l > 0 && !a.warned.usd && float64(a.spent.nanos) >= warnShare*float64(l) {
		a.warned.usd = true
		out = append(out, fmt.Sprintf("the $%s that this session may cost", core.Dollars(float64(l)/nanosADollar)))
	}
	if l := a.limit.tokens; l > 0 && !a.warned.tokens && float64(a.spent.tokens) >= warnShare*float64(l) {
		a.warned.tokens = true
		out = append(out, fmt.Sprintf("this session's %d tokens", l))
	}
	return out
}

// Left is how many tokens can still be reserved beside what is on its way and kept;
// ok is false where nothing bounds them.
func (a *Account) Left() (tokens int, ok bool) {
	a.lock.Lock()
	defer a.lock.Unlock()
	left := int64(math.MaxInt64)
	for n := a; n != nil; n = n.parent {
		if n.limit.tokens > 0 {
			left, ok = min(left, n.limit.tokens-n.spent.tokens-n.held.tokens), true
		}
	}
	if !ok {
		return 0, false
	}
	return int(max(left, 0)), true
}
