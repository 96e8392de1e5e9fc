//go:build unix

package workspace

import "fmt"

// keepOwner gives the new file the old one's owner and group. It runs before
// the mode is set, as changing the owner clears bits of it.
func keepOwner(f newFile, was Info) []string {
	fi, err := f.Stat()
	if err != nil {
		return []string{fmt.Sprintf("the file's owner could not be looked up: %v", plainCause(err))}
	}
	now := infoFrom(fi)
	if now.uid == was.uid && now.gid == was.gid {
		return nil
	}
	if err := f.Chown(int(was.uid), int(was.gid)); err == nil {
		return nil
	}
	// A user may at least give a file to a group of their own.
	groupErr := f.Chown(-1, int(was.gid))
	var notes []string
	if now.uid != was.uid {
		notes = append(notes, fmt.Sprintf("the file belonged to user %d and belongs to you now", was.uid))
	}
	if groupErr != nil {
		notes = append(notes, fmt.Sprintf("the file's group %d could not be kept", was.gid))
	}
	return notes
}
