//go:build unix && !linux

package host_test

func becomeUndumpable() error { return nil }
