//go:build unix

package loopback_test

import (
	"errors"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/sandbox"
	"garuda/internal/sandbox/loopback"
)

// passage greets whoever connects to its first listener, once.
type passage struct {
	listeners []sandbox.Listener
	refuses   error
	files     []*os.File
}

func (p *passage) Listeners() []sandbox.Listener { return p.listeners }
func (p *passage) Env() []string {
	return []string{"HTTP_PROXY=http://t@127.0.0.1:3128", "ALL_PROXY=socks5://t@127.0.0.1:1080", "NO_PROXY=", "BOTH=127.0.0.1:3128,127.0.0.1:1080"}
}
func (p *passage) Serve(files []*os.File) error {
	p.files = files
	return p.refuses
}
func (p *passage) Close() []string {
	for _, f := range p.files {
		_ = f.Close()
	}
	return nil
}

func TestTheWayIsOpenWhereItSays(t *testing.T) {
	p := &passage{listeners: []sandbox.Listener{{Network: "tcp4", Address: "127.0.0.1:3128"}, {Network: "udp4", Address: "127.0.0.1:53"}, {Network: "tcp4", Address: "127.0.0.1:1080"}}}
	defer p.Close()
	way, err := loopback.Open(p)
	if err != nil {
		t.Fatal(err)
	}
	if len(way.Ports) != 2 || len(p.files) != 3 || p.files[1] != nil {
		t.Fatalf("%+v, %d files", way, len(p.files))
	}
	proxy, socks := strconv.Itoa(way.Ports[0]), strconv.Itoa(way.Ports[1])
	want := []string{
		"HTTP_PROXY=http://t@127.0.0.1:" + proxy, "ALL_PROXY=socks5://t@127.0.0.1:" + socks, "NO_PROXY=",
		"BOTH=127.0.0.1:" + proxy + ",127.0.0.1:" + socks,
	}
	if diff := cmp.Diff(want, way.Env); diff != "" {
		t.Error(diff)
	}
	l, err := net.FileListener(p.files[0])
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp4", "127.0.0.1:"+proxy)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	accepted, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(accepted, "hi"); err != nil || accepted.Close() != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(c); err != nil || string(got) != "hi" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestWhatIsNotOpened(t *testing.T) {
	refuses := errors.New("no")
	for want, p := range map[string]*passage{
		"loopback":    {listeners: []sandbox.Listener{{Network: "tcp4", Address: "127.0.0.1:1"}, {Network: "tcp4", Address: "0.0.0.0:3128"}}},
		"\"unix\"":    {listeners: []sandbox.Listener{{Network: "unix", Address: "127.0.0.1:3128"}}},
		"localhost":   {listeners: []sandbox.Listener{{Network: "tcp4", Address: "localhost:3128"}}},
		"the way out": {listeners: []sandbox.Listener{{Network: "tcp4", Address: "127.0.0.1:3128"}}, refuses: refuses},
	} {
		way, err := loopback.Open(p)
		if err == nil || !strings.Contains(err.Error(), want) || way.Env != nil {
			t.Errorf("%q: %+v, %v", want, way, err)
		}
		p.Close()
	}
}
