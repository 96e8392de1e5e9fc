//go:build mutants

package mutants

import (
	"os"
	"runtime"
	"slices"
)

// mutants are the rules. A number is that of a fault that another program had; those
// of the decision table have their controls in internal/policy, beside its rows.
func mutants() []mutant {
	return slices.Concat(projectsAndTeams(), auditLog(), afterCommands(), sandboxes(), remembered())
}

func projectsAndTeams() []mutant {
	const (
		load = "internal/config/load.go"
		team = "internal/config/team.go"
	)
	return []mutant{
		{"18: a project loosens only with a yes", load, "o.Accepted != nil && o.Accepted(want)", "true", "TestEveryKeyFromAProject"},
		{"18: a yes is for what was seen", "internal/config/trust.go", "return slices.Contains(t.file.Projects[trustKey(root)].Settings[w.Key], w.Hash)", "return len(t.file.Projects[trustKey(root)].Settings[w.Key]) > 0", "TestAYesIsForOneValue"},
		{"25: only allowed models", "internal/wire/team.go", "s.team == nil || s.team.AllowsModel(spec)", "true", "TestModelsThatTheTeamDoesNotAllow"},
		{"25: a default is allowed, too", "internal/wire/team.go", "s.team == nil || s.team.AllowsModel(spec)", "true", "TestADefaultThatTheTeamDoesNotAllow"},
		{"26: subagents stay below the policy", team, `"limits.maxSteps": &s.Limits.MaxSteps, "subagents.maxSteps": &s.Subagents.MaxSteps, "moe.maxSteps": &s.MoE.MaxSteps,`,
			`"limits.maxSteps": &s.Limits.MaxSteps,`, "TestTeamBounds"},
		{"26: so do their tokens", team, `"subagents.tokenBudget": &s.Subagents.TokenBudget, "moe.tokenBudget": &s.MoE.TokenBudget,`, "", "TestTeamBounds"},
		{"26: the stricter of two limits", team, "b != none && b < a", "b != none && b > a", "TestTeamIsStricterOfTwo"},
		{"27: no policy of the project's", "internal/config/team_load.go", `if o.Root == "" {`, `if true {`, "TestAProjectsPolicyIsIgnored"},
		{"a policy that others may write", "internal/config/team_load.go", "if err := owned(file); err != nil {", "if err := owned(file); err != nil && false {", "TestAManagedPolicyThatOthersMayWrite"},
	}
}

func auditLog() []mutant {
	const (
		log      = "internal/audit/log.go"
		pipeline = "internal/tool/audit.go"
	)
	return []mutant{
		{"40: no secrets in targets and reasons", log, "line.Target, line.Reason = l.o.Redact(line.Target), l.o.Redact(line.Reason)", "_ = 0", "TestLines"},
		{"41: a line that was not written is told", pipeline, "p.AuditFailed(err)", "_ = err", "TestALineThatIsNotWritten"},
		{"41: nothing runs without its line", pipeline, "if p.Audit.Mandatory() {", "if false {", "TestALineThatIsNotWritten"},
		{"42: whose call it was", pipeline, "line.SessionID, line.Agent = p.SessionID, p.Agent", "_ = 0", "TestLinesNameTheirAgent"},
		{"43: how each call ended", "internal/tool/pipeline.go", "if err := p.auditEnd(prep, out, p.Env.Clock.Now().Sub(start)); err != nil {", "if err := error(nil); err != nil || start.IsZero() && false {", "TestAuditLines"},
		{"44: a removed folder is made again", log, "return err == nil && os.SameFile(ours, there)", "_ = there\n\treturn true", "TestRemovedFoldersAreMadeAgain"},
		{"45: no lines are none", "internal/audit/stats.go", "len(out)-max(0, n)", "len(out)-max(1, n)", "TestLevels"},
		{"45: half a line ends its file", log, "l.close()\n\t\treturn errors.Join(err, cut)", "return errors.Join(err, cut)", "TestHalfALine"},
		{"46: a file of one process", log, `os.Getpid(), hex.EncodeToString(random[:]), logSuffix)`, `0, "000000", logSuffix)`, "TestManyWriters"},
		{"a line that was changed", "internal/audit/audit.go", "if hashOf(body) != said {", "if false {", "TestTampering"},
		{"the chain moves on without its checkpoint", log, "l.seq, l.prev = line.Seq, line.Hash\n\tif l.checkpoints == nil {\n\t\treturn nil\n\t}\n\tif err := l.checkpoint(); err != nil {\n\t\treturn &CheckpointError{Err: err}\n\t}",
			"seq, prev := l.seq, l.prev\n\tl.seq, l.prev = line.Seq, line.Hash\n\tif l.checkpoints == nil {\n\t\treturn nil\n\t}\n\tif err := l.checkpoint(); err != nil {\n\t\tl.seq, l.prev = seq, prev\n\t\treturn &CheckpointError{Err: err}\n\t}", "TestFailedCheckpoint"},
	}
}

func afterCommands() []mutant {
	const watched = "internal/watched/watched.go"
	return []mutant{
		{"a change of a watched file is asked about", "internal/tools/shell/settle.go", "if len(changes)+len(planted) == 0 {", "if true {", "TestWatchedFileIsAsked"},
		{"a change that was not allowed is put back", "internal/tools/shell/settle.go", "call.Env.Workspace.PutBack(c.Was); err != nil", "error(nil); err != nil", "TestWatchedFileIsPutBack"},
		{"a commit of the command's own is not trusted", watched, "!l.w.trusts(ctx, now.head)", "now.head == \"\"", "TestOwnCommitIsNeverKnown"},
		{"a file is what its commit says", watched, "return bytes.Equal(text, c.Is.Data) ||", "return true ||", "TestChanges"},
		{"git's settings stay where they are", "internal/sandbox/view/repository.go", `Path: "commondir", Text: thisFolder`, `Path: "commondir-x", Text: thisFolder`, "TestLocked"},
		{"a grant is for one call", "internal/tool/pipeline.go", "if err := grant.Use(call.ID); err != nil {", "if err := error(nil); err != nil {", "TestNothingRunsWithoutItsOwnGrant"},
	}
}

// sandboxes are the protections of the Linux sandbox: families of calls by what the
// filter answers, and what its process sets up by an attack that then succeeds.
func sandboxes() []mutant {
	if runtime.GOOS != "linux" {
		return nil
	}
	const (
		filter = "internal/sandbox/stage/seccomp_linux.go"
		system = "internal/sandbox/stage/system_linux.go"
		holds  = "internal/attack:TestProtections"
	)
	out := []mutant{
		{"no program gets its user's rights", filter, "syscall.O_CREAT | oTmpfile}", "oTmpfile}", "TestFilterOfModesAndLimits"},
		{"the limit on cores stays", filter, "f = append(f, keepCoreLimit()...)", "_ = keepCoreLimit", "TestFilterOfModesAndLimits"},
		{"no call whose flags lie in memory", filter, "{callClone3, callOpenat2}", "{callOpenat2}", "TestFilter"},
		{"no mode that lies in memory", filter, "{callClone3, callOpenat2}", "{callClone3}", "TestFilter"},
		{"no namespaces by clone", filter, "instruction{jumpAny, 0, 1, namespaces}", "instruction{jumpAny, 0, 1, 0}", "TestFilter"},
		{"no sockets but those of the internet", filter, "families := []uint32{syscall.AF_INET, syscall.AF_INET6}", "families := []uint32{syscall.AF_INET, syscall.AF_INET6, syscall.AF_NETLINK}", "TestFilter"},
		{"no calls of another ABI", filter, "{jumpAtLeast, 0, 1, foreignCalls}", "{jumpAtLeast, 0, 1, 1 << 31}", "TestFilter"},
		{"no calls of another architecture", filter, "{answer, 0, 0, killProcess}", "{answer, 0, 0, allowCall}", "TestFilter"},
		{"no further user namespaces", system, `write("proc/sys/user/max_user_namespaces", "0")`, `write("proc/sys/user/max_user_namespaces", "9")`, "internal/sandbox/linux:TestThereIsNoFurtherUserNamespace"},
		{"no core is handed on", system, `{"core dumps", syscall.RLIMIT_CORE, 1}`, `{"core dumps", syscall.RLIMIT_CORE, 0}`, holds},
		{"what holds a command cannot be looked into", "internal/sandbox/stage/stage_linux.go", "prctl(prSetDumpable, 0, 0)", "prctl(prSetDumpable, 1, 0)", holds},
		{"what is only shown is not written", "internal/sandbox/stage/view_linux.go", "attributes |= attrReadOnly", "attributes |= 0", holds},
	}
	if os.Getuid() == 0 { // for others the modes of these files say the same
		out = append(out,
			mutant{"no switches of the machine", system, `procReadOnly = [...]string{"sys", `, `procReadOnly = [...]string{`, holds},
			mutant{"no facts of the machine", system, `"kallsyms", `, ``, holds},
		)
	}
	if runtime.GOARCH == "amd64" { // the numbers are those of one
		const calls = "internal/sandbox/stage/calls_linux_amd64.go"
		for number, name := range map[string]string{"101": "ptrace", "250": "keyctl", "425": "io_uring_setup", "165": "mount", "304": "open_by_handle_at", "321": "bpf"} {
			out = append(out, mutant{"no " + name, calls, "\t" + number + ", // " + name + "\n", "", "TestFilter"})
		}
	}
	return out
}
