// Command modelserver plays a scenario file as a model server, for script tests
// and for trying things by hand:
//
//	modelserver -scenario s.json -addr 127.0.0.1:8123 -log requests.jsonl
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"garuda/internal/testkit/modelserver"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := modelserver.Run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code) //nolint:forbidigo // this is a main
}
