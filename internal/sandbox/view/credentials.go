package view

import (
	"bytes"
	"strings"
)

// withoutCredentials is a settings file of lines (INI, properties, TOML) without what
// looks like a credential: lines with a key that is named for one, and those with a
// user in a URL. A section whose own name holds one is left out whole. A line is
// rather taken for a credential than not: a tool inside then does without.
func withoutCredentials(data []byte) []byte {
	var out bytes.Buffer
	section := false // the section is left out
	// The line before was left out, its value was to follow, or it ends in a backslash.
	dropped, empty, continued := false, false, false
	for line := range bytes.Lines(data) {
		text := strings.TrimSpace(string(line))
		indented := len(line) > 0 && (line[0] == ' ' || line[0] == '\t')
		goesOn := dropped && (continued || indented && (empty || !strings.Contains(text, "=")))
		switch {
		case goesOn:
		case strings.HasPrefix(text, "["):
			section = holdsCredential(text)
			dropped = section
		default:
			dropped = section || holdsCredential(text)
		}
		if !dropped {
			out.Write(line)
		}
		empty = dropped && (strings.HasSuffix(text, "=") || strings.HasSuffix(text, ":") || goesOn && empty)
		continued = strings.HasSuffix(text, `\`)
	}
	return out.Bytes()
}

// credentialWords are in the keys of credentials, in lower case without - and _.
func credentialWords() []string {
	return []string{
		"token", "password", "passwd", "passphrase", "secret", "auth", "apikey", "accesskey", "privatekey", "credential",
		"extraheader", "cookie", "certfile", "keyfile", "sslkey", "otp", "identity", "askpass", "signingkey",
	}
}

// holdsCredential looks at all that stands before an = or a colon, so that it finds
// the keys of inline tables too.
func holdsCredential(line string) bool {
	parts := strings.FieldsFunc(line, func(r rune) bool { return r == '=' || r == ':' })
	for i, part := range parts {
		if i > 0 && i == len(parts)-1 {
			break // the value
		}
		key := strings.NewReplacer("-", "", "_", "", "author", "", "Author", "").Replace(part)
		key = strings.ToLower(key)
		for _, word := range credentialWords() {
			if strings.Contains(key, word) {
				return true
			}
		}
	}
	return userInURL(line)
}

// namesCredential is the same for a file that is not one of lines (XML, JSON), of
// which nothing can be left out.
func namesCredential(data []byte) bool {
	text := strings.ToLower(string(data))
	for _, word := range credentialWords() {
		if strings.Contains(text, word) {
			return true
		}
	}
	return userInURL(text)
}

// userInURL finds scheme://user@host, with or without a password.
func userInURL(text string) bool {
	for {
		_, rest, ok := strings.Cut(text, "://")
		if !ok {
			return false
		}
		authority := rest
		if i := strings.IndexAny(rest, "/?# \t\"'"); i >= 0 {
			authority = rest[:i]
		}
		if user, _, at := strings.Cut(authority, "@"); at && user != "git" {
			return true
		}
		text = rest
	}
}
