package plain_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"garuda/internal/core"
	"garuda/internal/front/plain"
	"garuda/internal/llm"
	"garuda/internal/llm/script"
)

// scenarioVariable makes this test program a chat on its own terminal, which
// plays the scenario that the variable holds.
const scenarioVariable = "GARUDA_TEST_PLAIN_SCENARIO"

// chatOnTerminal is what main does around a chat.
func chatOnTerminal(scenario string) int {
	s, err := script.Parse(scenarioVariable, []byte(scenario))
	if err != nil {
		fmt.Println(err)
		return 3
	}
	model, err := script.New(s, script.Options{Info: &llm.Info{Spec: "script/demo", Known: true, Price: core.Price{Known: true}}})
	if err != nil {
		fmt.Println(err)
		return 3
	}
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	exit, err := plain.Run(context.Background(), plain.Options{
		Host: newFakeHost(core.SystemClock, model), In: os.Stdin, Out: os.Stdout, Interrupts: interrupts,
		IsTerminal: true, Redraw: true, DropTyped: plain.DropTyped(os.Stdin),
	})
	if err != nil {
		fmt.Println(err)
	}
	return exit
}
