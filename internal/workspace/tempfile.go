package workspace

import (
	"crypto/rand"
	"encoding/hex"
	"strings"
	"sync"
	"time"
)

const (
	tempPrefix, tempSuffix = ".garuda-", ".tmp"
	tempRandom             = 8 // bytes
	// staleAfter is when a temporary file is nobody's any more. A write takes
	// seconds, and other sessions write in the same folders.
	staleAfter = time.Hour
)

func tempName() string {
	var b [tempRandom]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	return tempPrefix + hex.EncodeToString(b[:]) + tempSuffix
}

// isTempName reports whether a file has the name of a text on its way to its
// place. One that stays was left by a program that was killed.
func isTempName(name string) bool {
	if len(name) != len(tempPrefix)+2*tempRandom+len(tempSuffix) || !strings.HasPrefix(name, tempPrefix) || !strings.HasSuffix(name, tempSuffix) {
		return false
	}
	_, err := hex.DecodeString(name[len(tempPrefix) : len(name)-len(tempSuffix)])
	return err == nil
}

// neverShown are the entries that no walk comes across, whatever is asked for.
func neverShown(name string) bool { return name == ".git" || isTempName(name) }

// sweptFolders are the folders that this session has looked through for what
// killed programs left.
type sweptFolders struct {
	mu   sync.Mutex
	done map[string]bool
}

func (s *sweptFolders) first(folder string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done[folder] {
		return false
	}
	if s.done == nil {
		s.done = map[string]bool{}
	}
	s.done[folder] = true
	return true
}

// sweep removes old temporary files from the folder of p, at a session's first
// write there. It is no part of the write: what it cannot do stays undone.
func (w *Workspace) sweep(p Path, dir folder) {
	if at, _ := p.Split(); !w.swept.first(at) {
		return
	}
	entries, err := list(dir, ".")
	if err != nil {
		return
	}
	for _, e := range entries {
		if !isTempName(e.name) {
			continue
		}
		info, err := dir.lstat(e.name)
		if err == nil && (info.Kind == KindFile || info.Kind == KindLink) && time.Since(info.ModTime) > staleAfter {
			_ = dir.remove(e.name)
		}
	}
}
