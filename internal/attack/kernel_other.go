//go:build !linux

package attack

// strayPlaces are where commands would leave something if nothing held them.
func strayPlaces() []string {
	var out []string
	for _, dir := range []string{"/etc", "/usr/local/bin", "/usr/bin", "/opt", "/usr/lib", "/sbin", "/tmp", "/var/tmp"} {
		out = append(out, dir+"/garuda-pwn")
	}
	return out
}

// kernelCases are those of Linux, and none elsewhere.
func kernelCases() []Case { return nil }

// numbers are system calls in the texts of cases; they differ from system to system.
func numbers() map[string]int { return nil }

// removeShared is for what only Linux has.
func removeShared() error { return nil }
