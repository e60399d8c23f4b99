package configs

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/weft-sim/weft/configs/catalog"
	"github.com/weft-sim/weft/configs/strict"
)

// fitNodes imports the trace and takes as many nodes as its ranks need.
func (s *Scenario) fitNodes(cat *catalog.Catalog, j *Job) error {
	if cat == nil {
		var err error
		if cat, err = catalog.Load(); err != nil {
			return err
		}
	}
	hw, err := s.hardware(cat)
	if err != nil {
		return err
	}
	if err := s.program(j, 0, nil); err != nil {
		return err
	}
	if hw.Spec == nil || hw.Spec.Host.GPUs < 1 {
		return nil // a network file is what it is
	}
	per, world := int32(hw.Spec.Host.GPUs), j.Program.World
	if s.Nodes = (world + per - 1) / per; s.Nodes <= 1 {
		return nil
	}
	why := fmt.Sprintf("as many as %d ranks need", world)
	n := &strict.Node{Kind: strict.Int, Text: strconv.Itoa(int(s.Nodes)), Pos: strict.Pos{Source: &strict.Source{Name: why, Loose: true}}}
	for i, k := range s.tree.Keys {
		if k.Name == "nodes" {
			s.tree.Keys[i].Pos, s.tree.Items[i] = n.Pos, n
		}
	}
	return nil
}

// alsoWrong adds to an error of the machine what is wrong with a program that
// is described in place, as far as that can be told without a machine.
func (s *Scenario) alsoWrong(err error) error {
	if s.Workload.Trace != nil {
		return err
	}
	if world := s.Workload.world(); world > 0 {
		return both(err, s.program(&Job{}, world, nil))
	}
	if p := s.Workload.Program; p != nil {
		return both(err, s.blame(p.Names(), programKey))
	}
	return err
}

// both joins errors that have a place; another stands alone, so that it keeps
// its type.
func both(err, more error) error {
	placed := func(err error) bool {
		var all strict.Errors
		var one *strict.Error
		return err == nil || errors.As(err, &all) || errors.As(err, &one)
	}
	if !placed(err) || !placed(more) {
		return err
	}
	return strict.Join(err, more)
}
