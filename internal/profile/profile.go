// Package profile knows by the files in a project's root how it is built and tested.
//
// It looks only whether files are there: it reads none and runs nothing, so that what it
// says is a first guess, and the project's own instructions know better.
package profile

// Notes says for each language or tool that the root's files show how to build and
// test, a line each, always in the same order. exists tells whether the root has a file.
func Notes(exists func(name string) bool) []string {
	first := func(names ...string) string {
		for _, name := range names {
			if exists(name) {
				return name
			}
		}
		return ""
	}
	pick := func(name, with, without string) string {
		if exists(name) {
			return with
		}
		return without
	}
	var out []string
	note := func(marker, text string) {
		if marker != "" {
			out = append(out, text+" ("+marker+")")
		}
	}
	note(first("go.mod", "go.work"), "Go: go build ./..., go vet ./..., go test ./...")
	note(first("package.json"), "Node: its scripts, run by "+packageManager(exists)+", such as "+packageManager(exists)+" test")
	note(first("Cargo.toml"), "Rust: cargo build, cargo test")
	maven := pick("mvnw", "./mvnw", "mvn")
	note(first("pom.xml"), "Maven: "+maven+" -B -q -o compile, "+maven+" -B -q -o test")
	gradle := pick("gradlew", "./gradlew", "gradle")
	note(first("build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"), "Gradle: "+gradle+" test --offline -q")
	note(first("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "pytest.ini", "tox.ini", "Pipfile"),
		"Python: "+python(exists)+" -m pytest -q")
	note(first("CMakeLists.txt"), "CMake: cmake -B build, cmake --build build, ctest --test-dir build")
	note(first("Makefile", "GNUmakefile", "makefile"), "Make: its targets, often make and make test")
	note(first("global.json", "Directory.Build.props"), ".NET: dotnet build, dotnet test")
	return out
}

// packageManager is the program that the lock file is of.
func packageManager(exists func(string) bool) string {
	for _, m := range []struct{ lock, program string }{
		{"pnpm-lock.yaml", "pnpm"}, {"yarn.lock", "yarn"}, {"bun.lock", "bun"}, {"bun.lockb", "bun"},
	} {
		if exists(m.lock) {
			return m.program
		}
	}
	return "npm"
}

// python is the interpreter that has the project's packages.
func python(exists func(string) bool) string {
	for _, p := range []struct{ marker, command string }{
		{".venv", ".venv/bin/python"}, {"venv", "venv/bin/python"},
		{"uv.lock", "uv run --offline python"}, {"poetry.lock", "poetry run python"},
	} {
		if exists(p.marker) {
			return p.command
		}
	}
	return "python3"
}
