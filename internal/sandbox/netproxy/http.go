package netproxy

import (
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"garuda/internal/hostname"
)

// user is the name that goes with a passage's token.
const user = "garuda"

// serveProxy answers a connection to the proxy: SOCKS5 and HTTP share the port,
// and the first byte tells them apart. trusted says
// that HTTP needs no token.
func (p *passage) serveProxy(conn *net.TCPConn, trusted bool) {
	first := make([]byte, 1)
	p.greeting(conn)
	if _, err := io.ReadFull(conn, first); err != nil {
		return
	}
	if first[0] == 4 || first[0] == 5 {
		p.serveSOCKS(conn, first[0])
		return
	}
	p.serveHTTP(conn, first, trusted)
}

// greeting gives the client a while for what precedes data. Answers have no such
// bound: a person may be asked in between.
func (p *passage) greeting(conn *net.TCPConn) {
	conn.SetReadDeadline(time.Now().Add(p.net.greet)) //nolint:errcheck // fails on a closed connection, as the next use of it
}

// serveHTTP serves one request. What comes behind it on the same connection is
// not looked at, so that no second request hides behind the one that was judged.
func (p *passage) serveHTTP(conn *net.TCPConn, begun []byte, trusted bool) {
	raw, rest, err := readHead(conn, begun)
	if err != nil {
		p.refuse(conn, err)
		return
	}
	h, err := parseHead(raw)
	if err != nil {
		p.refuse(conn, err)
		return
	}
	if !trusted && !p.authorised(h.all("Proxy-Authorization")) {
		p.refuse(conn, &refusal{http.StatusProxyAuthRequired, "the proxy's variables (HTTPS_PROXY) hold the name and password that this command's connections need"})
		return
	}
	if h.method == http.MethodConnect {
		p.serveConnect(conn, h, rest)
		return
	}
	t, err := p.absolute(h)
	if err != nil {
		p.refuse(conn, err)
		return
	}
	p.plain.serveConn(conn, raw, rest, t)
}

// serveConnect opens a tunnel.
func (p *passage) serveConnect(conn *net.TCPConn, h *head, early []byte) {
	t, err := p.connectTarget(h)
	if err != nil {
		p.refuse(conn, err)
		return
	}
	const established = "HTTP/1.1 200 Connection established\r\n\r\n"
	p.tunnel(conn, t, early, func(err error) bool {
		if err != nil {
			p.refuse(conn, err)
			return false
		}
		_, err = io.WriteString(conn, established)
		return err == nil
	})
}

// connectTarget judges the host of a CONNECT. A Host field must not name another.
func (p *passage) connectTarget(h *head) (target, error) {
	host, port, err := hostPort(h.target, 0)
	if err != nil {
		return target{}, malformed("CONNECT needs host:port: " + err.Error())
	}
	if len(h.all("Content-Length"))+len(h.all("Transfer-Encoding")) > 0 {
		return target{}, malformed("CONNECT takes no body")
	}
	t, err := p.judge(host, port)
	if err != nil {
		return target{}, err
	}
	return t, hostAgrees(h, t, port)
}

// absolute judges the host of a request for an http URL.
func (p *passage) absolute(h *head) (target, error) {
	authority, err := authority(h.target)
	if err != nil {
		return target{}, err
	}
	host, port, err := hostPort(authority, 80)
	if err != nil {
		return target{}, malformed("the URL's host: " + err.Error())
	}
	t, err := p.judge(host, port)
	if err != nil {
		return target{}, err
	}
	return t, hostAgrees(h, t, 80)
}

// inTunnel checks a request inside a tunnel to port 80: it is for the tunnel's
// host and no other.
func inTunnel(h *head, t target) error {
	if h.method == http.MethodConnect {
		return malformed("a tunnel in a tunnel")
	}
	if !strings.HasPrefix(h.target, "/") {
		authority, err := authority(h.target)
		if err != nil {
			return err
		}
		if !sameHost(authority, t, 80) {
			return &refusal{http.StatusForbidden, fmt.Sprintf("the URL names another host than %s, for which the connection was opened", t)}
		}
	}
	return hostAgrees(h, t, 80)
}

// authority is the host and port of an http URL.
func authority(url string) (string, error) {
	const scheme = "http://"
	if len(url) < len(scheme) || !strings.EqualFold(url[:len(scheme)], scheme) {
		return "", malformed("the proxy takes CONNECT host:port and http:// URLs; for https use CONNECT")
	}
	rest := url[len(scheme):]
	if strings.Contains(rest, "#") {
		return "", malformed("the URL holds a fragment")
	}
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		rest = rest[:i]
	}
	if strings.ContainsAny(rest, "@\\") {
		return "", malformed("the URL's host holds user info")
	}
	return rest, nil
}

// hostAgrees compares the Host field, if there is one, with the judged host.
func hostAgrees(h *head, t target, standard uint16) error {
	for _, value := range h.all("Host") {
		if !sameHost(value, t, standard) {
			return &refusal{http.StatusForbidden, fmt.Sprintf("the Host field names another host than %s, for which the request is", t)}
		}
	}
	return nil
}

func sameHost(text string, t target, standard uint16) bool {
	host, port, err := hostPort(text, standard)
	if err != nil || port != t.port {
		return false
	}
	name, err := hostname.Normalise(host)
	return err == nil && name == t.host
}

// authorised reports whether a request has this passage's token.
func (p *passage) authorised(fields []string) bool {
	if len(fields) != 1 {
		return false
	}
	scheme, code, _ := strings.Cut(fields[0], " ")
	given, err := base64.StdEncoding.DecodeString(strings.TrimSpace(code))
	return err == nil && strings.EqualFold(scheme, "Basic") && p.credentials(given)
}

// credentials compares user:token in constant time. A passage that has ended has
// no token.
func (p *passage) credentials(given []byte) bool {
	return p.ctx.Err() == nil && subtle.ConstantTimeCompare(given, []byte(user+":"+p.token)) == 1
}

// refuse answers with a status and the reason in plain text, and ends the
// connection. A client that went away or was too slow gets nothing.
func (p *passage) refuse(conn *net.TCPConn, err error) {
	var r *refusal
	if !errors.As(err, &r) {
		return
	}
	authenticate := ""
	if r.status == http.StatusProxyAuthRequired {
		authenticate = "Proxy-Authenticate: Basic realm=\"" + user + "\"\r\n"
	}
	body := "garuda: " + r.reason + "\n"
	conn.SetWriteDeadline(time.Now().Add(p.net.greet)) //nolint:errcheck // as in greeting
	_, err = fmt.Fprintf(conn, "HTTP/1.1 %d %s\r\n%sContent-Type: text/plain; charset=utf-8\r\nX-Content-Type-Options: nosniff\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
		r.status, http.StatusText(r.status), authenticate, len(body), body)
	if err == nil {
		p.linger(conn)
	}
}

// linger reads a little of what the client still sends: closed with bytes unread,
// the connection would be reset, and the answer lost on the way.
func (p *passage) linger(conn *net.TCPConn) {
	if conn.CloseWrite() != nil {
		return
	}
	conn.SetReadDeadline(time.Now().Add(min(time.Second, p.net.greet))) //nolint:errcheck // as in greeting
	io.CopyN(io.Discard, conn, 256<<10)                                 //nolint:errcheck // however it ends, the connection is closed next
}
