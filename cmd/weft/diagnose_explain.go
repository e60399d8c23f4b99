package main

import (
	"context"
	"fmt"
	"math"

	"github.com/weft-sim/weft/cmd/weft/internal/report"
	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/workloads/collective/nccl"
)

// scene is what a hypothesis may look at.
type scene struct {
	*subject
	*trial
	ran map[string]bool // algorithms and protocols that are expected
}

// of lists the names of the nodes of a kind on the first host.
func (s *scene) of(kind topology.NodeKind) []string {
	var names []string
	for _, n := range s.job.Machine.Graph.Nodes {
		if n.Kind == kind && n.Host == 0 && !n.Down {
			names = append(names, n.Name)
		}
	}
	return names
}

// explain simulates one hypothesis after the other and keeps those that come
// nearer to what was measured.
func (s *subject) explain(ctx context.Context, t *report.Test, normal *trial, expected []expectation) error {
	at := probes(len(s.rows), mostProbed(s.ranks))
	sizes := make([]sim.Bytes, len(at))
	measured, base := make([]sim.Time, len(at)), make([]sim.Time, len(at))
	sc := &scene{subject: s, trial: normal, ran: map[string]bool{}}
	for i, k := range at {
		sizes[i], measured[i], base[i] = s.rows[k].Size, s.rows[k].Of(), expected[k].Time
	}
	for _, e := range expected {
		sc.ran[e.Algo], sc.ran[e.Proto] = true, true
	}
	t.Off = off(measured, base)
	near := enough
	if t.Verdict == report.Normal {
		if near = hint; t.Off < quiet || len(at) < 4 {
			return nil
		}
	}
	for _, h := range hypotheses {
		cause, why, err := s.try(ctx, h, sc, sizes, measured, base)
		if err != nil {
			return err
		}
		if why != "" {
			t.Untested = append(t.Untested, report.Untested{Name: h.name, What: h.what, Why: why})
		}
		switch {
		case cause == nil:
		case cause.Off < near*t.Off:
			t.Causes = append(t.Causes, *cause)
		case cause.Off < t.Off && (t.Nearest == nil || cause.Off < t.Nearest.Off):
			t.Nearest = cause
		}
	}
	if len(t.Causes) > 0 || t.Verdict == report.Normal {
		t.Nearest = nil
	}
	order(t)
	return nil
}

// enough is how near a cause must come, as a part of how far off the sound
// machine is, to be told: then it explains half of the variance.
const enough = 0.7

// Where all is within the tolerance, a cause is told that comes much nearer
// still: the machine is further off than laboratories are from each other, and
// nearly all of it has the shape of the cause.
const (
	hint  = 0.3
	quiet = 0.05
)

// launched adds what a process for each GPU would change where one launches
// for all: a time that is normal for such a test, and not the machine's.
func (s *subject) launched(ctx context.Context, t *report.Test, expected []expectation) error {
	if s.launch != nccl.OneProcess.String() || s.gpus < 2 {
		return nil
	}
	each, err := s.stage(change{set: []string{"collectives.launch=" + nccl.PerGPU.String()}})
	if err != nil {
		return err
	}
	first, err := each.run(ctx, s, s.sizes()[:1])
	if err != nil {
		return err
	}
	if first[0].Time < expected[0].Time*9/10 {
		t.Notes = append(t.Notes, fmt.Sprintf("one process launched for all %d GPUs of a node, which takes longer than small messages: with a process for each, %s would take %s, not %s",
			s.gpus, report.Size(s.rows[0].Size), report.Duration(first[0].Time), report.Duration(expected[0].Time)))
	}
	return nil
}

// try simulates the variants of a hypothesis and returns the nearest that makes
// a difference. Why says what kept all of them from being simulated.
func (s *subject) try(ctx context.Context, h hypothesis, sc *scene, sizes []sim.Bytes, measured, base []sim.Time) (best *report.Cause, why string, err error) {
	ran := false
	for _, v := range h.variants(sc) {
		staged, err := s.stage(v.change)
		var got []expectation
		if err == nil {
			got, err = staged.run(ctx, s, sizes)
		}
		if ctx.Err() != nil {
			return nil, "", ctx.Err()
		}
		if err != nil {
			why = s.mend(err).Error()
			continue
		}
		ran = true
		times := make([]sim.Time, len(got))
		for i, e := range got {
			times[i] = e.Time
		}
		if off(times, base) < 1e-3 {
			continue // it changes nothing here
		}
		if o := off(measured, times); best == nil || o < best.Off {
			best = &report.Cause{Name: h.name, What: v.label, Why: h.why, Off: o, Settings: v.set, Faults: v.faults}
			for i := range got {
				best.Times = append(best.Times, report.CauseTime{Size: sizes[i], Time: times[i]})
			}
		}
	}
	if ran {
		why = ""
	}
	return best, why, nil
}

// off is how far two lists of times are apart, as a part.
func off(a, b []sim.Time) float64 {
	logs := make([]float64, len(a))
	for i := range a {
		logs[i] = math.Log(float64(a[i]) / float64(b[i]))
	}
	return rms(logs)
}
