// Package testkit is what tests share: a clock that moves when it is told to, a
// project full of things that must not be touched, and files that fail. Scripted
// model servers are in modelserver.
//
// Nothing but tests imports it.
package testkit
