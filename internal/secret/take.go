package secret

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// Options of Take.
type Options struct {
	// Keys are the names of the variables that hold provider keys: those of the
	// built-in providers and every apiKeyEnv of models.json. They are taken
	// whatever they are called.
	Keys []string
	// Home is Garuda's folder, ~/.garuda or what GARUDA_HOME says; the
	// credentials file lies in it. Empty means that there is no such file.
	Home string
	// Keychain is asked for the keys of which the credentials file says that they
	// are there, and not touched when there are none; nil has none.
	Keychain Keychain
}

// Take moves the secrets of this process out of its environment into a Store:
// the variables named by opts.Keys and every secret-named one (see Named). It
// changes the process and is called once, by main, before the first goroutine
// or child that could look at the environment.
//
// On Linux the kernel's own copy (/proc/PID/environ) is overwritten too, and
// the process becomes undumpable, so that other processes of the user can
// neither read its memory nor attach to it. A process that is undumpable owns
// its files in /proc no longer: a user namespace for a child must be set up by
// the child after its exec, not by SysProcAttr.UidMappings. On other systems
// the variables are only unset; a child sees none of them, and the system
// itself decides which process may see the environment this one started with.
//
// A variable that holds an address with a password, such as HTTPS_PROXY, stays for
// Garuda's own use; the kernel's copy of it is overwritten too, and the redactor
// knows the password.
//
// The Store is never nil: the environment is cleared before the credentials
// file is read, and when that file cannot be used the error (a
// *CredentialsError) comes with a Store that has the environment's keys.
func Take(opts Options) (*Store, error) {
	s := &Store{env: map[string]string{}}
	wanted := map[string]bool{}
	stays := map[string]string{} // in the environment, but nowhere else
	for _, name := range opts.Keys {
		wanted[name] = true
	}
	for _, entry := range os.Environ() {
		name, value, ok := strings.Cut(entry, "=")
		if !ok || name == "" {
			continue
		}
		if !wanted[name] && !taken(name) {
			if password := passwordIn(value); password != "" {
				s.passwords = append(s.passwords, password)
				stays[strings.Clone(name)] = strings.Clone(value)
			}
			continue
		}
		// Cloned, because the runtime's strings may lie in the memory that is
		// about to be overwritten.
		s.env[strings.Clone(name)] = strings.Clone(value)
	}
	for name := range s.env {
		if err := os.Unsetenv(name); err != nil {
			s.warnings = append(s.warnings, fmt.Sprintf("%s stays in the environment: %v", name, err))
		}
	}
	hidden := maps.Clone(s.env)
	for name, value := range stays {
		if err := os.Setenv(name, value); err != nil { // a copy of its own
			s.warnings = append(s.warnings, fmt.Sprintf("%s may lose its value: %v", name, err))
		}
		hidden[name] = value
	}
	s.warnings = append(s.warnings, hide(hidden)...)
	if opts.Home == "" {
		return s, nil
	}
	var err error
	s.credentials, err = readCredentials(filepath.Join(opts.Home, credentialsName))
	s.openKeychain(opts.Keychain)
	return s, err
}

// taken reports whether a variable leaves the environment because of its name.
// GIT_CONFIG_KEY_0 and its like are names of git settings, which git needs
// together with GIT_CONFIG_COUNT.
func taken(name string) bool {
	return Named(name) && !strings.HasPrefix(name, "GIT_CONFIG_KEY_")
}

// passwordIn is the password of an address such as http://user:password@proxy; ""
// where a value is no address or has none.
func passwordIn(value string) string {
	if !strings.Contains(value, "://") || !strings.Contains(value, "@") {
		return ""
	}
	u, err := url.Parse(value)
	if err != nil || u.User == nil {
		return ""
	}
	password, _ := u.User.Password()
	return strings.Clone(password)
}

// CredentialsError says why the credentials file was not used. It never
// contains anything of the file's content.
type CredentialsError struct {
	// Path of the file, Problem with it, and Fix: what the user can do.
	Path, Problem, Fix string
	Err                error
}

func (e *CredentialsError) Error() string {
	return fmt.Sprintf("read credentials %s: %s; %s", e.Path, e.Problem, e.Fix)
}

func (e *CredentialsError) Unwrap() error { return e.Err }

// ErrCredentials is what every CredentialsError is, for errors.Is.
var ErrCredentials = errors.New("credentials file not usable")

// Is makes errors.Is(err, ErrCredentials) true.
func (e *CredentialsError) Is(target error) bool { return target == ErrCredentials }
