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
	port := strconv.Itoa(p.port)
	p.mu.Unlock()
	address := (&url.URL{Scheme: "http", User: url.UserPassword(user, p.token), Host: "127.0.0.1:" + port}).String()
	const direct = "localhost,127.0.0.1,::1"
	var env []string
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		env = append(env, name+"="+address, strings.ToLower(name)+"="+address)
	}
	env = append(env, "NO_PROXY="+direct, "no_proxy="+direct, "NODE_USE_ENV_PROXY=1")
	for _, name := range []string{"MAVEN_OPTS", "GRADLE_OPTS"} {
		env = append(env, name+"="+p.javaOptions(name, port))
	}
	return env
}

// javaOptions are what the environment has in a variable of Java's tools, and
// after it the properties of the proxy. Basic authentication for tunnels is off
// in Java unless it is said; and Maven's own transport has to be told to read
// properties at all.
func (p *passage) javaOptions(name, port string) string {
	var options []string
	for _, entry := range p.net.opt.Env {
		if value, ok := strings.CutPrefix(entry, name+"="); ok && value != "" {
			options = []string{value}
		}
	}
	for _, scheme := range []string{"http", "https"} {
		options = append(options,
			"-D"+scheme+".proxyHost=127.0.0.1", "-D"+scheme+".proxyPort="+port,
			"-D"+scheme+".proxyUser="+user, "-D"+scheme+".proxyPassword="+p.token)
	}
	options = append(options,
		"-Dhttp.nonProxyHosts=localhost|127.0.0.1", "-Djdk.http.auth.tunneling.disabledSchemes=",
		"-Daether.connector.http.useSystemProperties=true")
	return strings.Join(options, " ")
}
