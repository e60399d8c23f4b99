package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// choice is the value of a flag that takes one of a few words; none is "".
type choice struct {
	value   string
	allowed []string
}

// formatFlag gives a verb the flag --format; the first of the formats is the
// default.
func formatFlag(cmd *cobra.Command, formats ...string) *choice {
	c := &choice{formats[0], formats}
	cmd.Flags().Var(c, "format", "`form` of the answer: "+strings.Join(formats, ", "))
	return c
}

// String returns the word.
func (c *choice) String() string { return c.value }

// Type names the kind of value in help.
func (c *choice) Type() string { return "word" }

// Set refuses a word that is not allowed.
func (c *choice) Set(s string) error {
	if !slices.Contains(c.allowed, s) {
		return fmt.Errorf("read %q, expected %s%s", s, strings.Join(c.allowed, " or "), didYouMean(s, c.allowed))
	}
	c.value = s
	return nil
}
