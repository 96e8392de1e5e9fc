package netproxy

import (
	"net/url"
	"strconv"
	"strings"
)

// Env leads programs to the proxy: the variables that most of them read, in both
// cases, Node's switch to read them, and properties for Java, which reads none.
// The token is in them, so they are for this command's environment alone.
func (p *passage) Env() []string {
	p.mu.Lock()
	port, bare := strconv.Itoa(p.port), strconv.Itoa(p.bare)
	p.mu.Unlock()
	address := (&url.URL{Scheme: "http", User: url.UserPassword(user, p.token), Host: "127.0.0.1:" + port}).String()
	const direct = "localhost,127.0.0.1,::1"
	var env []string
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		env = append(env, name+"="+address, strings.ToLower(name)+"="+address)
	}
	env = append(env, "NO_PROXY="+direct, "no_proxy="+direct, "NODE_USE_ENV_PROXY=1")
	for _, name := range []string{"MAVEN_OPTS", "GRADLE_OPTS"} {
		env = append(env, name+"="+p.javaOptions(name, bare))
	}
	return env
}

// javaOptions are what the environment has in a variable of Java's tools, and
// after it the properties of the proxy. Java's own client and Maven's know no
// property for a password, so they are led to the proxy that needs none; besides,
// arguments of a program are read by others. Maven's transport has to be told to
// read properties at all.
func (p *passage) javaOptions(name, port string) string {
	var options []string
	for _, entry := range p.net.opt.Env {
		if value, ok := strings.CutPrefix(entry, name+"="); ok && value != "" {
			options = []string{value}
		}
	}
	for _, scheme := range []string{"http", "https"} {
		options = append(options, "-D"+scheme+".proxyHost=127.0.0.1", "-D"+scheme+".proxyPort="+port)
	}
	options = append(options, "-Dhttp.nonProxyHosts=localhost|127.0.0.1", "-Daether.connector.http.useSystemProperties=true")
	return strings.Join(options, " ")
}
