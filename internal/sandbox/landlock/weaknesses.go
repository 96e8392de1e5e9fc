package landlock

// Weaknesses are what this backend does not hold although the others do, a sentence
// each, for a version of Landlock.
func Weaknesses(version int) []string {
	all := []string{
		"Commands make, remove and rename nothing directly in the project's own folder, nor in any folder above a locked file; " +
			"the file tools do. So git can be read, and not commit.",
		"Names of files everywhere can be tested and their permissions and times changed as your user may; contents are neither read nor written.",
		"Names and command lines of your other processes can be seen; their memory, environment and files cannot.",
		"There is no private /tmp at its own path: TMPDIR names the folder. There is no /dev/shm.",
		"Unix sockets cannot be used, those that the settings allow included.",
		"Where Garuda runs as root the number of processes is not limited.",
	}
	if version >= netVersion {
		all = append(all, "While network.allow names hosts, a command may also connect to other machines, but only on the port number that its way out happens to have.")
	} else {
		all = append(all, "There is no network at all, also for hosts in network.allow: this kernel's Landlock cannot tell ports apart (Linux 6.7 can).")
	}
	if version < scopeVersion {
		all = append(all, "Commands can send signals to your other processes, one by one (Linux 6.12 and later keep them from it).")
	}
	return all
}

// AtStart is what everybody has to know who works behind this fence.
func AtStart(version int) string {
	network := "they reach no network but what network.allow names."
	if version < netVersion {
		network = "they reach no network at all, also not what network.allow names."
	}
	return "In the project's own folder commands make, remove and rename nothing, so git does not commit; the file tools do. And " + network
}

const (
	// netVersion is the first that knows ports of TCP, scopeVersion the first that
	// keeps signals and abstract sockets to the processes behind the same fence.
	netVersion   = 4
	scopeVersion = 6
)
