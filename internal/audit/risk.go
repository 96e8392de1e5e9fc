package audit

import "slices"

// Decision is what a line tells of.
type Decision string

// What was decided about a call, and what became of it.
const (
	AllowReadOnly     Decision = "allow_readonly"
	AllowSessionState Decision = "allow_session_state"
	AllowSandbox      Decision = "allow_sandbox"
	AllowRule         Decision = "allow_rule"
	AllowSession      Decision = "allow_session"
	AllowEdit         Decision = "allow_edit"
	AllowYolo         Decision = "allow_yolo"
	AllowHook         Decision = "allow_hook"
	AllowUser         Decision = "allow_user"
	DenyPolicy        Decision = "deny_policy"
	DenyGuard         Decision = "deny_guard"
	DenySensitive     Decision = "deny_sensitive"
	DenyProtected     Decision = "deny_protected"
	DenyRule          Decision = "deny_rule"
	DenyPlan          Decision = "deny_plan"
	DenyAsk           Decision = "deny_ask"
	DenyRepeat        Decision = "deny_repeat"
	DenyUser          Decision = "deny_user"
	DenyUnattended    Decision = "deny_unattended"
	DenyHook          Decision = "deny_hook"
	DenyBudget        Decision = "deny_budget"
	Consent           Decision = "consent"
	NetworkAllow      Decision = "network_allow"
	NetworkDeny       Decision = "network_deny"
	Hook              Decision = "hook"
	Executed          Decision = "executed"
	Error             Decision = "error"
)

// Risk is how much a person who reads the log should look at a line.
type Risk string

// The risks, the least first.
const (
	Low      Risk = "low"
	Medium   Risk = "medium"
	High     Risk = "high"
	Critical Risk = "critical"
)

// risks lists them in order.
var risks = [...]Risk{Low, Medium, High, Critical}

// AtLeast is the higher of two risks.
func (r Risk) AtLeast(least Risk) Risk {
	if slices.Index(risks[:], r) < slices.Index(risks[:], least) {
		return least
	}
	return r
}

// Risk is what a decision means by itself. What the call is (one that reaches
// the network, leaves the sandbox, deletes) may raise it.
func (d Decision) Risk() Risk {
	switch d {
	case AllowReadOnly, AllowSessionState, Executed:
		return Low
	case DenyPolicy, DenyGuard, DenySensitive, DenyProtected:
		return Critical
	case DenyRule, DenyUser, DenyAsk, DenyRepeat, AllowYolo, NetworkAllow, NetworkDeny:
		return High
	}
	return Medium
}

// Decided is the word for a decision: whether the call may run, and by what, in
// the words of the decision table.
func Decided(allowed bool, by string) Decision {
	if allowed {
		switch by {
		case "read_only":
			return AllowReadOnly
		case "accept_edits":
			return AllowEdit
		}
		if d := Decision("allow_" + by); slices.Contains(Decisions(), d) {
			return d
		}
		return AllowUser // what nobody knows shows as more than it may be
	}
	switch by {
	case "denied_before", "unreadable":
		return DenyAsk
	}
	if d := Decision("deny_" + by); slices.Contains(Decisions(), d) {
		return d
	}
	return DenyPolicy
}

// Decisions lists every word, for those who check that they know them all.
func Decisions() []Decision {
	return []Decision{
		AllowReadOnly, AllowSessionState, AllowSandbox, AllowRule, AllowSession, AllowEdit, AllowYolo, AllowHook, AllowUser,
		DenyPolicy, DenyGuard, DenySensitive, DenyProtected, DenyRule, DenyPlan, DenyAsk, DenyRepeat, DenyUser,
		DenyUnattended, DenyHook, DenyBudget, Consent, NetworkAllow, NetworkDeny, Hook, Executed, Error,
	}
}

// Level is how much of what happens is written.
type Level string

// The levels. LevelMutations leaves out what was allowed at a low risk,
// LevelDenials all that was allowed and went well.
const (
	LevelAll       Level = "all"
	LevelMutations Level = "mutations"
	LevelDenials   Level = "denials"
)

// keeps tells whether a line is written at this level.
func (v Level) keeps(l *Line) bool {
	switch v {
	case LevelDenials:
		return !l.Allowed || l.IsError
	case LevelMutations:
		return !l.Allowed || l.IsError || l.Risk != Low
	}
	return true
}
