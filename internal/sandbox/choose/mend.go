package choose

// facts are what this Linux says of itself that decides about a sandbox.
type facts struct {
	// noNamespaces: user.max_user_namespaces is 0; noClone: Debian's switch
	// kernel.unprivileged_userns_clone is.
	noNamespaces, noClone bool
	// appArmor: kernel.apparmor_restrict_unprivileged_userns is on, as on Ubuntu
	// since 23.10.
	appArmor bool
	// container: this is the inside of one.
	container bool
	// root: the user is root.
	root bool
}

// namespaces says how user namespaces, which both better backends need, come to
// be allowed.
func (f facts) namespaces() string {
	switch {
	case f.noNamespaces:
		return "allow user namespaces: sudo sysctl -w user.max_user_namespaces=15000"
	case f.noClone && !f.root:
		return "allow user namespaces: sudo sysctl -w kernel.unprivileged_userns_clone=1"
	case f.container:
		return "let the container make user namespaces (Docker: --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined)"
	case f.appArmor && !f.root:
		return "AppArmor forbids user namespaces here: give Garuda a profile that allows them (docs/sandbox.md has one), " +
			"or sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
	}
	return ""
}
