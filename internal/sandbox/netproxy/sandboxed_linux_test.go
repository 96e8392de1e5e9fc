package netproxy

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"garuda/internal/proc"
	"garuda/internal/sandbox"
	"garuda/internal/sandbox/host"
	"garuda/internal/sandbox/linux"
	"garuda/internal/sandbox/netproxy/preset"
)

// machine is a sandbox whose way out leads to servers of the test.
type machine struct {
	exec *linux.Executor
	root string
	env  []string
}

// sandboxed makes a machine on which all of *.registry.example, and what its package
// managers are told of *.preset.example, is served by h, by TLS and without. more are folders that commands read. It skips the test where this system gives no namespaces.
func sandboxed(t *testing.T, h http.Handler, more ...string) *machine {
	t.Helper()
	sup, err := proc.New(proc.Options{RunningDir: filepath.Join(t.TempDir(), "running"), Report: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sup.Close(context.Background()) })
	if err := linux.Probe(t.Context(), sup); err != nil {
		t.Skipf("no sandbox here: %v", err)
	}
	root := t.TempDir()
	https := httptest.NewUnstartedServer(h)
	https.TLS = &tls.Config{Certificates: []tls.Certificate{certificate(t, filepath.Join(root, "ca.pem"))}}
	https.Config.ErrorLog = nil
	https.StartTLS()
	t.Cleanup(https.Close)
	http1 := plain(t, h)

	ca := filepath.Join(root, "ca.pem")
	env := []string{
		"PATH=/usr/local/go/bin:/usr/local/bin:/usr/bin:/bin", "HOME=" + root, "TMPDIR=" + root, "LC_ALL=C", "GIT_TERMINAL_PROMPT=0",
		"CURL_CA_BUNDLE=" + ca, "GIT_SSL_CAINFO=" + ca, "SSL_CERT_FILE=" + ca, "NODE_EXTRA_CA_CERTS=" + ca, "PIP_CERT=" + ca, "CARGO_HTTP_CAINFO=" + ca,
		"GOPROXY=https://go.preset.example", "GOSUMDB=off", "GOFLAGS=-modcacherw", "GOPATH=" + root + "/go", "GOCACHE=" + root + "/cache", "GOTOOLCHAIN=local",
		"npm_config_registry=https://npm.preset.example/", "npm_config_update_notifier=false", "npm_config_cafile=" + ca,
		"PIP_INDEX_URL=https://pypi.preset.example/simple", "PIP_DISABLE_PIP_VERSION_CHECK=1", "CARGO_HOME=" + root + "/.cargo",
	}
	if err := os.MkdirAll(filepath.Join(root, ".cargo"), 0o700); err != nil {
		t.Fatal(err)
	}
	mirror := "[source.crates-io]\nreplace-with = \"mirror\"\n[source.mirror]\nregistry = \"sparse+https://cargo.preset.example/\"\n"
	if err := os.WriteFile(filepath.Join(root, ".cargo", "config.toml"), []byte(mirror), 0o600); err != nil {
		t.Fatal(err)
	}
	// The presets' hosts are what the tools themselves say of that environment.
	ask := &preset.Tools{Exec: host.New(host.Options{Supervisor: sup}), Dir: t.TempDir(), Env: env, Home: root}
	n, err := New(Options{Allow: []string{"*.registry.example", "cargo", "go", "npm", "pypi"}, Preset: ask.Hosts})
	if err != nil {
		t.Fatal(err)
	}
	n.dial = func(ctx context.Context, _ string, port uint16) (net.Conn, error) {
		to := https
		if port == 80 {
			to = http1
		}
		return new(net.Dialer).DialContext(ctx, "tcp", address(to))
	}
	n.resolve = func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
	}
	exec, err := linux.New(linux.Options{
		Supervisor: sup, Network: n, Path: os.Getenv("PATH"), Records: filepath.Join(t.TempDir(), "records"),
		View:   func(context.Context, *sandbox.Command) (*sandbox.View, error) { return system(root, more), nil },
		Report: func(err error) { t.Error(err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { exec.Shutdown(context.Background()) })
	return &machine{exec, root, env}
}

// system is a view of the system's programs, further ones, and one folder.
func system(root string, more []string) *sandbox.View {
	v := &sandbox.View{Root: root}
	for _, dir := range more {
		v.Entries = append(v.Entries, sandbox.Entry{Path: dir})
	}
	for _, dir := range []string{"/bin", "/etc/alternatives", "/etc/java-17-openjdk", "/etc/java-21-openjdk", "/etc/maven", "/lib", "/lib64", "/sbin", "/usr"} {
		if target, err := os.Readlink(dir); err == nil {
			v.Links = append(v.Links, sandbox.Link{Path: dir, Target: target})
		} else if _, err := os.Lstat(dir); err == nil {
			v.Entries = append(v.Entries, sandbox.Entry{Path: dir})
		}
	}
	v.Entries = append(v.Entries, sandbox.Entry{Path: root, Access: sandbox.Writable})
	return v
}

// certificate makes one for all hosts of the test, and writes it as its own
// authority.
func certificate(t *testing.T, path string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{"*.registry.example", "*.preset.example"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func (m *machine) run(t *testing.T, script string) *sandbox.Result {
	t.Helper()
	r, err := m.exec.Run(t.Context(), &sandbox.Command{
		Argv: []string{"bash", "-c", script}, Dir: m.root, Env: m.env, Timeout: 2 * time.Minute, Limit: 64 << 10, Call: "call-1",
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// registry serves a page, a git repository, a package of npm and a module of Go.
func registry(t *testing.T, repository string) http.Handler {
	var module bytes.Buffer
	z := zip.NewWriter(&module)
	f, err := z.Create("registry.example/mod@v1.0.0/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(f, "module registry.example/mod\n")
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("page.registry.example/", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "%s of %s", r.Method, r.Host) })
	mux.Handle("git.registry.example/", http.FileServer(http.Dir(repository)))
	npm := tarball(t, "package/package.json", `{"name":"demo","version":"1.2.3","main":"m.js"}`, "package/m.js", "console.log('demo runs')")
	mux.HandleFunc("npm.preset.example/demo", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"name":"demo","dist-tags":{"latest":"1.2.3"},"versions":{"1.2.3":{"name":"demo","version":"1.2.3","main":"m.js","dist":{"tarball":"https://npm.preset.example/demo.tgz","shasum":"%x"}}}}`, sha1.Sum(npm))
	})
	mux.HandleFunc("npm.preset.example/demo.tgz", func(w http.ResponseWriter, _ *http.Request) { w.Write(npm) })
	demo := wheel(t)
	mux.HandleFunc("pypi.preset.example/simple/demo/", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `<a href="/files/demo-1.0-py3-none-any.whl#sha256=%x">demo-1.0-py3-none-any.whl</a>`, sha256.Sum256(demo))
	})
	mux.HandleFunc("pypi.preset.example/files/demo-1.0-py3-none-any.whl", func(w http.ResponseWriter, _ *http.Request) { w.Write(demo) })
	crate := tarball(t, "demo-1.0.0/Cargo.toml", "[package]\nname = \"demo\"\nversion = \"1.0.0\"\n", "demo-1.0.0/src/lib.rs", "")
	mux.HandleFunc("cargo.preset.example/config.json", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"dl":"https://cargo.preset.example/dl"}`)
	})
	mux.HandleFunc("cargo.preset.example/de/mo/demo", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"name":"demo","vers":"1.0.0","deps":[],"cksum":"%x","features":{},"yanked":false}`, sha256.Sum256(crate))
	})
	mux.HandleFunc("cargo.preset.example/dl/demo/1.0.0/download", func(w http.ResponseWriter, _ *http.Request) { w.Write(crate) })
	mux.HandleFunc("go.preset.example/registry.example/mod/@v/v1.0.0.info", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"Version":"v1.0.0","Time":"2024-01-01T00:00:00Z"}`)
	})
	mux.HandleFunc("go.preset.example/registry.example/mod/@v/v1.0.0.mod", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "module registry.example/mod\n")
	})
	mux.HandleFunc("go.preset.example/registry.example/mod/@v/v1.0.0.zip", func(w http.ResponseWriter, _ *http.Request) { w.Write(module.Bytes()) })
	return mux
}

// tarball packs files, each a name and a text.
func tarball(t *testing.T, files ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	g := gzip.NewWriter(&out)
	w := tar.NewWriter(g)
	for i := 0; i < len(files); i += 2 {
		if err := w.WriteHeader(&tar.Header{Name: files[i], Mode: 0o644, Size: int64(len(files[i+1]))}); err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, files[i+1])
	}
	if err := errors.Join(w.Close(), g.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// wheel is a package of Python's.
func wheel(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for name, text := range map[string]string{
		"demo.py": "", "demo-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n",
		"demo-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n", "demo-1.0.dist-info/RECORD": "",
	} {
		f, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(f, text)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// bare makes a repository that a server of files can serve.
func bare(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	script := `git init -q work && cd work && echo hello >file && git add file &&
git -c user.name=t -c user.email=t@example.com commit -qm first && git clone -q --bare . ../demo.git && git -C ../demo.git update-server-info`
	cmd := exec.CommandContext(t.Context(), "bash", "-c", script)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+dir, "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("git: %v\n%s", err, out)
	}
	return dir
}

// Ordinary programs reach what is allowed through a real sandbox, and nothing else.
func TestProgramsInTheSandbox(t *testing.T) {
	m := sandboxed(t, registry(t, bare(t)))
	long := map[string]bool{"npm install, and again without the network": true, "pip download": true}
	for _, tt := range []struct {
		name, program, script, want string
		refused                     []string
	}{
		{"curl by https", "curl", "curl -sS https://page.registry.example/", "GET of page.registry.example", nil},
		{"curl by http", "curl", "curl -sS http://page.registry.example/", "GET of page.registry.example", nil},
		{"curl in a tunnel to 80", "curl", "curl -sSp http://page.registry.example/", "GET of page.registry.example", nil},
		{"curl by SOCKS", "curl", `curl -sS -x "socks5h://${HTTPS_PROXY#http://}" https://page.registry.example/`, "GET of page.registry.example", nil},
		{"curl uploads", "curl", "head -c 3000000 /dev/zero | curl -sS -T - http://page.registry.example/x", "PUT of page.registry.example", nil},
		{"git clone", "git", "git clone -q https://git.registry.example/demo.git && cat demo/file", "hello\n", nil},
		{"npm view", "npm", "npm view demo version", "1.2.3\n", nil},
		{"npm install, and again without the network", "npm", `mkdir p q && cd p && echo '{}' > package.json && npm i -s demo && cp package*.json ../q && cd ../q &&
			HTTPS_PROXY= HTTP_PROXY= ALL_PROXY= https_proxy= http_proxy= npm ci -s --offline && node -e 'require("demo")'`, "demo runs\n", nil},
		{"pip download", "/usr/bin/pip3", "/usr/bin/pip3 -q download --no-deps demo && ls demo*.whl", "demo-1.0-py3-none-any.whl\n", nil},
		{"apt", "/usr/lib/apt/apt-helper", "/usr/lib/apt/apt-helper -o APT::Sandbox::User=root -o Dir::State=apt -o Dir::Cache=apt download-file http://page.registry.example/x got > /dev/null && cat got", "GET of page.registry.example", nil},
		{"a look-up by TCP", "/usr/bin/python3", `/usr/bin/python3 -c 'import socket as s
q = b"\x00\x07\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x04page\x08registry\x07example\x00\x00\x01\x00\x01"
c = s.create_connection(("127.0.0.1", 53)); c.sendall(len(q).to_bytes(2, "big") + q); print(s.inet_ntoa(c.makefile("rb").read(int.from_bytes(c.recv(2), "big"))[-4:]))'`, "93.184.216.34\n", nil},
		{"go mod download", "go", "go mod download registry.example/mod@v1.0.0 && ls go/pkg/mod/registry.example", "mod@v1.0.0\n", nil},
		{"python", "/usr/bin/python3", `/usr/bin/python3 -c "import urllib.request as u; print(u.urlopen('https://page.registry.example/').read().decode(), end='')"`, "GET of page.registry.example", nil},
		{"a look-up", "getent", "getent ahostsv4 page.registry.example | head -1 | cut -d' ' -f1", "93.184.216.34\n", nil},
		{"refused by https", "curl", "curl -s -o /dev/null -w '%{http_connect}' https://evil.example/", "403", []string{"evil.example"}},
		{"refused by http", "curl", "curl -s http://evil.example/", "garuda: evil.example:80 is refused: it is not on the list (network.allow)\n", []string{"evil.example"}},
		{"refused look-up", "getent", "getent hosts evil.example || echo none", "none\n", []string{"evil.example"}},
		{"an address", "curl", "curl -s -o /dev/null -w '%{http_connect}' https://93.184.216.34/", "403", []string{"93.184.216.34"}},
		{"past the proxy", "curl", "curl -s --noproxy '*' https://page.registry.example/ || echo none", "none\n", nil},
		{"under another name", "curl", "curl -s --connect-to page.registry.example:443:git.registry.example:443 https://page.registry.example/ || echo none", "none\n", []string{"page.registry.example"}},
		{"under another host", "curl", "curl -s -H 'Host: evil.example' http://page.registry.example/ | grep -c 'names another host'", "1\n", nil},
		{"without the token", "curl", "curl -s -o /dev/null -w '%{http_code}' -x http://127.0.0.1:3128 http://page.registry.example/", "407", nil},
	} {
		if long[tt.name] && os.Getenv("GARUDA_WORK") == "" {
			continue // as with TestOrdinaryWork in package view
		}
		t.Run(tt.name, func(t *testing.T) {
			if _, err := exec.LookPath(tt.program); err != nil {
				t.Skip(err)
			}
			r := m.run(t, tt.script)
			if got := string(r.Stdout.Head); got != tt.want {
				t.Errorf("%q, want %q\n%s", got, tt.want, r.Stderr.Head)
			}
			if !slices.Equal(r.Refused, tt.refused) {
				t.Errorf("refused %v, want %v", r.Refused, tt.refused)
			}
		})
	}
}

// Maven, which reads no variables, asks the proxy by the properties it is given.
func TestMavenInTheSandbox(t *testing.T) {
	for _, program := range []string{"mvn", "java"} {
		if path, err := exec.LookPath(program); err != nil || !strings.HasPrefix(path, "/usr/") {
			t.Skipf("%s: %v", program, err)
		}
	}
	m := sandboxed(t, http.NotFoundHandler())
	os.MkdirAll(filepath.Join(m.root, ".m2"), 0o700)
	settings := `<settings><mirrors><mirror><id>m</id><mirrorOf>*</mirrorOf><url>https://maven.evil.example/m2</url></mirror></mirrors></settings>`
	if err := os.WriteFile(filepath.Join(m.root, ".m2", "settings.xml"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	r := m.run(t, "mvn -B -Duser.home="+m.root+" dependency:get -Dartifact=a:b:1 2>&1")
	if !slices.Equal(r.Refused, []string{"maven.evil.example"}) {
		t.Errorf("refused %v\n%s", r.Refused, r.Stdout.Head)
	}
}

// Cargo takes an index and a package from the mirror that its settings name.
func TestCargoInTheSandbox(t *testing.T) {
	if os.Getenv("GARUDA_WORK") == "" {
		return // as with TestOrdinaryWork in package view
	}
	// The cargo on the PATH may be rustup's, which is not one itself.
	out, err := exec.CommandContext(t.Context(), "rustc", "--print", "sysroot").Output()
	sysroot := strings.TrimSpace(string(out))
	if _, serr := os.Stat(filepath.Join(sysroot, "bin", "cargo")); err != nil || serr != nil {
		t.Skipf("there is no cargo: %v, %v", err, serr)
	}
	var more []string
	if !strings.HasPrefix(sysroot, "/usr") {
		more = []string{sysroot}
	}
	m := sandboxed(t, registry(t, t.TempDir()), more...)
	r := m.run(t, "PATH="+sysroot+`/bin:$PATH && mkdir -p c/src && cd c && touch src/lib.rs && printf '[package]\nname = "c"\nversion = "0.1.0"\n[dependencies]\ndemo = "1"\n' > Cargo.toml && cargo -q fetch && cargo -q fetch --offline && ls ../.cargo/registry/src/*`)
	if got := string(r.Stdout.Head); got != "demo-1.0.0\n" || len(r.Refused) > 0 {
		t.Errorf("%q, refused %v\n%s", got, r.Refused, r.Stderr.Head)
	}
}
