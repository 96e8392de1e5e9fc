package bedrock

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"

	"garuda/internal/userfile"
)

// Credentials are what requests are authorised with.
type Credentials struct {
	// Bearer is a Bedrock API key; the other keys then do not count.
	Bearer string
	// AccessKey, SecretKey and, where they are temporary, SessionToken sign.
	AccessKey, SecretKey, SessionToken string
	Region                             string
	// Source says where they came from, for people.
	Source string
}

// The names under which secrets are looked for.
const (
	BearerName  = "AWS_BEARER_TOKEN_BEDROCK" //nolint:gosec // the name, not the key
	AccessName  = "AWS_ACCESS_KEY_ID"
	SecretName  = "AWS_SECRET_ACCESS_KEY" //nolint:gosec // the name, not the key
	SessionName = "AWS_SESSION_TOKEN"
)

// Sources are where credentials are looked for.
type Sources struct {
	// Lookup reads the environment, as os.LookupEnv does.
	Lookup func(name string) (string, bool)
	// Secret gives a key by the name of its variable, and says where it came from.
	Secret func(name string) (value, source string, ok bool)
}

// ErrNoCredentials means that no credentials were found anywhere, ErrNoRegion
// that no region is named.
var (
	ErrNoCredentials = errors.New("no AWS credentials: set " + BearerName + ", or " + AccessName + " and " + SecretName + ", or AWS_PROFILE to a profile with keys in ~/.aws/credentials")
	ErrNoRegion      = errors.New("no AWS region: set AWS_REGION, for example to us-east-1")
)

// Find looks for credentials: a Bedrock API key, then access keys, then the
// profile that AWS_PROFILE names (or "default") in the files of the AWS command
// line. A region in the environment counts before the profile's.
func Find(from Sources) (Credentials, error) {
	var c Credentials
	if c.Bearer, c.Source = from.secret(BearerName); c.Bearer == "" {
		if err := c.accessKeys(from); err != nil {
			return Credentials{}, err
		}
	}
	c.Region = from.variable("AWS_REGION", "AWS_DEFAULT_REGION")
	if c.Source != "" && c.Region != "" {
		return c, checkRegion(c.Region)
	}
	p, err := from.profile()
	if c.Source == "" {
		if err == nil {
			err = p.unusable()
		}
		if err != nil {
			return Credentials{}, err
		}
		c.AccessKey, c.SecretKey, c.SessionToken = p.keys["aws_access_key_id"], p.keys["aws_secret_access_key"], p.keys["aws_session_token"]
		c.Source = "the AWS profile " + p.name
	}
	if c.Region == "" && err == nil {
		c.Region = p.keys["region"]
	}
	return c, checkRegion(c.Region)
}

// accessKeys takes the keys of the environment; none at all is no error.
func (c *Credentials) accessKeys(from Sources) error {
	var source string
	c.AccessKey, source = from.secret(AccessName)
	c.SecretKey, _ = from.secret(SecretName)
	c.SessionToken, _ = from.secret(SessionName)
	switch {
	case c.AccessKey == "" && c.SecretKey == "":
		c.SessionToken = "" // it belongs to keys that are not there
		return nil
	case c.AccessKey == "":
		return errors.New(SecretName + " is set, but " + AccessName + " is not")
	case c.SecretKey == "":
		return errors.New(AccessName + " is set, but " + SecretName + " is not")
	}
	c.Source = source
	return nil
}

// secret is a key and where it came from; both empty when there is none.
func (s Sources) secret(name string) (value, source string) {
	value, source, ok := s.Secret(name)
	if !ok || value == "" {
		return "", ""
	}
	return value, source
}

func (s Sources) variable(names ...string) string {
	for _, name := range names {
		if v, ok := s.Lookup(name); ok && v != "" {
			return v
		}
	}
	return ""
}

// profile is one profile of the AWS command line, with the settings of both files.
type profile struct {
	name string
	keys map[string]string
}

func (s Sources) profile() (profile, error) {
	p := profile{name: s.variable("AWS_PROFILE"), keys: map[string]string{}}
	named := p.name != ""
	if !named {
		p.name = "default"
	}
	found := false
	for _, file := range []struct{ variable, name, section string }{
		{"AWS_CONFIG_FILE", "config", "profile " + p.name},
		{"AWS_SHARED_CREDENTIALS_FILE", "credentials", p.name}, // counts before config
	} {
		path := s.file(file.variable, file.name)
		if path == "" {
			continue
		}
		data, err := userfile.Read(path, maxFile)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return p, fmt.Errorf("read the AWS profile %s from %s: %w", p.name, path, err)
		}
		sections := parseINI(data)
		for _, name := range []string{file.section, p.name} {
			if name == p.name && file.name == "config" && p.name != "default" {
				continue // in config only the default profile goes without the word
			}
			for k, v := range sections[name] {
				p.keys[k], found = v, true
			}
		}
	}
	if !found && named {
		return p, fmt.Errorf("AWS_PROFILE is %q, but there is no such profile in ~/.aws/credentials or ~/.aws/config", p.name)
	}
	if !found {
		return p, ErrNoCredentials
	}
	return p, nil
}

// unusable says why a profile cannot be signed with; nil when it can.
func (p *profile) unusable() error {
	if p.keys["aws_access_key_id"] != "" && p.keys["aws_secret_access_key"] != "" {
		return nil
	}
	for _, by := range []struct{ key, how string }{
		{"sso_session", "single sign-on"}, {"sso_start_url", "single sign-on"}, {"login_session", "a login"},
		{"web_identity_token_file", "a web identity"}, {"role_arn", "a role"}, {"credential_process", "a program"},
	} {
		if p.keys[by.key] != "" {
			return fmt.Errorf("the AWS profile %s gets its keys by %s, which Garuda leaves to the AWS command line: "+
				"run `eval \"$(aws configure export-credentials --profile %s --format env)\"` in the shell that starts Garuda", p.name, by.how, p.name)
		}
	}
	return fmt.Errorf("the AWS profile %s has no keys: %w", p.name, ErrNoCredentials)
}

// file is where one of the command line's files is; empty without a home folder.
func (s Sources) file(variable, name string) string {
	if path := s.variable(variable); path != "" {
		return path
	}
	home := "HOME"
	if runtime.GOOS == "windows" {
		home = "USERPROFILE"
	}
	if dir := s.variable(home); dir != "" {
		return filepath.Join(dir, ".aws", name)
	}
	return ""
}

// maxFile is the largest file of the command line that is read, in bytes.
const maxFile = 1 << 20

// parseINI reads the command line's own kind of INI file: sections, "key = value",
// lines that begin with '#' or ';' as comments, and indented lines that belong to
// the key above them, which are passed over. Values are taken as they are: a
// general INI reader would look for quotes, escapes and references in a secret.
func parseINI(data []byte) map[string]map[string]string {
	out := map[string]map[string]string{}
	section := ""
	for line := range strings.Lines(strings.TrimPrefix(string(data), "\ufeff")) {
		if line[0] == ' ' || line[0] == '\t' {
			continue
		}
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		if line[0] == '[' {
			name, _, _ := strings.Cut(line[1:], "]")
			section = strings.Join(strings.Fields(name), " ")
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok || section == "" {
			continue
		}
		if out[section] == nil {
			out[section] = map[string]string{}
		}
		out[section][strings.ToLower(strings.TrimSpace(key))] = strings.TrimSpace(value)
	}
	return out
}
