package pdf

import (
	"context"
	"errors"
	"fmt"
)

// budget bounds the work and the memory of a document. Every loop over what the
// file says takes from it; once it is spent it stays so, and every reader then
// comes to its end with what it has.
type budget struct {
	ctx   context.Context
	steps int64 // left
	// memory is how many bytes of objects and fonts may still be kept.
	memory int64
	err    error // why nothing more may be done; nil while there is some left
}

func newBudget(ctx context.Context) budget {
	return budget{ctx: ctx, steps: maxSteps, memory: maxMemory}
}

// maxSteps is what a document may cost in all; a step is about ten nanoseconds.
// A page of dense text takes some ten thousand.
const maxSteps = 150_000_000

// checkEvery is after how many steps the context is looked at.
const checkEvery = 1 << 16

// maxMemory is what the objects of a document may take in memory, with its fonts
// and its tables. It is counted as they are read, and not given back when they are
// dropped from a cache, since others may hold them.
const maxMemory = 384 << 20

// What is counted for the parts of objects beside their bytes; maps are the largest.
const (
	sizeItem, sizeText    = 32, 24
	sizeDict, sizePair    = 320, 48
	sizePlace, sizeMapped = 72, 64
	sizeFont              = 16 << 10
)

// errMemory ends a document that would fill the memory.
var errMemory = errors.New("it takes more memory than a file of its kind should; it may be made to fill that of readers")

// errWork ends a document that would take too long.
var errWork = errors.New("it takes more work than a file of its kind should; it may be made to keep readers busy")

// take spends n steps, at least one, and reports whether the work may go on.
func (b *budget) take(n int) bool {
	if b.err != nil {
		return false
	}
	before := b.steps
	b.steps -= int64(max(n, 1))
	switch {
	case b.steps < 0:
		b.err = errWork
	case before/checkEvery != b.steps/checkEvery && b.ctx.Err() != nil:
		b.err = fmt.Errorf("stopped: %w", context.Cause(b.ctx))
	}
	return b.err == nil
}

// hold counts n bytes that are kept, and reports whether they may be.
func (b *budget) hold(n int) bool {
	if b.err != nil {
		return false
	}
	if b.memory -= int64(n); b.memory < 0 {
		b.err = errMemory
	}
	return b.err == nil
}
