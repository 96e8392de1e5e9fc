package main

// The binary is also the inside of its own sandbox: see package stage, which takes
// over before main when it was started as that.
import _ "garuda/internal/sandbox/stage"
