package view

import (
	"encoding/json"
	"runtime"
	"strings"
)

// tool is a program whose files commands need. Paths begin with ~/ for the home
// folder or with a variable that has a default, such as $CARGO_HOME.
type tool struct {
	// program is looked for on the PATH; "" means that what exists counts, and that no
	// cache is made.
	program string
	// args ask it for its places, and answer reads what it printed.
	args   []string
	answer func(out string) []told
	// env is what it is asked with so that it leaves nothing in the home folder: paths
	// as below, or askDir for a folder of its own. Without the place in needs it has
	// nothing to name, and would make that place.
	env   map[string]string
	needs string
	// read, write and settings are its usual places: programs and libraries, caches,
	// and files of settings, of which commands get a copy without credentials.
	read, write, settings []string
}

// askDir stands for the folder in which a tool is asked.
const askDir = "."

// told is a place that a tool named, or that it usually has.
type told struct {
	Path  string `json:"path"`
	Write bool   `json:"write,omitempty"`
	// Settings is a file of which only a copy without credentials is shown.
	Settings bool `json:"settings,omitempty"`
}

// placeVariables say where toolchains keep their files, each with the place that
// counts without it. Commands get those that are set.
func placeVariables() map[string]string {
	return map[string]string{
		"GOPATH": "~/go", "GOMODCACHE": "$GOPATH/pkg/mod", "GOCACHE": "~/.cache/go-build", "GOBIN": "", "GOROOT": "", "GOENV": "",
		"CARGO_HOME": "~/.cargo", "RUSTUP_HOME": "~/.rustup",
		"JAVA_HOME": "", "GRADLE_USER_HOME": "~/.gradle", "MAVEN_HOME": "", "M2_HOME": "", "SDKMAN_DIR": "~/.sdkman",
		"NVM_DIR": "~/.nvm", "npm_config_cache": "~/.npm", "npm_config_prefix": "", "PNPM_HOME": "~/.local/share/pnpm", "VOLTA_HOME": "~/.volta",
		"BUN_INSTALL": "~/.bun", "DENO_DIR": "~/.cache/deno", "DENO_INSTALL": "~/.deno", "FNM_DIR": "~/.local/share/fnm", "COREPACK_HOME": "~/.cache/node/corepack",
		"PYENV_ROOT": "~/.pyenv", "PIP_CACHE_DIR": "~/.cache/pip", "UV_CACHE_DIR": "~/.cache/uv", "VIRTUAL_ENV": "", "CONDA_PREFIX": "",
		"POETRY_CACHE_DIR": "~/.cache/pypoetry", "PIPX_HOME": "~/.local/share/pipx",
		"RBENV_ROOT": "~/.rbenv", "GEM_HOME": "", "DOTNET_ROOT": "~/.dotnet", "NUGET_PACKAGES": "~/.nuget/packages",
		"ASDF_DATA_DIR": "~/.asdf", "MISE_DATA_DIR": "~/.local/share/mise", "CCACHE_DIR": "", "SCCACHE_DIR": "~/.cache/sccache",
		"COMPOSER_CACHE_DIR": "~/.cache/composer",
	}
}

// tools are the toolchains that are known.
func tools() []tool {
	return []tool{
		{
			program: "go", env: quietGo(), args: []string{"env", "-json", "GOROOT", "GOPATH", "GOMODCACHE", "GOCACHE", "GOBIN", "GOENV"}, answer: goPlaces,
			read: []string{"$GOBIN", "$GOROOT", "$GOPATH/bin", "~/sdk"}, write: []string{"$GOMODCACHE", "$GOCACHE", "$GOPATH/pkg/sumdb"},
		},
		{program: "golangci-lint", write: []string{"~/.cache/golangci-lint"}},
		{program: "git", settings: []string{"~/.gitconfig", "~/.config/git/config", "~/.config/git/ignore", "~/.config/git/attributes"}},
		{
			program: "npm", env: map[string]string{"npm_config_logs_dir": askDir, "npm_config_update_notifier": "false"}, args: []string{"config", "get", "cache", "prefix"}, answer: npmPlaces,
			settings: []string{"~/.npmrc"}, read: []string{"$npm_config_prefix"}, write: []string{"$npm_config_cache"},
		},
		{program: "pnpm", write: []string{"$PNPM_HOME/store", "~/.cache/pnpm"}, read: []string{"$PNPM_HOME"}},
		{program: "yarn", write: []string{"~/.cache/yarn"}, settings: []string{"~/.yarnrc", "~/.yarnrc.yml"}},
		{program: "node"},
		{program: "corepack", write: []string{"$COREPACK_HOME"}},
		{program: "node-gyp", write: []string{"~/.cache/node-gyp"}},
		{program: "bun", read: []string{"$BUN_INSTALL/bin"}, write: []string{"$BUN_INSTALL/install/cache"}},
		{program: "deno", read: []string{"$DENO_INSTALL"}, write: []string{"$DENO_DIR"}},
		{program: "npx", read: []string{"~/.cache/ms-playwright", "~/.cache/Cypress", "~/.cache/puppeteer"}},
		{
			program: "python3", args: []string{"-I", "-c", "import sys; print(sys.base_prefix); print(sys.prefix); print(sys.base_exec_prefix)"}, answer: readLines,
			read: []string{"~/.local/lib", "$VIRTUAL_ENV", "$CONDA_PREFIX"}, settings: []string{"~/.config/pip/pip.conf", "~/.pip/pip.conf"},
		},
		{program: "pip3", args: []string{"cache", "dir"}, answer: writeLines, write: []string{"$PIP_CACHE_DIR"}},
		{program: "pyenv", args: []string{"root"}, answer: readLines},
		{program: "uv", args: []string{"cache", "dir"}, answer: writeLines, read: []string{"~/.local/share/uv"}, settings: []string{"~/.config/uv/uv.toml"}},
		{program: "poetry", write: []string{"$POETRY_CACHE_DIR"}},
		{program: "pipx", read: []string{"$PIPX_HOME"}},
		{program: "pre-commit", write: []string{"~/.cache/pre-commit"}},
		{program: "rustup", needs: "$RUSTUP_HOME", args: []string{"show", "home"}, answer: readLines, read: []string{"$RUSTUP_HOME"}},
		{program: "rustc", needs: "$RUSTUP_HOME", args: []string{"--print", "sysroot"}, answer: readLines},
		{
			program: "cargo", read: []string{"$CARGO_HOME/bin"}, write: []string{"$CARGO_HOME/registry", "$CARGO_HOME/git"},
			settings: []string{"$CARGO_HOME/config.toml", "$CARGO_HOME/config"},
		},
		{program: "java", args: []string{"-XshowSettings:properties", "-version"}, answer: javaPlaces, read: []string{"$JAVA_HOME"}},
		{program: "mvn", read: []string{"$MAVEN_HOME", "$M2_HOME"}, write: []string{"~/.m2/repository"}, settings: []string{"~/.m2/settings.xml", "~/.mavenrc"}},
		{program: "gradle", write: []string{"$GRADLE_USER_HOME/caches"}, settings: []string{"$GRADLE_USER_HOME/gradle.properties"}},
		{program: "sbt", write: []string{"~/.ivy2/cache", "~/.cache/coursier", "~/.sbt/boot"}},
		{program: "gem", args: []string{"env", "gempath"}, answer: readList, read: []string{"$GEM_HOME"}, write: []string{"~/.bundle/cache"}},
		{program: "dotnet", read: []string{"$DOTNET_ROOT"}, write: []string{"$NUGET_PACKAGES", "~/.local/share/NuGet"}, settings: []string{"~/.nuget/NuGet/NuGet.Config"}},
		{program: "composer", write: []string{"$COMPOSER_CACHE_DIR"}},
		{program: "mix", write: []string{"~/.hex", "~/.mix", "~/.cache/rebar3"}},
		{program: "cabal", read: []string{"~/.ghcup"}, write: []string{"~/.cabal/packages", "~/.cabal/store"}},
		{program: "ccache", write: []string{"$CCACHE_DIR", "~/.cache/ccache", "~/.ccache"}},
		{program: "sccache", write: []string{"$SCCACHE_DIR"}},
		{program: "zig", write: []string{"~/.cache/zig"}},
		{program: "bazel", write: []string{"~/.cache/bazel"}},
		// A wrapper in the project (gradlew, mvnw) needs no program on the PATH.
		{write: []string{"~/.yarn/berry", "$GRADLE_USER_HOME/caches", "$GRADLE_USER_HOME/wrapper", "~/.m2/repository", "~/.m2/wrapper"}},
		// Version managers are functions of the shell, or have programs nowhere else.
		{read: []string{
			"$NVM_DIR", "$FNM_DIR", "$VOLTA_HOME", "$PYENV_ROOT", "$RBENV_ROOT", "$ASDF_DATA_DIR", "$MISE_DATA_DIR", "$SDKMAN_DIR",
			"$RUSTUP_HOME", "$CARGO_HOME/bin", "$DOTNET_ROOT", "~/.local/bin", "~/bin", "~/.jenv", "~/.nodenv", "~/.goenv", "~/.juliaup",
			"~/.opam", "~/miniconda3", "~/miniforge3", "~/mambaforge", "~/anaconda3", "~/.npm-global", "~/.npm-packages",
		}},
	}
}

// quietGo keeps Go's own counters out of the home folder, whose place the system's
// convention names, but for macOS.
func quietGo() map[string]string {
	if runtime.GOOS == "darwin" {
		return nil
	}
	return map[string]string{"XDG_CONFIG_HOME": askDir, "GOENV": "~/.config/go/env"}
}

func goPlaces(out string) []told {
	var env map[string]string
	if json.Unmarshal([]byte(out), &env) != nil {
		return nil
	}
	places := []told{{Path: env["GOROOT"]}, {Path: env["GOBIN"]}, {Path: env["GOMODCACHE"], Write: true}, {Path: env["GOCACHE"], Write: true}}
	if env["GOENV"] != "off" {
		places = append(places, told{Path: env["GOENV"], Settings: true})
	}
	for _, dir := range strings.Split(env["GOPATH"], ":") {
		if dir != "" {
			places = append(places, told{Path: dir + "/bin"}, told{Path: dir + "/pkg/sumdb", Write: true})
		}
	}
	return places
}

// npmPlaces reads lines such as cache=/home/u/.npm.
func npmPlaces(out string) []told {
	var places []told
	for line := range strings.Lines(out) {
		name, path, _ := strings.Cut(strings.TrimSpace(line), "=")
		path = strings.Trim(strings.TrimSpace(path), `"`)
		switch strings.TrimSpace(name) {
		case "cache":
			places = append(places, told{Path: path, Write: true})
		case "prefix":
			places = append(places, told{Path: path + "/lib/node_modules"}, told{Path: path + "/bin"})
		}
	}
	return places
}

// javaPlaces reads the line java.home = /usr/lib/jvm/….
func javaPlaces(out string) []told {
	for line := range strings.Lines(out) {
		if name, path, ok := strings.Cut(line, "="); ok && strings.TrimSpace(name) == "java.home" {
			return []told{{Path: strings.TrimSpace(path)}}
		}
	}
	return nil
}

func readLines(out string) []told { return lines(out, "\n", false) }

func writeLines(out string) []told { return lines(out, "\n", true) }

func readList(out string) []told { return lines(strings.TrimSpace(out), ":", false) }

func lines(out, sep string, write bool) []told {
	var places []told
	for part := range strings.SplitSeq(out, sep) {
		if part = strings.TrimSpace(part); part != "" {
			places = append(places, told{Path: part, Write: write})
		}
	}
	return places
}
