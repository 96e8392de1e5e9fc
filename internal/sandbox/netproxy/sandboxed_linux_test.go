package netproxy

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
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
	"garuda/internal/sandbox/linux"
)

// machine is a sandbox whose way out leads to servers of the test.
type machine struct {
	exec *linux.Executor
	root string
	env  []string
}

// sandboxed makes a machine on which all of *.registry.example, by TLS and without,
// is served by h. It skips the test where this system gives no namespaces.
func sandboxed(t *testing.T, h http.Handler) *machine {
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

	n, err := New(Options{Allow: []string{"*.registry.example"}})
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
		View:   func(context.Context, *sandbox.Command) (*sandbox.View, error) { return system(root), nil },
		Report: func(err error) { t.Error(err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { exec.Shutdown(context.Background()) })
	ca := filepath.Join(root, "ca.pem")
	return &machine{exec, root, []string{
		"PATH=/usr/local/go/bin:/usr/local/bin:/usr/bin:/bin", "HOME=" + root, "TMPDIR=" + root, "LC_ALL=C", "GIT_TERMINAL_PROMPT=0",
		"CURL_CA_BUNDLE=" + ca, "GIT_SSL_CAINFO=" + ca, "SSL_CERT_FILE=" + ca, "NODE_EXTRA_CA_CERTS=" + ca,
		"GOPROXY=https://go.registry.example", "GOSUMDB=off", "GOFLAGS=-modcacherw", "GOPATH=" + root + "/go", "GOCACHE=" + root + "/cache", "GOTOOLCHAIN=local",
		"npm_config_registry=https://npm.registry.example/", "npm_config_update_notifier=false",
	}}
}

// system is a view of the system's programs and one folder.
func system(root string) *sandbox.View {
	v := &sandbox.View{Root: root}
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
		DNSNames: []string{"*.registry.example"}, IsCA: true, BasicConstraintsValid: true,
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
	mux.HandleFunc("npm.registry.example/demo", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"name":"demo","dist-tags":{"latest":"1.2.3"},"versions":{"1.2.3":{"name":"demo","version":"1.2.3","dist":{"tarball":"https://npm.registry.example/demo.tgz"}}}}`)
	})
	mux.HandleFunc("go.registry.example/registry.example/mod/@v/v1.0.0.info", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"Version":"v1.0.0","Time":"2024-01-01T00:00:00Z"}`)
	})
	mux.HandleFunc("go.registry.example/registry.example/mod/@v/v1.0.0.mod", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "module registry.example/mod\n")
	})
	mux.HandleFunc("go.registry.example/registry.example/mod/@v/v1.0.0.zip", func(w http.ResponseWriter, _ *http.Request) { w.Write(module.Bytes()) })
	return mux
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
