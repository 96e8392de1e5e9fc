// Command generate writes the generated documents anew. It runs at the module's root.
package main

import (
	"fmt"
	"os"

	"garuda/internal/archtest"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run() error {
	documents, err := archtest.Generated(".")
	if err != nil {
		return err
	}
	for path, text := range documents {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
		fmt.Println("wrote", path)
	}
	return nil
}
