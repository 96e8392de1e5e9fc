package view

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"garuda/internal/proc"
	"garuda/internal/sandbox/host"
)

// workshop is a sandbox as it is on this machine: with the toolchains that the PATH
// and the home folder have, and a project beside. Nothing is left in the home.
func workshop(t *testing.T) *confined {
	t.Helper()
	home, err := os.UserHomeDir()
	if err != nil || home == "/" {
		t.Skipf("there is no home folder: %q, %v", home, err)
	}
	d := newDecoy(t)
	sup, err := proc.New(proc.Options{RunningDir: filepath.Join(d.dir, "running"), Report: func(err error) { t.Errorf("reported: %v", err) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sup.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	npm := filepath.Join(d.outside, "npm")
	d.folder(npm)
	moved := map[string]string{"npm_config_cache": npm, "PIP_CACHE_DIR": npm}
	d.opt.Lookup = func(name string) (string, bool) {
		if value, ok := moved[name]; ok {
			return value, true
		}
		return os.LookupEnv(name)
	}
	d.home, d.opt.Home, d.opt.Path = home, home, os.Getenv("PATH")
	d.opt.Ask = host.New(host.Options{Supervisor: sup, Path: d.opt.Path, Root: d.root})
	c := d.confined()
	c.b.session.caches = nil
	c.env = append(c.b.Env(), "PATH="+d.opt.Path, "HOME="+home, "LANG=C", "GIT_EDITOR=true", "GOPROXY=off", "GOSUMDB=off", "GOFLAGS=-mod=mod",
		"GOTOOLCHAIN=local", "CGO_ENABLED=0", "npm_config_update_notifier=false", "PYENV_VERSION=system", "MAKEFLAGS=")
	return c
}

// TestOrdinaryWork does in the sandbox what people do in their projects, with what is
// on this machine.
func TestOrdinaryWork(t *testing.T) {
	c := workshop(t)
	goModules(t, c.d.root)
	// What needs many seconds is done in the long tier, which sets GARUDA_WORK.
	long := map[string]bool{"npm": true, "venv": true, "cargo": true}
	for _, w := range []struct {
		name, tools, script, want string
	}{
		{"shell", "bash", `cat <<< here > f; diff f <(echo here) && f=$(mktemp) && echo there > $f && cat f $f && printf x > /dev/null && [ -w /dev/shm ] && echo $((1 << 3)) | tee g`, "here\nthere\n8\n"},
		{"secrets", "bash", `ls -A ~ | grep -cE '^\.(ssh|aws|gnupg|netrc|docker|kube|git-credentials)$'; env | cut -d= -f1 | grep -iE 'key|token|secret|auth_sock'; cat /proc/1/environ 2>/dev/null | wc -c`, "0\n0\n"},
		{"make and gcc", "make gcc", `printf '#include <stdio.h>\nint main(void){puts("hello");return 0;}\n' > a.c && printf 'a: a.c\n\tgcc -O1 -o a a.c\nrun: a\n\t./a\n' > Makefile && make -s run`, "hello\n"},
		{"go", "go", `cp ../m.mod go.mod && cp ../m.sum go.sum && cat > a.go <<< 'package m
import "github.com/google/go-cmp/cmp"
func Same(a, b []int) bool { return cmp.Equal(a, b) }' && cat > a_test.go <<< 'package m
import "testing"
func TestSame(t *testing.T) { if !Same([]int{1}, []int{1}) || Same(nil, []int{1}) { t.Fatal() } }' && go build ./... && go vet . && go test . | cut -f1,2`, "ok  \texample.org/m\n"},
		{"node", "node", `echo 'require("child_process").execFileSync("node", ["-e", "console.log(require(\"os\").cpus().length > 0)"], {stdio: "inherit"}); const {Worker} = require("worker_threads"); new Worker("console.log(7)", {eval: true})' > a.js && node a.js`, "true\n7\n"},
		{"npm", "npm node", `mkdir dep && cd dep && echo '{"name":"dep","version":"1.0.0","bin":"b.js"}' > package.json && printf '#!/usr/bin/env node\nconsole.log("of dep")\n' > b.js && npm pack --silent && cd .. &&
			echo '{"name":"p","version":"1.0.0","scripts":{"b":"dep","test":"node -e \"console.log(6*7)\""}}' > package.json && npm i --offline --silent --no-audit --no-fund ./dep/dep-1.0.0.tgz && npm run -s b && npm test -s && rm -r node_modules && npm ci --offline --silent --no-audit --no-fund && npm run -s b`, "dep-1.0.0.tgz\nof dep\n42\nof dep\n"},
		{"python", "python3", `cat > a.py <<< 'import multiprocessing as m, multiprocessing.shared_memory as s, sqlite3, tempfile
def f(x): return x*x
if __name__ == "__main__":
    with m.Pool(2) as p: print(sum(p.map(f, range(10))))
    l = m.Lock(); l.acquire(); l.release(); q = m.Queue(); q.put(1); print(q.get())
    b = s.SharedMemory(create=True, size=16); b.close(); b.unlink()
    sqlite3.connect("x.db").execute("create table t (a)"); print(len(tempfile.gettempdir()) > 0)' && python3 a.py`, "285\n1\nTrue\n"},
		{"venv", "python3", `python3 -c 'import ensurepip, venv' 2>/dev/null || { echo of wheel; exit; }
			python3 -m venv v && . v/bin/activate && cat > w.py <<< 'import zipfile
with zipfile.ZipFile("wheel-1.0-py3-none-any.whl", "w") as z:
    z.writestr("wheelx.py", "print(\"of wheel\")")
    z.writestr("wheel-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: wheel\nVersion: 1.0\n")
    z.writestr("wheel-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    z.writestr("wheel-1.0.dist-info/RECORD", "")' && python w.py && pip install -q --disable-pip-version-check --no-index ./wheel-1.0-py3-none-any.whl && python -c 'import wheelx'`, "of wheel\n"},
		{"cargo", "cargo rustc gcc", `cargo init -q --offline --vcs none --name m && cat > src/main.rs <<< 'fn main() { println!("{}", (1..=4).product::<u32>()); }' && cargo build -q --offline && ./target/debug/m && cargo run -q --offline`, "24\n24\n"},
		{"java", "javac java", `cat > A.java <<< 'public class A { public static void main(String[] a) throws Exception { System.out.println(java.nio.file.Files.exists(java.nio.file.Path.of("A.java")) + " " + System.getProperty("user.home").equals(System.getenv("HOME"))); } }' && javac -d out A.java && java -cp out A`, "true true\n"},
		{"ripgrep", "rg", `mkdir d && echo needle > d/f && echo other > d/h && echo needle > d/g && rg --no-messages -l needle . | sort`, "./d/f\n./d/g\n"},
	} {
		if long[w.name] && os.Getenv("GARUDA_WORK") == "" {
			continue
		}
		t.Run(w.name, func(t *testing.T) {
			for tool := range strings.FieldsSeq(w.tools) {
				if proc.LookPath(tool, c.d.opt.Path) == "" {
					t.Skipf("there is no %s", tool)
				}
			}
			c.t = t
			dir := "work-" + strings.ReplaceAll(w.name, " ", "-")
			out, code := c.try("mkdir " + dir + " && cd " + dir + " && { " + w.script + "\n}")
			if out != w.want || code != 0 {
				t.Errorf("it ended with %d and printed %q, want %q", code, out, w.want)
			}
		})
	}
}

// goModules writes a go.mod with this module's own version of what the test of Go
// needs, so that it is in the cache of modules, and the sums.
func goModules(t *testing.T, to string) {
	t.Helper()
	top := filepath.Join("..", "..", "..")
	text, err := os.ReadFile(filepath.Join(top, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	mod := "module example.org/m\n\ngo 1.24\n"
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "github.com/google/go-cmp" {
			mod += "\nrequire github.com/google/go-cmp " + fields[1] + "\n"
		}
	}
	sums, err := os.ReadFile(filepath.Join(top, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"m.mod": []byte(mod), "m.sum": sums} {
		if err := os.WriteFile(filepath.Join(to, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
