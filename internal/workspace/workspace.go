// Package workspace is the only way to the project's files.
package workspace

// Workspace is a root folder and the folders added to it.
type Workspace struct{}

// Tracker remembers which files a session has read, and how they looked.
type Tracker struct{}
