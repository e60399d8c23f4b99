package main

import (
	"fmt"
	"slices"
	"strconv"
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

// positive is the value of a flag that takes a whole number of at least one;
// 0 is a flag that was not given.
type positive int

// String returns the number, or nothing.
func (p *positive) String() string {
	if *p == 0 {
		return ""
	}
	return strconv.Itoa(int(*p))
}

// Type names the kind of value in help.
func (p *positive) Type() string { return "number" }

// Set reads the number.
func (p *positive) Set(s string) error {
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil || n < 1 {
		return fmt.Errorf("read %q, expected a whole number of at least 1", s)
	}
	*p = positive(n)
	return nil
}

// word is the value of a flag that takes a name; none is "".
type word string

// String returns the name.
func (w *word) String() string { return string(*w) }

// Type names the kind of value in help.
func (w *word) Type() string { return "name" }

// Set refuses a name without a letter, which a script's empty variable makes.
func (w *word) Set(s string) error {
	if strings.TrimSpace(s) == "" {
		return fmt.Errorf("read %q, expected a name", s)
	}
	*w = word(s)
	return nil
}
