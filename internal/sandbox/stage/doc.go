// Package stage is the inside of the Linux sandbox: what Garuda's own binary does
// when it is started once more, as the first process of new namespaces. It builds
// the view of the command, takes every privilege from itself, starts the command,
// and stays as its init: it reaps, passes signals on, and tells how the command ended.
//
// It runs from an init function and never returns to the program around it. Go
// initialises packages in the order of their import paths as soon as what they
// import is ready, so this one imports package syscall and little else: whatever
// else is linked in would be paid for by every command.
//
// It never decides anything: the Policy says all there is to do, and a step that
// fails ends it before the command runs. On other systems the package is empty.
package stage
