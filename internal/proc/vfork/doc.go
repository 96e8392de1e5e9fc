// Package vfork starts a program in new namespaces without copying its parent.
//
// Package syscall copies the whole address space of the program for a child in a user
// namespace of its own, since it can write the maps of that namespace itself meanwhile.
// Of a program with 20 MB in use that takes about 10 ms, and afterwards each page that
// it writes has to be copied, which is as much again. Here the child borrows the address
// space until it becomes the other program, and its parent's thread sleeps so long, as
// package syscall does for all other children.
//
// It writes no maps and knows no policy; it reads no file and allocates nothing in the
// child. On other systems than Linux the package is empty.
package vfork
