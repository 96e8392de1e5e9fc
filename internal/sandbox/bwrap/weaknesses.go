package bwrap

// Weaknesses are what this backend does not do although package linux does, a
// sentence each.
func Weaknesses() []string {
	return []string{
		"Names of hosts are found by programs that use the proxy of their environment; there is no answer on port 53, nor on other ports below 1024.",
		"A symbolic link cannot be hidden: where one is to be, no command runs.",
		"Where Garuda runs as root the number of processes is limited only by a control group.",
	}
}
