// Package bwrap runs commands in namespaces that /usr/bin/bwrap makes, where only that
// may: Ubuntu since 23.10 lets programs make user namespaces only with an AppArmor
// profile, and bubblewrap has one. bwrap makes the mounts of the view too, since what
// it starts has no privileges; Garuda's own binary, as the first process inside, looks
// whether they are what was described and does the rest (package stage, Inner).
//
// It never runs another program than that one file, and never tells it anything on
// its command line. What it cannot do as package linux does, docs/sandbox.md says. On
// other systems there is nothing but what it says of itself.
package bwrap
