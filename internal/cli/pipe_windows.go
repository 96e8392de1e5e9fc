package cli

// catchBrokenPipe does nothing: Windows has no such signal.
func catchBrokenPipe() {}
