package workspace

// keepOwner: a new file in a folder inherits its access rights on Windows.
func keepOwner(newFile, Info) []string { return nil }
