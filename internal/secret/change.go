package secret

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofrs/flock"
)

// credentialsName is the file's name in Garuda's folder.
const credentialsName = "credentials"

// ChangeCredentials changes the keys in the credentials file of Garuda's folder;
// entries that change leaves alone stay. Without entries the file is removed.
//
// The folder is made when it is not there, and closed to others (0700). The file
// gets mode 0600 and is replaced in one step, so that a reader and a crash find
// the old keys or the new ones; no link is followed to it, and another process
// that changes it waits. A file that Take would not read is not replaced: the
// error is then the same *CredentialsError. Nothing is written when change fails.
func ChangeCredentials(home string, change func(keys map[string]Stored) error) (err error) {
	folder, err := openFolder(home)
	if err != nil {
		return fmt.Errorf("open the folder of the credentials: %w", err)
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	path := filepath.Join(home, credentialsName)
	lock := flock.New(path+".lock", flock.SetPermissions(0o600), flock.SetFlag(os.O_CREATE|os.O_RDWR|noFollow))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("wait for other processes that change %s: %w", path, err)
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	keys, err := readCredentials(path)
	if err != nil {
		return err
	}
	if keys == nil {
		keys = map[string]Stored{}
	}
	if err := change(keys); err != nil {
		return err
	}
	if err := replaceCredentials(folder, keys); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// openFolder opens Garuda's folder, which must be the user's own.
func openFolder(home string) (*os.Root, error) {
	if !filepath.IsAbs(home) {
		return nil, errors.New("there is no home folder to keep keys in; set HOME or GARUDA_HOME")
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, err
	}
	folder, err := os.OpenRoot(home)
	if err != nil {
		return nil, err
	}
	if err := closeFolder(home, folder); err != nil {
		return nil, errors.Join(err, folder.Close())
	}
	return folder, nil
}

// closeFolder lets nobody but the owner into the folder.
func closeFolder(home string, folder *os.Root) error {
	f, err := folder.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	problem, _ := checkOwner(home, info)
	if problem == "" {
		return nil
	}
	// Only the mode can be mended; a foreign owner stays, and so does the refusal.
	if err := f.Chmod(0o700); err != nil {
		return fmt.Errorf("%s: %s: %w", home, problem, err)
	}
	if info, err = f.Stat(); err != nil {
		return err
	}
	if problem, _ := checkOwner(home, info); problem != "" {
		return fmt.Errorf("%s: %s", home, problem)
	}
	return nil
}

func replaceCredentials(folder *os.Root, keys map[string]Stored) (err error) {
	if len(keys) == 0 {
		if err := folder.Remove(credentialsName); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return syncFolder(folder)
	}
	text, err := json.MarshalIndent(keys, "", "  ")
	if err != nil {
		return errors.New("the keys cannot be written as JSON") // the cause would quote them
	}
	text = append(text, '\n')
	if len(text) > MaxCredentials {
		return fmt.Errorf("it would become larger than %d bytes", MaxCredentials)
	}
	temp := "." + credentialsName + "-" + rand.Text()
	f, err := folder.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, folder.Remove(temp))
		}
	}()
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := folder.Rename(temp, credentialsName); err != nil {
		return err
	}
	return syncFolder(folder)
}

// SetCredentialsAside renames a credentials file that cannot be used, whatever it
// is, and returns its new path. Nothing is followed, opened or removed.
func SetCredentialsAside(home string) (string, error) {
	folder, err := openFolder(home)
	if err != nil {
		return "", err
	}
	defer folder.Close()
	for n := 1; n < 1000; n++ {
		name := fmt.Sprintf("%s.unusable-%d", credentialsName, n)
		if _, err := folder.Lstat(name); err == nil {
			continue
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		return filepath.Join(home, name), folder.Rename(credentialsName, name)
	}
	return "", fmt.Errorf("%s holds too many credentials files that were set aside; remove them", home)
}

// Entry is one key, as it may be shown.
type Entry struct {
	// Name is the variable's and the file's name for it.
	Name string
	// Source is where the key in use comes from: the variable's name,
	// SourceCredentials or SourceKeychain. Stored says that it is stored, in the
	// keychain where InKeychain is true, whatever is in use.
	Source             string
	Stored, InKeychain bool
	// Hint is what Hint shows of the key in use; empty where the keychain could not
	// be read.
	Hint string
}

// Entries lists the stored keys, and those of the named variables that are set,
// sorted by name.
func (s *Store) Entries(names []string) []Entry {
	var out []Entry
	all := append(slices.Collect(maps.Keys(s.credentials)), names...)
	slices.Sort(all)
	for _, name := range slices.Compact(all) {
		value, source, ok := s.Key(name)
		stored, isStored := s.credentials[name]
		if !ok && !isStored {
			continue
		}
		e := Entry{Name: name, Source: source, Stored: isStored, InKeychain: stored.InKeychain}
		switch {
		case ok:
			e.Hint = Hint(value)
		case stored.InKeychain:
			e.Source = SourceKeychain
		default:
			e.Source, e.Hint = SourceCredentials, Hint(stored.Key)
		}
		out = append(out, e)
	}
	return out
}

// Hint is as much of a key as may be shown, so that a person can tell which one
// it is: its first seven characters and its last four; of one under 32 characters
// its last four, of one under 16 nothing.
func Hint(key string) string {
	const (
		least, both = 16, 32
		first, last = 7, 4
	)
	key = strings.TrimSpace(key)
	if len(key) < least {
		return "…"
	}
	hint := "…" + strings.ToValidUTF8(key[len(key)-last:], "")
	if len(key) >= both {
		hint = strings.ToValidUTF8(key[:first], "") + hint
	}
	return hint
}
