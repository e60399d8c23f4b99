package configs

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/weft-sim/weft/configs/catalog"
	"github.com/weft-sim/weft/configs/strict"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
	"github.com/weft-sim/weft/workloads/replay"
	"github.com/weft-sim/weft/workloads/synth"
	"github.com/weft-sim/weft/workloads/trace/chakra"
)

// Job is a scenario made ready: replay.Run takes the machine, the program and
// the options.
type Job struct {
	Machine *topology.Machine
	Program *workloads.Program
	Options replay.Options

	// Trace is what the import of a trace kept, dropped and repaired; nil for
	// other workloads.
	Trace *chakra.Report
	// Provenance is every figure of the catalogue that was used.
	Provenance []catalog.Provenance
	// Warnings are sentences that a report must repeat.
	Warnings []string
}

// Build makes a job of the scenario with the hardware of cat, which a system
// file of the scenario may add to; nil is the catalogue that comes with weft.
//
// What the scenario has wrong is a [*strict.Error] at its place. What a trace
// has wrong comes as the errors of package chakra.
func (s *Scenario) Build(cat *catalog.Catalog) (*Job, error) {
	j := &Job{Warnings: append([]string(nil), s.Warnings...)}
	if s.fit {
		if err := s.fitNodes(cat, j); err != nil {
			return nil, err
		}
	}
	hw, err := s.Hardware(cat)
	if err != nil {
		return nil, s.alsoWrong(err)
	}
	j.Machine = hw.Machine
	if j.Program == nil {
		if err := s.program(j, int32(len(hw.Machine.Ranks)), hw); err != nil {
			return nil, err
		}
	}
	err = s.options(j, hw)
	if j.Program.World > int32(len(hw.Machine.Ranks)) {
		return nil, both(s.tooSmall(j.Program.World, hw), err)
	}
	if err != nil {
		return nil, err
	}
	j.Provenance = append(hw.Provenance, j.Provenance...)
	j.Warnings = append(j.Warnings, hw.Warnings()...)
	if j.Trace != nil {
		j.Warnings = append(j.Warnings, j.Trace.Warnings...)
		if w := asRecorded(j.Trace, hw.GPU); w != "" {
			j.Warnings = append(j.Warnings, w)
		}
	}
	j.Warnings = append(j.Warnings, s.idleFigures(j.Provenance)...)
	return j, nil
}

// tooSmall is the error of more ranks than GPUs.
func (s *Scenario) tooSmall(world int32, hw *Hardware) error {
	at := "workload"
	if s.Workload.world() > 0 {
		at = "workload.world"
	} else if s.Workload.Trace != nil {
		at = "workload.path"
	}
	gpus, nodes, word := int32(len(hw.Machine.Ranks)), hw.Machine.Hosts, "nodes"
	if nodes == 1 {
		word = "node"
	}
	msg := fmt.Sprintf("the workload has %d ranks, but the machine has %d GPUs", world, gpus)
	if hw.Spec == nil {
		return s.tree.ErrorAt(at, fmt.Sprintf("%s (%d %s)", msg, nodes, word), "")
	}
	per := int32(hw.Spec.Host.GPUs)
	if gpus != per*nodes {
		return s.tree.ErrorAt(at, fmt.Sprintf("%s in service, of %d", msg, per*nodes), "")
	}
	hint := fmt.Sprintf("write nodes: %d", (world+per-1)/per)
	if hw.anySize && hw.Spec.Hosts <= 1 {
		hint = fmt.Sprintf("write gpus: %d", world)
	}
	return s.tree.ErrorAt(at, fmt.Sprintf("%s (%d %s of %d)", msg, nodes, word, per), hint)
}

// world is the number of ranks that the scenario asks for, 0 if it does not.
func (w *Workload) world() int32 {
	switch {
	case w.Trace != nil:
		return w.Trace.World
	case w.Collective != nil:
		return w.Collective.World
	case w.Exchange != nil:
		return w.Exchange.World
	}
	return w.Program.World
}

// program fills j.Program. Without hardware it only tells what is wrong with
// one that does not depend on it.
func (s *Scenario) program(j *Job, gpus int32, hw *Hardware) error {
	world := s.Workload.world()
	if world == 0 {
		world = gpus
	}
	var err error
	switch w := s.Workload; {
	case w.Trace != nil:
		j.Program, j.Trace, err = s.trace(w.Trace)
		return err
	case w.Collective != nil:
		if j.Program, err = w.Collective.build(world); err != nil {
			return s.blame(err, collectiveKey)
		}
	case w.Exchange != nil:
		if hw == nil {
			return nil
		}
		if j.Program, err = s.exchange(w.Exchange, world, hw); err != nil {
			return err
		}
	default:
		if j.Program, err = w.Program.Build(world, s.Seed); err != nil {
			return s.blame(err, programKey)
		}
	}
	j.Program.Name = s.Name
	return nil
}

// build makes the program of a collective.
func (c *Collective) build(world int32) (*workloads.Program, error) {
	r := synth.Repeated{Bytes: c.Bytes, Count: c.Count, Root: c.Root, Skew: c.Skew}
	for op := workloads.AllReduce; op <= workloads.AllToAllV; op++ {
		if op.String() == c.Op {
			r.Op = op
		}
	}
	if g := c.Group; g != nil {
		r.Group = synth.Group{Name: "group", Size: g.Size, Stride: g.Stride, Ranks: g.Ranks}
	}
	return r.Build(world)
}

// collectiveKey turns a path of the program that a collective becomes into one
// of the scenario.
func collectiveKey(path string) string {
	if rest, ok := strings.CutPrefix(path, "groups.group"); ok {
		return "workload.group" + rest
	}
	if strings.HasSuffix(path, ".repeat") {
		return "workload.count"
	}
	return "workload." + path[strings.LastIndexByte(path, '.')+1:]
}

// programKey turns a path of a program into one of the scenario.
func programKey(path string) string { return "workload." + path }

// blame puts errors of package synth at their places in the scenario.
func (s *Scenario) blame(err error, key func(path string) string) error {
	var all synth.Errors
	if !errors.As(err, &all) {
		return err
	}
	var out strict.Errors
	for _, e := range all {
		out = append(out, s.tree.ErrorAt(key(e.Path), e.Msg, strict.DidYouMean(e.Near, e.Valid)))
	}
	out.Sort()
	return out.Err()
}

// trace imports a trace.
func (s *Scenario) trace(t *Trace) (*workloads.Program, *chakra.Report, error) {
	fsys, name := s.open("workload.path", t.Path)
	opt := chakra.Options{
		World:           t.World,
		NoReplicate:     t.Replicate != nil && !*t.Replicate,
		Dims:            t.Dims,
		BytesPerElement: t.BytesPerElement,
		PreferRoofline:  t.Durations == "roofline",
		RecordedOnly:    t.RecordedOnly,
		AcceptTruncated: t.Truncated == "accept",
		Say:             func(option, value string) string { return "--set workload." + option + "=" + value },
	}
	for _, g := range t.GroupDims {
		if opt.GroupDims == nil {
			opt.GroupDims = map[string]workloads.Dim{}
		}
		for d := workloads.Other; d <= workloads.EP; d++ {
			if d.String() == g.Dim {
				opt.GroupDims[g.Group] = d
			}
		}
	}
	if t.Groups != "" {
		_, opt.GroupFile = s.open("workload.groups", t.Groups)
	}
	return chakra.Load(fsys, name, opt)
}

// open returns the file that a value of the scenario names: relative to the
// scenario's own file, or to the working directory when it came from outside.
func (s *Scenario) open(key, name string) (fs.FS, string) {
	n := s.tree.Find(key)
	if path.IsAbs(name) || n != nil && n.Pos.Source != nil && n.Pos.Source.Loose {
		return osFS{}, name
	}
	return s.home.fsys, path.Join(s.home.dir, name)
}

// asRecorded says how many kernels of a trace run as long as on the GPU that
// recorded them, which a trace does not name.
func asRecorded(r *chakra.Report, gpu *catalog.GPU) string {
	this := "this GPU"
	if gpu != nil {
		this = gpu.Name
	}
	switch n := r.RecordedKernels; n {
	case 0:
		return ""
	case 1:
		return "1 kernel runs as long as recorded; it was not scaled to " + this
	default:
		return fmt.Sprintf("%d kernels run as long as recorded; they were not scaled to %s", n, this)
	}
}

// options fills j.Options.
func (s *Scenario) options(j *Job, hw *Hardware) error {
	o := &j.Options
	if s.Network.Model == replay.Ideal.String() {
		o.Model = replay.Ideal
	}
	if s.Collectives.Grain == collective.Chunk.String() {
		o.Grain = collective.Chunk
	}
	if s.Collapse == replay.Off.String() {
		o.Collapse = replay.Off
	}
	o.Slice, o.Window, o.Rings = s.Collectives.Slice, s.Collectives.Window, s.Collectives.Rings
	o.FullSolve = s.Network.Solver == "full"
	o.OneAtATime = s.Issue.OneAtATime
	notes, err := s.library(o, hw, j.Program)
	if err != nil {
		return err
	}
	j.Warnings = append(j.Warnings, notes...)
	if !modelled(j.Program) {
		return nil
	}
	if hw.GPU == nil {
		return s.tree.ErrorAt("system", "the workload has work without a recorded time, but the inline system names no GPU to time it",
			"write gpu: and the name of one of the catalogue")
	}
	precision, key := "bf16", "workload"
	if w := s.Workload; w.Trace != nil && w.Trace.Precision != "" {
		precision, key = w.Trace.Precision, "workload.precision"
	} else if w.Program != nil && w.Program.Precision != "" {
		precision, key = w.Program.Precision, "workload.precision"
	}
	line, used, err := hw.GPU.Roofline(precision)
	if err != nil {
		return s.tree.ErrorAt(key, err.Error(), "")
	}
	o.Compute = &line
	j.Provenance = append(j.Provenance, used...)
	return nil
}

// modelled reports whether any operation needs a model of the GPU.
func modelled(p *workloads.Program) bool {
	for _, c := range p.Classes {
		for i := range c.Ops {
			o := &c.Ops[i]
			if o.Duration < 0 && o.Kind == workloads.Compute || o.Kind == workloads.Copy {
				return true
			}
		}
	}
	return false
}
