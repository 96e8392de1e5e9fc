package plain

import "golang.org/x/sys/windows"

// flushInput fails only where fd is no console, and then nothing is half typed.
func flushInput(fd uintptr) { _ = windows.FlushConsoleInputBuffer(windows.Handle(fd)) }
