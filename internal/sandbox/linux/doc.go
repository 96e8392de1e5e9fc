// Package linux runs commands in namespaces of their own: it starts Garuda's own
// binary once more as the first process of them (package stage), which builds what
// the command may see and starts it there.
//
// It never decides what a command may see: Options.View says that. It never runs a
// command whose sandbox is not whole. On other systems the package is empty.
package linux
