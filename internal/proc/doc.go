// Package proc starts processes, streams and bounds what they print, and ends
// them with everything they started. It is what every executor of package
// sandbox stands on.
//
// It never decides whether a command may run, never isolates one, and never
// hands on Garuda's own environment or descriptors.
//
// # How nothing outlives its command
//
// Each command leads a session and a process group of its own. When it has
// ended, however that came about, what is left of it gets TERM, and KILL two
// seconds later. How what is left is found depends on the system:
//
//   - Linux: the process is a child subreaper (prctl(2), PR_SET_CHILD_SUBREAPER;
//     New sets it), so an orphan of any command becomes a child of this process,
//     however often it forked and whatever session it made. An orphan is told
//     apart by its session, else by the variable CommandVariable in its
//     environment; one that shed both is ended with the next command that ends.
//     The command's own process is not reaped before the rest is gone, so that
//     its numbers cannot belong to somebody else meanwhile. It also gets KILL
//     from the kernel when this process dies (PR_SET_PDEATHSIG): that signal is
//     bound to the thread that forked, so that thread is kept for exactly as
//     long as the command's process lives.
//   - macOS: the session, the descendants, and what carries the command's
//     variable; a daemon that sheds it is not found.
//   - Windows: a job object that ends with Garuda. A process begins suspended and
//     runs once it is in it, so that whatever it starts is in it too.
//
// What a killed Garuda left behind is ended by the next start: see Sweep.
package proc
