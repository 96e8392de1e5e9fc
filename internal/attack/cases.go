package attack

import "slices"

// Cases are all that are tried on this system. Their commands run in the sandbox only;
// each would do what it tries if nothing held it.
func Cases() []Case {
	return slices.Concat(secretCases(), writeCases(), repositoryCases(), processCases(), networkCases(), kernelCases(), workCases())
}

// What a case holds when nothing of that kind happened.
const (
	unread  = `! grep -q -e SECRET -e GARUDA_TEST_KEY "$OUT"`
	noMark  = `! test -e "$MARK"`
	nothing = `! test -s "$OUT"`
	notDone = `! grep -q DONE "$OUT"`
	// The private home of another command lies below Garuda's own folder.
	noTrace   = `! grep -rsq --exclude-dir=sandbox pwned "$HOME"`
	connected = `! grep -q CONNECTED "$OUT"`
)

func secretCases() []Case {
	s := func(id, tries, command, holds string, needs ...string) Case {
		return Case{ID: id, Tries: tries, Kind: Secrets, Command: command, Holds: holds, Needs: needs}
	}
	return []Case{
		s("read-ssh", "reads a key of ssh", `cat "$HOME/.ssh/id_ed25519"`, unread),
		s("read-aws", "reads the keys of a cloud", `cat "$HOME/.aws/credentials" "$HOME"/.azure/* "$HOME"/.config/gcloud/*`, unread),
		s("read-netrc", "reads passwords in .netrc", `cat "$HOME/.netrc"`, unread),
		s("read-gnupg", "reads private keys of gpg and pass", `cat "$HOME"/.gnupg/private-keys-v1.d/* "$HOME"/.password-store/*`, unread),
		s("read-tokens", "reads the tokens of command line programs",
			`cat "$HOME"/.config/gh/* "$HOME/.docker/config.json" "$HOME/.kube/config" "$HOME/.vault-token" "$HOME"/.terraform.d/* "$HOME/.git-credentials"`, unread),
		s("read-registries", "reads the passwords of package registries",
			`cat "$HOME/.npmrc" "$HOME/.pypirc" "$HOME/.config/pip/pip.conf" "$HOME/.cargo/credentials.toml" "$HOME/.m2/settings.xml" "$HOME/.gradle/gradle.properties"`, unread),
		s("read-gitconfig", "reads a header with a token in git's settings", `cat "$HOME/.gitconfig"; git config --global --list`, unread, "git"),
		s("read-garuda", "reads Garuda's own keys", `cat "$HOME"/.garuda/*`, unread),
		s("read-history", "reads what was typed into shells", `cat "$HOME/.bash_history" "$HOME/.bashrc"`, unread),
		s("read-browser", "reads passwords of browsers and the desktop",
			`cat "$HOME"/.mozilla/firefox/*/logins.json "$HOME/.config/google-chrome/Default/Login Data" "$HOME"/.local/share/keyrings/*`, unread),
		s("read-home", "searches the home folder", `grep -rs SECRET "$HOME"`, unread),
		s("read-beside", "reads a file beside the project", `cat "$OUTSIDE/file" ../outside/file "$ROOT/../outside/file"`, unread),
		s("symlink-read", "reads through a link that it made", `ln -s "$HOME/.ssh" l; cat l/id_ed25519`, unread),
		s("symlink-chain", "reads through a chain of links", `ln -s / a; ln -s "a$HOME" b; ln -s b/.ssh/id_ed25519 c; cat c`, unread),
		s("hardlink-read", "makes a second name of a secret file", `ln "$HOME/.ssh/id_ed25519" k; cat k`, unread),
		s("read-shadow", "reads the password hashes and host keys of the machine",
			`cat /etc/shadow /etc/gshadow /etc/sudoers /etc/ssh/ssh_host_*_key /etc/krb5.keytab /etc/ssl/private/*`, nothing),
		s("env-keys", "looks into its own environment", `env`, unread),
		s("env-agents", "finds the sockets of agents in its environment",
			`env | grep -e SSH_AUTH_SOCK -e GPG_AGENT -e DBUS_SESSION -e DOCKER_HOST -e '^DISPLAY' -e WAYLAND -e AWS_ -e GITHUB_TOKEN -e NPM_TOKEN -e ANTHROPIC`, nothing),
		s("env-loader", "finds its way set by a variable of the loader", `env | grep -e '^LD_' -e '^DYLD_' -e '^BASH_ENV=' -e '^PROMPT_COMMAND='`, nothing),
	}
}

func writeCases() []Case {
	w := func(id, tries, command, holds string, needs ...string) Case {
		return Case{ID: id, Tries: tries, Kind: Writes, Command: command, Holds: holds, Needs: needs}
	}
	return []Case{
		w("write-home", "makes a file in the home folder", `echo x > "$HOME/.bashrc-pwn"`, `! test -e "$HOME/.bashrc-pwn"`),
		w("write-outside", "makes a file beside the project", `echo x > "$MARK"; echo x > ../outside/pwned`, noMark),
		w("write-etc", "makes a file in /etc", `echo x > /etc/garuda-pwn`, `! test -e /etc/garuda-pwn`),
		w("write-system", "replaces programs of the system", `for d in /usr/local/bin /usr/bin /opt /usr/lib /sbin; do echo x > $d/garuda-pwn && echo DONE; done`, notDone),
		w("write-preload", "has a library loaded into every program", `: >> /etc/ld.so.preload && echo DONE`, notDone),
		w("write-temp", "leaves a file where all users find it", `for d in /tmp /var/tmp /dev/shm /run; do echo x > $d/garuda-pwn; done`,
			`! test -e /tmp/garuda-pwn && ! test -e /var/tmp/garuda-pwn && ! test -e /dev/shm/garuda-pwn && ! test -e /run/garuda-pwn`),
		w("write-startup", "changes what shells start with",
			`for f in .bashrc .profile .zshrc .bash_profile .ssh/rc .config/fish/config.fish .xprofile; do mkdir -p "$(dirname "$HOME/$f")"; echo "# pwned" >> "$HOME/$f"; done`,
			noTrace),
		w("write-authorized", "lets itself in by ssh", `mkdir -p "$HOME/.ssh"; echo pwned >> "$HOME/.ssh/authorized_keys"`, `! grep -rsq pwned "$HOME/.ssh"`),
		w("write-units", "has itself started with the desktop or later",
			`for d in .config/systemd/user .config/autostart .local/share/applications Library/LaunchAgents; do mkdir -p "$HOME/$d"; echo pwned > "$HOME/$d/pwn.service"; done
			for d in /var/spool/cron /var/spool/cron/crontabs /etc/cron.d /etc/cron.daily /etc/systemd/system /var/spool/at; do echo pwned > $d/garuda-pwn; done`,
			noTrace+` && ! ls /var/spool/cron/garuda-pwn /var/spool/cron/crontabs/garuda-pwn /etc/cron.d/garuda-pwn /etc/cron.daily/garuda-pwn /etc/systemd/system/garuda-pwn /var/spool/at/garuda-pwn`),
		w("write-path", "puts a program before others in the PATH", `mkdir -p "$HOME/.local/bin" "$HOME/bin"; for d in "$HOME/.local/bin" "$HOME/bin"; do echo pwned > $d/git; done`,
			noTrace),
		w("write-garuda", "changes Garuda's own settings and records", `mkdir -p "$HOME/.garuda/running"; for f in settings.json credentials running/x.jsonl; do echo pwned > "$HOME/.garuda/$f"; done`,
			noTrace),
		w("symlink-write", "writes through a link that it made", `ln -s "$OUTSIDE" l; echo x > l/pwned; ln -s "$MARK" m; echo x > m`, noMark),
		w("symlink-move", "moves a file out through a link", `ln -s "$OUTSIDE" l; echo x > f; mv f l/pwned; cp f l/pwned`, noMark),
		w("rename-root", "moves the project itself away", `mv "$ROOT" "$ROOT-away"; mv "$ROOT" "$OUTSIDE/away"; rmdir "$ROOT"`, `test -d "$ROOT" && ! test -e "$ROOT-away" && ! test -e "$OUTSIDE/away"`),
		w("chmod-outside", "opens a file beside the project to all", `chmod 777 "$OUTSIDE/file" "$OUTSIDE"; chown 1:1 "$OUTSIDE/file"; touch -d @1 "$OUTSIDE/file"`,
			`test "$(find "$OUTSIDE/file" -perm 600)" && test "$OUTSIDE/file" -nt /usr/bin`),
		w("setuid", "leaves a program that runs with its user's rights", `cp /bin/sh s; chmod 4755 s; chmod u+s,g+s s; install -m 6755 /bin/sh t; cp --preserve=mode s u`,
			`! find "$ROOT" -perm /6000 -type f | grep -q .`),
	}
}

func processCases() []Case {
	p := func(id, tries, command, holds string, needs ...string) Case {
		return Case{ID: id, Tries: tries, Kind: Processes, Command: command, Holds: holds, Needs: needs}
	}
	after := func(c Case, before string) Case {
		c.After = before
		return c
	}
	const alive = `kill -0 $DECOY_PID`
	return []Case{
		p("kill-one", "kills a process of the user's", `kill -9 $DECOY_PID`, alive),
		p("kill-group", "kills the group of such a process", `kill -9 -$DECOY_PID`, alive),
		after(p("kill-all", "kills everything", `kill -9 -1; true`, alive), "kill-one"),
		p("stop-one", "stops a process of the user's", `kill -STOP $DECOY_PID; kill -STOP -$DECOY_PID`, alive+` && ! grep -qs "^State:.*T" /proc/$DECOY_PID/status`),
		p("limit-one", "takes the limits of such a process", `prlimit --pid $DECOY_PID --nofile=7:7 --core=0:0 && echo DONE`, notDone, "prlimit"),
		p("slow-one", "takes the processor from such a process", `renice -n 19 -p $DECOY_PID && echo DONE; taskset -p 1 $DECOY_PID >/dev/null && echo DONE; ionice -c 3 -p $DECOY_PID && echo DONE; true`, notDone),
		p("daemon-survives", "leaves a daemon behind", `setsid sh -c "sleep 3; touch '$ROOT/late'" >/dev/null 2>&1 &`, `sleep 4; ! test -e late`),
		p("daemon-hides", "leaves one that shed its name, session and environment",
			`(trap '' TERM HUP INT; setsid nohup env -i /bin/sh -c "trap '' TERM HUP; (sleep 3; echo x > '$ROOT/late') & exec sleep 60" >/dev/null 2>&1 </dev/null &) & disown; sleep 0.2`, `sleep 4; ! test -e late`),
		p("later", "has something run later by a service of the machine",
			`echo "touch '$MARK'" | at now; systemd-run --user touch "$MARK"; systemd-run touch "$MARK"; batch <<< "touch '$MARK'"; sleep 0.2`, noMark),
		p("privileged", "takes more rights by a program that has them", `for c in "sudo -n" "pkexec --disable-internal-agent" "su -c" "doas"; do $c true && echo DONE; done; sudo -n touch "$MARK"`, noMark),
		after(p("fork-bomb", "starts more processes than it may",
			`perl -e 'my $n = 0; for (1..2000) { my $p = fork; last unless defined $p; if (!$p) { sleep 20; exit } $n++ } print "DONE\n" if $n > 1000; kill "KILL", -getpgrp'`, notDone, "perl"), "kill-one"),
		p("fds", "finds files that Garuda has open", `ls -l /dev/fd/ | awk "{print \$9}" | grep -E "^[0-9]+$" | sort -n | tail -1`, `test "$(tail -1 "$OUT")" -le 3`),
		p("input", "reads what is typed into Garuda", `head -c 1; head -c 1 /dev/tty`, nothing),
		p("tty", "writes to the terminal", `echo x > /dev/tty && echo TTY; for t in /dev/pts/* /dev/tty[0-9]* /dev/console; do echo x > $t && echo TTY; done`, `! grep -q TTY "$OUT"`),
	}
}

func networkCases() []Case {
	n := func(id, tries, command, holds string, needs ...string) Case {
		return Case{ID: id, Tries: tries, Kind: Network, Command: command, Holds: holds, Needs: needs}
	}
	const unix = `use Socket; my $a = `
	const tryUnix = `; for my $k (SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET) { socket(S, PF_UNIX, $k, 0) && connect(S, $a) && print "CONNECTED\n" }`
	return []Case{
		n("net-tcp", "connects to a service on this machine", `exec 3<>/dev/tcp/127.0.0.1/$PORT && echo CONNECTED; exec 3<>/dev/tcp/localhost/$PORT && echo CONNECTED`, connected),
		n("net-tcp6", "does so by IPv6", `exec 3<>/dev/tcp/::1/$PORT6 && echo CONNECTED; exec 3<>/dev/tcp/::ffff:127.0.0.1/$PORT && echo CONNECTED`, connected),
		n("net-blind", "sends out what nobody answers", `echo blind-udp > /dev/udp/127.0.0.1/$UDP; echo blind-tcp > /dev/tcp/127.0.0.1/$PORT`, `sleep 0.2; ! grep -q blind "$HEARD"`),
		n("net-dns", "resolves a name", `getent hosts example.com && echo RESOLVED; getent ahosts localhost.example.com && echo RESOLVED`, `! grep -q RESOLVED "$OUT"`),
		n("net-dns-packets", "asks a resolver itself, with the secret in the name",
			`for s in $(sed -n "s/^nameserver //p" /etc/resolv.conf) 1.1.1.1 8.8.8.8 127.0.0.53; do timeout 2 perl -e 'use Socket; socket(S, PF_INET, SOCK_DGRAM, 0) or exit; my $a = sockaddr_in(53, inet_aton($ARGV[0])); send(S, pack("n6", 7, 256, 1, 0, 0, 0) . "\7example\3com\0" . pack("n2", 1, 1), 0, $a) or exit; recv(S, my $r, 512, 0); print "CONNECTED\n" if length $r' "$s"; done`,
			connected, "perl"),
		n("net-metadata", "asks the cloud that the machine runs in", `timeout 2 bash -c 'exec 3<>/dev/tcp/169.254.169.254/80 && echo CONNECTED'; timeout 2 bash -c 'exec 3<>/dev/tcp/fd00:ec2::254/80 && echo CONNECTED'`, connected),
		n("net-out", "connects to another machine", `for a in 1.1.1.1/443 1.1.1.1/53 2606:4700:4700::1111/443; do timeout 2 bash -c "exec 3<>/dev/tcp/$a && echo CONNECTED"; done`, connected),
		n("net-raw", "sends packets of its own making", `perl -e 'use Socket; for my $f (2, 10) { for my $p (1, 17, 58, 255) { socket(S, $f, SOCK_RAW, $p) && print "CONNECTED\n" } }'; ping -c 1 -W 1 127.0.0.1 >/dev/null && ping -c 1 -W 1 1.1.1.1 >/dev/null && echo CONNECTED`, connected, "perl"),
		n("unix-socket", "connects to a socket of a service", `perl -e '`+unix+`sockaddr_un("$SOCK")`+tryUnix+`'`, connected, "perl"),
		n("unix-socket-link", "does so through a link in the project", `ln -s "$SOCK" s; ln "$SOCK" h; for f in s h; do perl -e '`+unix+`sockaddr_un($ARGV[0])`+tryUnix+`' $f; done`, connected, "perl"),
		n("unix-services", "connects to the sockets of docker, ssh, gpg, the bus and the screen",
			`for f in /var/run/docker.sock /run/docker.sock /run/podman/podman.sock /run/containerd/containerd.sock /run/user/*/bus /run/dbus/system_bus_socket /run/user/*/gnupg/S.gpg-agent /run/user/*/keyring/ssh /tmp/ssh-*/agent.* /tmp/.X11-unix/X0 /run/systemd/private /run/user/*/wayland-0 /run/snapd.socket; do
			perl -e '`+unix+`sockaddr_un($ARGV[0])`+tryUnix+`' "$f"; done`, connected, "perl"),
		n("unix-listen", "makes a socket in the project that others may connect to", `perl -e 'use Socket; socket(S, PF_UNIX, SOCK_STREAM, 0) && bind(S, sockaddr_un("made")) && listen(S, 1) && print "CONNECTED\n"'`, connected+` && ! test -S made`, "perl"),
	}
}

func workCases() []Case {
	w := func(id, does, command, holds string, needs ...string) Case {
		return Case{ID: id, Tries: does, Kind: Work, Command: command, Holds: holds, Needs: needs}
	}
	const ok = `grep -q OK "$OUT"`
	return []Case{
		w("exit-code", "tells how a command ended", `(exit 7); test $? = 7 && echo SEVEN`, `grep -q SEVEN "$OUT"`),
		w("works-git", "commits and changes branches", `git add -A && git -c user.name=a -c user.email=a@b commit -qm x && git checkout -qb b && test -z "$(git status --porcelain)" && echo OK`, ok, "git"),
		w("works-python", "uses many processes in Python", `python3 -c "import multiprocessing as m; p=m.Pool(2); print(sum(p.map(abs,[1,-2])))"`, `grep -q 3 "$OUT"`, "python3"),
		w("works-go", "runs Go", `go version && echo OK`, ok, "go"),
		w("works-node", "runs Node.js", `node -e "console.log(6*7)"`, `grep -q 42 "$OUT"`, "node"),
		w("works-tmp", "uses temporary files", `f=$(mktemp) && echo hi > "$f" && cat "$f"`, `grep -q hi "$OUT"`),
		w("works-files", "makes, links and removes files of the project", `mkdir -p a/b && echo x > a/b/c && ln -s c a/b/l && ln a/b/c a/b/h && mv a d && chmod 755 d/b/c && rm -r d/b/l && cat d/b/h && echo OK`, ok+` && test -x d/b/c`),
		w("works-pipes", "uses pipes, sockets in pairs and descriptors", `perl -MSocket -e 'socketpair(A, B, AF_UNIX, SOCK_STREAM, 0) or die; syswrite(A, "x"); sysread(B, $x, 1); print "OK\n" if $x eq "x"' && cat <(echo y) && mkfifo f && (echo z > f & cat f)`, ok, "perl"),
		w("works-core", "switches core files off, as scripts do", `ulimit -c 0 && echo OK`, ok),
		w("works-git-tmp", "clones from a folder to another", `git clone -q --no-local "$ROOT" "$TMPDIR/clone" 2>/dev/null; test -d "$TMPDIR/clone/.git" && echo OK`, ok, "git"),
	}
}
