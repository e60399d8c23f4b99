package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weft-sim/weft/configs"
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads/collective"
	engines "github.com/weft-sim/weft/workloads/collective/kernels"
	"github.com/weft-sim/weft/workloads/collective/nccl"
)

// The libraries that a bench runs.
const (
	byNCCL    = "nccl"
	byNothing = "explicit" // what the command line says, without kernels
)

// library is the flags that say who runs a collective, and how it was started.
// They set keys of the scenario, as --set does.
type library struct {
	name    choice
	version word
	env     []string
	algo    word
	proto   word
	launch  choice
	plugin  plugin
}

// flags gives a verb the flags.
func (l *library) flags(f *pflag.FlagSet) {
	l.name.allowed = append([]string{byNCCL, byNothing}, engines.Names()...)
	l.launch.allowed = nccl.Launches()
	f.Var(&l.name, "library", "`library` whose choice and kernels run: nccl (default); "+strings.Join(engines.Names(), ", ")+", whose kernels reduce in inference engines and leave the rest to NCCL; or explicit, a ring or what --algo says, on bare wires")
	f.Var(&l.version, "version", "`release` of the library, such as 2.27 or 2.27.3 (default "+nccl.Latest.String()+")")
	f.StringArrayVar(&l.env, "env", nil, "`NAME=VALUE` of a variable of the library; may be repeated")
	f.Var(&l.algo, "algo", "`algorithm` to force, as NCCL_ALGO takes it; with --library explicit ring or direct; or the file of one of your own, MSCCL's XML or a plan of MSCCL++")
	f.Var(&l.proto, "proto", "`protocol` to force, as NCCL_PROTO takes it")
	f.Var(&l.plugin, "plugin", "`costs` of the network between nodes for NCCL, in place of the fabric's own: base=50us,step=2us,post=1us,rate=0.9, what is left out is none")
	f.Var(&l.launch, "launch", "`way` in which the host starts kernels: "+strings.Join(nccl.Launches(), ", ")+" (default as -g, -t and -G say, else process-per-gpu)")
}

// nccl gives a verb the flags of NCCL alone.
func (l *library) nccl(f *pflag.FlagSet) {
	l.launch.allowed = nccl.Launches()
	f.Var(&l.version, "version", "`release` of NCCL, such as 2.27 or 2.27.3 (default "+nccl.Latest.String()+")")
	f.StringArrayVar(&l.env, "env", nil, "`NAME=VALUE` of an NCCL variable; may be repeated")
	f.Var(&l.plugin, "plugin", "`costs` of the network between nodes for NCCL, in place of the fabric's own: base=50us,step=2us,post=1us,rate=0.9, what is left out is none")
	f.Var(&l.launch, "launch", "`way` in which the host starts kernels: "+strings.Join(nccl.Launches(), ", ")+" (default process-per-gpu)")
}

// check refuses what contradicts itself, before a machine is built.
func (l *library) check(cmd *cobra.Command, sw *sweep) error {
	graph := cmd.Flags().Lookup("cudagraph")
	switch {
	case sw.graph > 0 && l.launch.value != "" && l.launch.value != nccl.CUDAGraph.String():
		return usage(cmd, "-G %d and --launch %s: a CUDA graph is --launch %v, expected one of them", sw.graph, l.launch.value, nccl.CUDAGraph)
	case graph.Changed && sw.graph == 0 && l.launch.value == nccl.CUDAGraph.String():
		return usage(cmd, "-G 0 and --launch graph: expected one of them")
	case sw.threads > 1 && sw.gpus > 1 && l.launch.value == "" && l.name.value != byNothing:
		return usage(cmd, "-t %d and -g %d: threads with several GPUs each are not simulated; expected -t %d, or --launch beside it", sw.threads, sw.gpus, sw.perNode())
	}
	if l.name.value == byNothing {
		for _, flag := range []string{"version", "env", "proto", "launch", "cudagraph", "plugin"} {
			if f := cmd.Flags().Lookup(flag); f.Changed {
				return usage(cmd, "--%s: no library runs with --library %s, so it says nothing", flag, byNothing)
			}
		}
		return nil
	}
	return l.checkVariables(cmd)
}

// checkVariables refuses releases and variables that weft does not know, and
// what is set twice.
func (l *library) checkVariables(cmd *cobra.Command) error {
	release := nccl.Latest
	if l.version != "" && (l.name.value == "" || l.name.value == byNCCL) { // another library's version is its own
		var err error
		if release, err = nccl.ParseVersion(string(l.version)); err != nil {
			return usage(cmd, "--version: %w", err)
		}
	}
	set := map[string]string{}
	for _, e := range l.env {
		name, value, _ := strings.Cut(e, "=")
		if _, ok := set[name]; ok {
			return usage(cmd, "--env %s: %s is set twice", e, name)
		}
		set[name] = value
		if _, err := nccl.ParseEnv(release, []string{e}); err != nil {
			return usage(cmd, "--env: %w", err)
		}
	}
	for _, force := range l.forced() {
		if value, ok := set[force.variable]; ok && force.value != "" {
			return usage(cmd, "%s %s and --env %s=%s: expected one of them", force.flag, force.value, force.variable, value)
		}
	}
	return nil
}

// checkForced refuses algorithms and protocols that the library has not.
func (l *library) checkForced(cmd *cobra.Command, name string) error {
	for _, f := range l.forced() {
		switch {
		case f.value == "" || name == byNothing && f.variable == "NCCL_ALGO":
			continue
		case name == byNothing:
			return usage(cmd, "%s %s: no library runs, so there is no protocol to choose", f.flag, f.value)
		case name != byNCCL:
			return usage(cmd, "%s %s: %s chooses its kernels by itself, expected --library %s or %s beside it", f.flag, f.value, name, byNCCL, byNothing)
		}
		if _, err := nccl.ParseEnv(nccl.Latest, []string{f.variable + "=" + f.value}); err != nil {
			hint := ""
			if f.value == collective.Direct.String() {
				hint = "; direct transfers are --library " + byNothing
			}
			return usage(cmd, "%s %s: %w%s", f.flag, f.value, innermost(err), hint)
		}
	}
	return nil
}

// force is a flag that is a variable of NCCL.
type force struct{ flag, variable, value string }

// forced lists the flags that force something.
func (l *library) forced() []force {
	return []force{{"--algo", "NCCL_ALGO", string(l.algo)}, {"--proto", "NCCL_PROTO", string(l.proto)}}
}

// overlay returns the keys that the flags set.
func (l *library) overlay(name string) []configs.Flag {
	var all []configs.Flag
	add := func(flag, path, value string) {
		if value != "" {
			all = append(all, configs.Flag{Name: flag, Path: path, Value: value})
		}
	}
	add("--library", "collectives.library", l.name.value)
	add("--version", "collectives.version", quoted(string(l.version)))
	add("--launch", "collectives.launch", l.launch.value)
	for _, p := range l.plugin.parts {
		add("--plugin", "network.plugin."+p[0], p[1])
	}
	for _, e := range l.env {
		name, value, _ := strings.Cut(e, "=")
		add("--env", "collectives.env."+name, quoted(value))
	}
	if name != byNCCL {
		return all
	}
	for _, f := range l.forced() {
		add(f.flag, "collectives.env."+f.variable, quoted(f.value))
	}
	return all
}

// plugin is the value of --plugin: keys of network.plugin and their values.
type plugin struct {
	text  string
	parts [][2]string
}

// String returns what Set read.
func (p *plugin) String() string { return p.text }

// Type names the kind of value in help.
func (p *plugin) Type() string { return "costs" }

// Set reads the costs.
func (p *plugin) Set(text string) error {
	keys := []string{"base", "step", "post", "rate"}
	*p = plugin{text: text}
	for part := range strings.SplitSeq(text, ",") {
		key, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		switch {
		case !ok || value == "":
			return fmt.Errorf("read %q, expected costs such as base=50us,step=2us,rate=0.9", part)
		case !slices.Contains(keys, key):
			return fmt.Errorf("read %q, expected %s%s", key, strings.Join(keys, ", "), didYouMean(key, keys))
		case slices.ContainsFunc(p.parts, func(q [2]string) bool { return q[0] == key }):
			return fmt.Errorf("%s is there twice in %q", key, text)
		}
		if key == "rate" {
			if r, err := strconv.ParseFloat(value, 64); err != nil || !(r > 0 && r <= 1) {
				return fmt.Errorf("rate: read %q, expected a part of the wires' rate, above 0 and at most 1", value)
			}
		} else if t, err := sim.ParseTime(value); err != nil || t < 0 {
			return fmt.Errorf("%s: read %q, expected a time such as 50us", key, value)
		}
		p.parts = append(p.parts, [2]string{key, value})
	}
	return nil
}

// quoted makes a value a text of YAML: 2.30 is a release, not a number.
func quoted(value string) string {
	if value == "" {
		return ""
	}
	return "'" + strings.ReplaceAll(value, "'", "''") + "'"
}

// launched is the way to launch that the flags of nccl-tests say, "" if they
// say none: nccl-tests runs the GPUs of -g in one process and thread.
func (sw *sweep) launched() string {
	switch {
	case sw.graph > 0:
		return nccl.CUDAGraph.String()
	case sw.threads > 1:
		return nccl.Threads.String()
	case sw.gpus > 1:
		return nccl.OneProcess.String()
	}
	return ""
}

// explicitly returns who picks the algorithm that --algo names where no
// library does, nil if it names none.
func (l *library) explicitly() (collective.Chooser, error) {
	switch l.algo {
	case "":
		return nil, nil
	case word(collective.Direct.String()):
		return collective.Explicit(collective.Direct), nil
	case word(collective.Ring.String()):
		return collective.Explicit(collective.Ring), nil
	}
	return nil, fmt.Errorf("read %q, expected ring or direct", l.algo)
}
