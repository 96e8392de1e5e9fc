// Command garuda is a coding agent in the terminal. Everything it does is in
// package cli; this file only turns its answer into an exit code.
package main

import (
	"os"

	"garuda/internal/cli"
)

// version is set by the linker.
var version = "dev"

func main() {
	os.Exit(cli.Main(version, os.Args[1:]))
}
