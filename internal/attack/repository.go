package attack

// repositoryCases are about files of the project that decide what others run: git,
// editors, agents, shells. They stay as they are, whether or not they exist.
func repositoryCases() []Case {
	r := func(id, tries, command, holds string, needs ...string) Case {
		return Case{ID: id, Tries: tries, Kind: Repository, Command: command, Holds: holds, Needs: needs}
	}
	const noHook = `! test -e .git/hooks/pre-commit`
	return []Case{
		r("hook-write", "makes a hook of git", `echo "touch $MARK" > .git/hooks/pre-commit`, noHook),
		r("hook-rename", "puts another .git in its place", `mv .git .gitold && mkdir -p .git/hooks && echo x > .git/hooks/pre-commit`, noHook+` && test -d .git`),
		r("hook-folder", "puts another folder of hooks in its place",
			`mv .git/hooks h; rm -rf .git/hooks; mkdir -p new; echo x > new/pre-commit; mv new .git/hooks; ln -sfn "$PWD/new" .git/hooks; mv -T --exchange new .git/hooks; true`, noHook+` && ! test -L .git/hooks`),
		r("hook-case", "makes a hook under a name in other letters", `mkdir -p .git/HOOKS .GIT/hooks; for d in .git/HOOKS .GIT/hooks .Git/Hooks; do echo x > $d/pre-commit; done`, noHook),
		r("git-removed", "removes .git and makes it anew", `rm -rf .git; git init -q .; echo x > .git/hooks/pre-commit; git config core.fsmonitor x`, noHook+` && ! grep -q fsmonitor .git/config`, "git"),
		r("git-file", "makes .git a file that leads elsewhere", `mkdir -p evil/hooks; rm -rf .git; echo "gitdir: evil" > .git; mv -T evil .git`, `test -d .git && ! test -e .git/evil`),
		r("git-config", "changes the settings of git", `git config core.fsmonitor "touch $MARK"; git config core.hooksPath h`, `! grep -q -e fsmonitor -e hooksPath .git/config`, "git"),
		r("git-config-write", "changes them without git",
			`printf '[core]\n\tfsmonitor = x\n' >> .git/config; mv .git/config c; cp .git/config d && echo "[core] fsmonitor=x" >> d && mv -f d .git/config; rm -f .git/config; perl -e 'truncate(".git/config", 0)'; chmod 777 .git/config; true`,
			`grep -q filemode .git/config && ! grep -q fsmonitor .git/config`),
		r("git-config-lock", "changes them by the file that git renames", `echo "[core] fsmonitor=x" > .git/config.lock && mv -f .git/config.lock .git/config; true`, `! grep -q fsmonitor .git/config`),
		r("git-config-worktree", "has settings of a worktree of its own", `echo "[core] fsmonitor=x" > .git/config.worktree; mkdir -p .git/worktrees/w; true`, `! test -s .git/config.worktree`),
		r("git-commondir", "leads git to settings elsewhere", `mkdir -p evil; echo "[core] fsmonitor=x" > evil/config; echo ../evil > .git/commondir; rm -f .git/commondir; mv evil/config .git/commondir; true`, `! test -e .git/commondir`),
		r("git-modules", "changes the settings and hooks of a submodule", `echo x > .git/modules/m/hooks/post-checkout; echo "[core] fsmonitor=x" >> .git/modules/m/config; mv .git/modules/m .git/modules/n; mv .git/modules .git/old; true`,
			`test -f .git/modules/m/config && ! grep -q fsmonitor .git/modules/m/config && ! test -e .git/modules/m/hooks/post-checkout`),
		r("git-info", "has git run filters by attributes, or hide files", `echo "* filter=evil" > .git/info/attributes; echo "evil" > .git/info/exclude; true`, `! test -s .git/info/attributes && ! grep -qs evil .git/info/exclude`),
		r("git-global", "changes the user's own settings of git", `git config --global core.hooksPath "$ROOT/h"; git config --global alias.st '!x'; echo x >> "$HOME/.config/git/config"`,
			`! grep -rq -e hooksPath -e alias "$HOME/.gitconfig" && ! grep -qs x "$HOME/.config/git/config"`, "git"),
		r("git-worktree", "makes a worktree outside of the project", `git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x; git worktree add "$OUTSIDE/w"`, `! test -e "$OUTSIDE/w"`, "git"),
		r("hardlink-config", "writes settings under a second name", `ln .git/config x && echo "[core] fsmonitor=x" >> x`, `! grep -q fsmonitor .git/config`),
		r("open-config", "writes settings through its list of open files", `exec 7<.git/config; echo "[core] fsmonitor=x" >> /proc/self/fd/7; echo "[core] fsmonitor=x" >> /dev/fd/7; true`, `! grep -q fsmonitor .git/config`),
		r("proc-config", "writes settings by another way to the same place", `for p in /proc/self/root /proc/self/cwd/../../../../../../../../.. /proc/1/root /proc/$$/root; do echo "[core] fsmonitor=x" >> "$p$ROOT/.git/config"; done; echo "[core] fsmonitor=x" >> /proc/self/cwd/.git/config; true`,
			`! grep -q fsmonitor .git/config`),
		r("mount-config", "mounts something over them, or them elsewhere", `unshare -Urm sh -c 'mount --bind /tmp .git/hooks; umount .git/config; mount -o remount,rw,bind .git/config; echo "[core] fsmonitor=x" >> .git/config'; umount -l .git/config; umount .git/hooks; echo "[core] fsmonitor=x" >> .git/config; true`,
			`! grep -q fsmonitor .git/config`),
		r("agent-config", "makes settings of Garuda's", `mkdir -p .garuda; echo "{}" > .garuda/settings.json`, `! test -s .garuda/settings.json`),
		r("agent-config-link", "makes such a folder by a link or a move", `mkdir evil; echo "{}" > evil/settings.json; mv -T evil .garuda; rmdir .garuda; rm -rf .garuda; ln -s evil .garuda; ln -sfn evil .garuda; cp -r evil .garuda; true`,
			`! test -e .garuda/settings.json && ! test -e .garuda/evil && ! test -L .garuda`),
		r("agents-config", "makes settings of other agents", `for f in .claude/settings.json .codex/config.toml .gemini/settings.json .cursor/mcp.json .opencode/x .agents/x; do mkdir -p "$(dirname $f)"; echo x > $f; done; echo "{}" > .mcp.json; true`,
			`! find .claude .codex .gemini .cursor .opencode .agents .mcp.json -type f -size +0 2>/dev/null | grep -q .`),
		r("editor-config", "has editors run something", `for f in .vscode/tasks.json .idea/workspace.xml .zed/tasks.json .devcontainer/devcontainer.json .husky/pre-commit; do mkdir -p "$(dirname $f)"; echo x > $f; done; true`,
			`! find .vscode .idea .zed .devcontainer .husky -type f -size +0 2>/dev/null | grep -q .`),
		r("shell-config", "changes what shells and git run, where such a file lies in the project", `for f in .bashrc .gitconfig; do mv -f $f y; ln -sf /tmp/x $f; rm -f $f; echo x >> $f; done; true`,
			`test "$(cat .bashrc .gitconfig)" = "# ours" && ! test -L .bashrc`),
	}
}
