//go:build !linux

package workspace

func openFolder(path string) (folder, error) { return openRootFolder(path) }
