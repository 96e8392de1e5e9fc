package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/tailscale/hujson"

	"garuda/internal/jsonc"
)

// newSettings is what the user's settings file begins with.
const newSettings = "// Your own settings, for every project; garuda schema settings describes them.\n{\n}\n"

// UserFile is the user's own settings file.
func UserFile(home string) string { return filepath.Join(home, "settings.json") }

// CheckValue says why a value, as JSON, cannot be a key's; nil where it can.
func CheckValue(key string, value []byte) error {
	k := byName()[key]
	if k == nil {
		return fmt.Errorf("there is no setting %s", jsonc.Quote(key))
	}
	d, err := parse(value, Source{Kind: User, Name: key})
	if err == nil {
		_, err = k.decode(d, &d.Root)
	}
	var e *Error
	if errors.As(err, &e) {
		return errors.New(e.Message) // its place is one in the value
	}
	return err
}

// SetUser writes one value, as JSON, into the user's own settings file. Comments and
// layout of the file stay. A file that does not load is left alone, as is one that
// would not load afterwards. It takes effect on the next Load.
func SetUser(home, key string, value []byte) error {
	path := UserFile(home)
	if !filepath.IsAbs(path) {
		return errors.New("there is no home folder for settings")
	}
	if err := CheckValue(key, value); err != nil {
		return err
	}
	err := Edit(path, func(before []byte) ([]byte, error) {
		if before == nil {
			before = []byte(newSettings)
		}
		return withSetting(before, key, value)
	})
	if err != nil {
		return fmt.Errorf("set %s in %s: %w", key, path, err)
	}
	return nil
}

// withSetting is the file's text with the value of a key.
func withSetting(file []byte, key string, value []byte) ([]byte, error) {
	source := Source{Kind: User, Name: "of the user"}
	if _, _, err := decode(file, source); err != nil {
		return nil, err
	}
	d, err := parse(file, source)
	if err != nil {
		return nil, err
	}
	fresh, err := parse(value, source)
	if err != nil {
		return nil, err
	}
	at := &d.Root
	parts := strings.Split(key, ".")
	for i, part := range parts {
		if _, ok := at.Value.(*hujson.Object); !ok {
			return nil, d.Mistyped(at, "an object")
		}
		at = child(at, part, i+1, &hujson.Object{})
	}
	at.Value = fresh.Root.Value
	out := d.Root.Pack()
	if _, _, err := decode(out, source); err != nil {
		return nil, err
	}
	return out, nil
}
