package main

import (
	"errors"
	"strings"

	"github.com/spf13/pflag"
)

// damaged are the flags that say what a machine's file does not, and what is
// wrong with the machine.
type damaged struct {
	gpu   word
	fault faultList
}

// damage gives a verb the flags.
func (d *damaged) damage(f *pflag.FlagSet) {
	f.Var(&d.gpu, "gpu", "`kind` of the GPUs, where the machine's file does not name it: h100, a100-pcie, rtx-4090")
	f.Var(&d.fault, "fault", "what is slower or missing, as `TARGET EFFECT`: \"n0.gpu3 down\"; may be repeated")
}

// addFaults puts the faults on top of those of the scenario.
func (d *damaged) addFaults(q *question) error {
	var errs []error
	for _, text := range d.fault {
		if err := q.AddFault(text); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// faultList is the value of --fault.
type faultList []string

// String returns the faults.
func (l *faultList) String() string { return strings.Join(*l, "; ") }

// Type names the kind of value in help.
func (l *faultList) Type() string { return "fault" }

// Set adds a fault.
func (l *faultList) Set(text string) error {
	if strings.TrimSpace(text) == "" {
		return errors.New("read nothing, expected a target and what befalls it, such as \"n0.gpu3 down\"")
	}
	*l = append(*l, text)
	return nil
}
