// Package foreign runs Garuda against model servers that others wrote: a second
// opinion on the wire formats beside our own scripted server, with the faults
// that their authors thought of.
//
// It has only tests, under the build tag foreign, because they need Node and
// what package-lock.json names; `make foreign` installs both and runs them. The
// servers listen on this machine and ask no network.
package foreign
