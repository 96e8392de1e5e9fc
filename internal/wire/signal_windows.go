package wire

// signalNumber is 0: no signal ends a program there.
func signalNumber(string) int { return 0 }
