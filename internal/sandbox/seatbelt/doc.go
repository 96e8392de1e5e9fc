// Package seatbelt isolates commands on macOS with the system's own sandbox:
// each runs under /usr/bin/sandbox-exec, with a profile made for it.
//
// The profile is a pure function of the view, so that nearly all of the package
// is built and tested everywhere. It never decides whether a command may run.
// What macOS gives no means for is said in docs/sandbox.md: a command's memory
// and processes are not counted, and private folders are not mounted over /tmp
// and the home; those are denied, and TMPDIR names the private one.
package seatbelt
