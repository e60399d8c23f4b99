package kernels

import (
	"fmt"
	"strings"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/workloads"
	"github.com/weft-sim/weft/workloads/collective"
)

// sided takes up the kernel that a user names of a library of exchanges.
func (x *Exchange) sided(library, kernel string) error {
	switch {
	case kernel == "":
	case library == "nvlink-a2a" && (kernel == "one-sided" || kernel == "two-sided"):
		x.OneSided = kernel == "one-sided"
	case library == "nvlink-a2a":
		return fmt.Errorf("read kernel %q, expected one-sided or two-sided", kernel)
	default:
		return fmt.Errorf("read kernel %q, but its kernels follow from what is exchanged", kernel)
	}
	return nil
}

// Exchanges is nil where the library is one of exchanges whose kernels run
// between these ranks, else why they do not.
func (l *Library) Exchanges(ranks []int32) error {
	if l.pick != nil {
		return fmt.Errorf("%s has no kernels for an exchange of tokens", l.Name)
	}
	_, why, err := l.exchangeCost(workloads.AllToAllV, ranks)
	if err == nil && why != "" {
		err = fmt.Errorf("%s does not run here: %s", l.Name, why)
	}
	return err
}

// exchange chooses for the all-to-all of expert parallelism. DeepEP reaches
// every rank, over NVLink or the network.
func (l *Library) exchange(op workloads.Coll, size sim.Bytes, ranks []int32) (collective.Choice, error) {
	c, why, err := l.exchangeCost(op, ranks)
	if err != nil {
		return collective.Choice{}, err
	}
	if why != "" {
		return l.leave(op, size, ranks, why)
	}
	x := l.Setting.Exchange
	name, pace := x.kernel(l.Name), x.pace(c, generationOf(l.Machine), len(ranks))
	if l.Setting.Launch == Eager {
		pace.Floor = l.Setting.host(1)
	}
	return collective.Choice{
		Algorithm: collective.Direct, Name: strings.TrimPrefix(name, l.Name+"-"), Protocol: "simple", Channels: x.withDefaults().Blocks,
		Pace: pace, Why: l.Name + ": " + name,
	}, nil
}

// exchangeCost returns what the library's kernels cost, or why it has none for
// an operation between these ranks.
func (l *Library) exchangeCost(op workloads.Coll, ranks []int32) (c exchangeCost, why string, err error) {
	x, g := l.Setting.Exchange, generationOf(l.Machine)
	costs, err := exchangeCosts()
	if err != nil {
		return c, "", err
	}
	c, known := costs[costKey{x.kernel(l.Name), g}]
	switch {
	case op != workloads.AllToAll && op != workloads.AllToAllV:
		why = "all-to-all only"
	case len(ranks) < 2:
		why = "nothing to send"
	case l.Machine.SM < 80:
		why = fmt.Sprintf("it has no kernels for compute capability %d.%d", l.Machine.SM/10, l.Machine.SM%10)
	case !l.Machine.NVLink:
		why = "needs NVLink"
	case l.Name == "deepep" && l.apart(ranks):
		why = "the GPUs of a host do not all meet over NVLink"
	case l.Name == "nvlink-a2a" && !l.oneDomain(ranks):
		why = "the ranks lie in several NVLink domains"
	case l.Name == "nvlink-a2a" && x.LowLatency:
		why = "its kernels have no mode of low latency of their own"
	case l.Name == "deepep" && !x.LowLatency && l.oneDomain(ranks) && !l.oneHost(ranks):
		// Source: deepseek-ai/DeepEP, csrc/deep_ep.cpp: CUDA IPC between the
		// peers over NVLink.
		why = "the normal kernels take NVLink within a host alone"
	case !known:
		why = fmt.Sprintf("no kernels for %s", g)
	}
	return c, why, nil
}

// apart reports whether ranks of one host lie in several NVLink domains.
func (l *Library) apart(ranks []int32) bool {
	if l.Machine.Host == nil || l.Machine.Domain == nil {
		return false
	}
	of := map[int32]int32{}
	for _, r := range ranks {
		host, domain := l.Machine.Host(r), l.Machine.Domain(r)
		if first, ok := of[host]; ok && first != domain {
			return true
		}
		of[host] = domain
	}
	return false
}
