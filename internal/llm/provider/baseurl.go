package provider

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// checkBaseURL returns the base URL as clients want it, without a slash at its
// end, and whether it is on this machine. The errors never repeat the URL's
// user part, which may be a password.
func checkBaseURL(raw, format string, allowInsecure bool) (base string, local bool, err error) {
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil {
		return "", false, errors.New("it is not a URL")
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return "", false, errors.New("it must begin with https:// or http://")
	case u.Host == "" || u.Hostname() == "":
		return "", false, errors.New("it names no host")
	case strings.ContainsFunc(u.Host, func(c rune) bool { return c <= ' ' || c > '~' || c == '%' }):
		return "", false, errors.New("its host must be plain ASCII (international names in their xn-- form), without a network interface")
	case u.User != nil:
		return "", false, errors.New("it must not contain a user or password; give the key by apiKeyEnv")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", false, errors.New("it must not have a query or a fragment")
	}
	path := strings.TrimRight(u.EscapedPath(), "/")
	switch format { // clients put the version in themselves
	case "anthropic":
		path = strings.TrimSuffix(path, "/v1")
	case "gemini":
		path = strings.TrimSuffix(path, "/v1beta")
	}
	for _, tail := range []string{"/chat/completions", "/responses", "/messages", "/models"} {
		if strings.HasSuffix(path, tail) {
			return "", false, fmt.Errorf("it must end before %s", tail)
		}
	}
	local = isLocal(u.Hostname())
	if u.Scheme == "http" && !local && !allowInsecure {
		return "", false, errors.New("plain http sends key and code readable over the network; use https, or set allowInsecureHttp for this provider in models.json")
	}
	return u.Scheme + "://" + u.Host + path, local, nil
}

// isLocal reports whether a host is this machine: localhost, 127.0.0.0/8, ::1.
// Other names are not looked up, because what they mean can change.
func isLocal(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}
