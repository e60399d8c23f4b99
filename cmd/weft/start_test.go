package main

import (
	"os/exec"
	"testing"
)

// Whole processes, from start to exit: what a person waits for. The bar of the
// default scenario is 150 ms.

func BenchmarkVersionProcess(b *testing.B) { process(b, "version") }

func BenchmarkDefaultProcess(b *testing.B) { process(b, "run") }

func process(b *testing.B, args ...string) {
	for b.Loop() {
		if out, err := exec.Command("weft", args...).CombinedOutput(); err != nil {
			b.Fatalf("weft %v: %v\n%s", args, err, out)
		}
	}
}
