package shellscan

// wrapperOf is the table of commands that start the command in their arguments.
func wrapperOf(name string) (wrapper, bool) {
	switch name {
	case "timeout", "gtimeout":
		return wrapper{values: "ks", long: []string{"kill-after", "signal"}, skip: 1}, true
	case "nice", "gnice":
		return wrapper{values: "n", long: []string{"adjustment"}}, true
	case "nohup", "gnohup", "setsid", "builtin", "busybox", "toybox", "unbuffer", "fakeroot", "eatmydata",
		"torsocks", "torify", "command", "catchsegv", "winpty", "dbus-run-session", "aoss", "padsp",
		"coproc", "noglob", "nocorrect":
		return wrapper{}, true
	case "exec":
		return wrapper{values: "a"}, true
	case "stdbuf", "gstdbuf":
		return wrapper{values: "ioe", long: []string{"input", "output", "error"}}, true
	case "time", "gtime":
		return wrapper{values: "of", long: []string{"output", "format"}}, true
	case "env", "genv":
		return wrapper{values: "uCa", long: []string{"unset", "chdir", "argv0"}, assigns: true}, true
	case "xargs", "gxargs":
		return wrapper{values: "aEIdLnPsJRS", open: true, long: []string{"arg-file", "delimiter", "max-args",
			"max-procs", "max-chars", "process-slot-var"}}, true
	case "parallel", "sem":
		return wrapper{values: "jnNSaIdLP", open: true, long: []string{"jobs", "arg-file", "max-args", "sshlogin",
			"delay", "timeout", "retries", "results", "joblog", "colsep", "delimiter"}}, true
	case "watch":
		return wrapper{values: "nq", long: []string{"interval", "equexit"}}, true
	case "flock":
		return wrapper{values: "wE", long: []string{"timeout", "wait", "conflict-exit-code"}, skip: 1}, true
	case "entr":
		return wrapper{}, true
	case "script":
		return wrapper{values: "BIOTEmot", maybe: 1, long: []string{"log-in", "log-out", "log-io", "log-timing", "echo", "output-limit"}}, true
	}
	if w, ok := privilegeWrapper(name); ok {
		return w, true
	}
	if w, ok := systemWrapper(name); ok {
		return w, true
	}
	return projectWrapper(name)
}

// privilegeWrapper are those that start a command as somebody else.
func privilegeWrapper(name string) (wrapper, bool) {
	switch name {
	case "sudo":
		return wrapper{values: "CDghpRrTtUuac", assigns: true, long: []string{"user", "group", "host", "prompt",
			"close-from", "chdir", "chroot", "role", "type", "other-user", "command-timeout", "login-class"}}, true
	case "doas":
		return wrapper{values: "uCa"}, true
	case "pkexec":
		return wrapper{values: "u", long: []string{"user"}}, true
	case "runuser", "su":
		return wrapper{values: "ugGscw", long: []string{"user", "group", "supp-group", "shell", "command", "session-command"}}, true
	case "setpriv":
		return wrapper{loose: true, plain: "d", long: []string{"reuid", "regid", "ruid", "euid", "rgid", "egid", "groups",
			"inh-caps", "ambient-caps", "bounding-set", "securebits", "pdeathsig"}}, true
	}
	return wrapper{}, false
}

// systemWrapper are those that change in what surroundings a command runs, or watch it.
func systemWrapper(name string) (wrapper, bool) {
	switch name {
	case "ionice":
		return wrapper{values: "cnpPu", long: []string{"class", "classdata"}}, true
	case "chrt":
		return wrapper{values: "TPD", skip: 1}, true
	case "taskset":
		return wrapper{skip: 1}, true
	case "linux32", "linux64", "setarch", "i386", "uname26", "faketime":
		return wrapper{maybe: 1}, true
	case "chroot":
		return wrapper{skip: 1, long: []string{"userspec", "groups"}}, true
	case "strace", "ltrace":
		return wrapper{values: "eopEOsuabIPXAnwl", plain: "fcCdDFhiknqrtTvVwxyzZS", loose: true, long: []string{"output", "trace"}}, true
	case "valgrind", "gdb", "rr", "heaptrack", "hyperfine":
		return wrapper{values: "n", plain: "qv", loose: true}, true
	case "perf":
		return wrapper{values: "eopCt", run: []string{"record", "stat", "trace"}}, true
	case "unshare", "nsenter":
		return wrapper{values: "SGRwlt", long: []string{"setuid", "setgid", "root", "wd", "target", "map-user", "map-group"}}, true
	case "systemd-run":
		return wrapper{values: "pHMuEt", long: []string{"property", "unit", "setenv", "slice", "uid", "gid", "description", "working-directory"}}, true
	case "systemd-inhibit", "prlimit", "numactl", "firejail", "proxychains", "proxychains4", "cpulimit":
		return wrapper{values: "fC", loose: true, plain: "qv"}, true
	case "rlwrap":
		return wrapper{values: "fC"}, true
	case "caffeinate":
		return wrapper{values: "tw"}, true
	}
	return wrapper{}, false
}

// projectWrapper are the tools of a language or project that start a command in
// the project's surroundings.
func projectWrapper(name string) (wrapper, bool) {
	switch name {
	case "npm", "pnpm", "yarn": // their run takes the name of a script
		return wrapper{values: "pwC", run: []string{"exec", "x", "dlx"}}, true
	case "uv", "poetry", "pipenv", "pdm", "rye", "bundle", "conda", "mamba", "pixi", "rbenv", "pyenv", "asdf",
		"nvm", "volta", "opam", "dotenv", "doppler", "op", "mise", "hatch", "tox":
		return wrapper{values: "npC", run: []string{"run", "exec"}, long: []string{"with", "python", "package", "group", "extra",
			"name", "prefix", "env-file", "directory", "project"}}, true
	case "direnv":
		return wrapper{skip: 1, run: []string{"exec"}}, true
	}
	return wrapper{}, false
}
