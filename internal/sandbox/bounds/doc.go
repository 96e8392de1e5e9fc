// Package bounds holds what a command and everything it starts use together to the
// limits of its view, by control groups (cgroup v2), where this user may make some;
// and says which limit a command ran into.
//
// It is there beside the limits that the system has for each process and user, never
// instead of them: where no control group can be had, those are what holds. Only Linux
// has any.
package bounds
