package main

import (
	"os/exec"
	"testing"
)

// Whole processes, from start to exit: what a person waits for. The bar of the
// default scenario is 150 ms.

func BenchmarkVersionProcess(b *testing.B) { process(b, "version") }

func BenchmarkDefaultProcess(b *testing.B) { process(b, "run") }

// The work that other simulators were timed on, as whole processes: see
// docs/explain/speed.md for what was seen.
func BenchmarkPeersWork(b *testing.B) {
	for _, c := range []struct {
		name string
		args []string
	}{
		{"W1/n=72/chunk", []string{"w1-ring-all-reduce", "--grain", "chunk", "--collapse", "off"}},
		{"W1/n=1024/stream", []string{"w1-ring-all-reduce", "--set", "gpus=1024"}},
		{"W1/n=1024/chunk", []string{"w1-ring-all-reduce", "--set", "gpus=1024", "--grain", "chunk", "--collapse", "off"}},
		{"W1/n=4096/stream", []string{"w1-ring-all-reduce", "--set", "gpus=4096"}},
		{"W1/n=4096/chunk", []string{"w1-ring-all-reduce", "--set", "gpus=4096", "--grain", "chunk", "--collapse", "off"}},
		{"W2/n=1024", []string{"w2-all-to-all", "--set", "gpus=1024"}},
		{"W2/n=1024/off", []string{"w2-all-to-all", "--set", "gpus=1024", "--collapse", "off"}},
		{"W3/flat", []string{"w3-transformer-flat"}},
		{"W3/flat/off", []string{"w3-transformer-flat", "--collapse", "off"}},
		{"W3/flat/jitter", []string{"w3-transformer-flat", "--set", "workload.jitter=0.1"}},
		{"W3/2d", []string{"w3-transformer-2d"}},
		{"W3/2d/off", []string{"w3-transformer-2d", "--collapse", "off"}},
		{"W3/2d/jitter", []string{"w3-transformer-2d", "--set", "workload.jitter=0.1"}},
	} {
		b.Run(c.name, func(b *testing.B) { process(b, append([]string{"run"}, c.args...)...) })
	}
}

func process(b *testing.B, args ...string) {
	for b.Loop() {
		if out, err := exec.Command("weft", args...).CombinedOutput(); err != nil {
			b.Fatalf("weft %v: %v\n%s", args, err, out)
		}
	}
}
