package nccl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-sim/weft/sim"
)

// setter reads the value of a variable.
type setter = func(e *Env, v Version, value string) error

// number reads a whole number within bounds.
func number(s string, low, high int) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < low || n > high {
		return 0, fmt.Errorf("read %q, expected a whole number from %d to %d", s, low, high)
	}
	return n, nil
}

// count reads a number.
func count(low, high int, at func(*Env) *int) setter {
	return func(e *Env, _ Version, s string) error {
		n, err := number(s, low, high)
		if err == nil {
			*at(e) = n
		}
		return err
	}
}

// choice reads a number of which 0 is not the same as none.
func choice(low, high int, at func(*Env) **int) setter {
	return func(e *Env, _ Version, s string) error {
		n, err := number(s, low, high)
		if err == nil {
			*at(e) = &n
		}
		return err
	}
}

// on reads 0 or 1.
func on(at func(*Env) *bool) setter {
	return func(e *Env, _ Version, s string) error {
		n, err := number(s, 0, 1)
		*at(e) = n == 1
		return err
	}
}

// off reads a number of which 0 turns something off.
func off(low, high int, at func(*Env) *bool) setter {
	return func(e *Env, _ Version, s string) error {
		n, err := number(s, low, high)
		*at(e) = err == nil && n == 0
		return err
	}
}

// size reads bytes, with NCCL's suffixes K, M and G.
func size(at func(*Env) *sim.Bytes) setter {
	return func(e *Env, _ Version, s string) error {
		text, unit := s, 1
		if i := strings.IndexByte("KMG", s[len(s)-1]); i >= 0 {
			text, unit = s[:len(s)-1], 1<<(10*(i+1))
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 1<<40/unit {
			return fmt.Errorf("read %q, expected bytes such as 4194304 or 4M", s)
		}
		*at(e) = sim.Bytes(n * unit)
		return nil
	}
}

// threads reads a number of threads, which are whole warps.
func threads(low, high int, at func(*Env) *int) setter {
	return func(e *Env, _ Version, s string) error {
		n, err := number(s, low, high)
		if err != nil || n%32 != 0 {
			return fmt.Errorf("read %q, expected a multiple of 32 from %d to %d", s, low, high)
		}
		*at(e) = n
		return nil
	}
}

// thresholds reads the bytes a thread of Tree and Ring with LL, LL128 and
// Simple, below which NCCL takes fewer channels.
func thresholds(e *Env, _ Version, s string) error {
	words := strings.Fields(strings.ReplaceAll(s, ",", " "))
	if len(words) != 6 {
		return fmt.Errorf("read %q, expected six numbers: tree and ring, each with LL, LL128 and Simple, such as \"8 8 64 8 8 64\"", s)
	}
	var t [2][3]int
	for i, w := range words {
		n, err := number(w, -1, 1<<20)
		if err != nil {
			return err
		}
		t[i/3][i%3] = n
	}
	e.Thresholds = &t
	return nil
}

// levels are the old numbers of path types.
var levels = []PathType{LOC, PIX, PXB, PHB, SYS, SYS}

// parseLevel reads how far a path may go.
func parseLevel(s string) (PathType, error) {
	if n, err := strconv.Atoi(s); err == nil && n >= 0 && n < len(levels) {
		return levels[n], nil
	}
	if at := slices.Index(pathNames, strings.ToUpper(s)); at >= 0 && PathType(at) <= SYS {
		return PathType(at), nil
	}
	return 0, fmt.Errorf("read %q, expected one of %s or 0 to %d", s, strings.Join(pathNames[:SYS+1], " "), len(levels)-1)
}

// netDevices reads how many of the NICs near it a GPU uses.
func netDevices(e *Env, _ Version, s string) error {
	switch up := strings.ToUpper(s); {
	case up == "AUTO":
		e.NetsPerGPU = 0
		return nil
	case up == "ALL":
		e.NetsPerGPU = -1
		return nil
	case strings.HasPrefix(up, "MAX:"):
		n, err := number(up[4:], 1, 64)
		e.NetsPerGPU = n
		return err
	}
	return fmt.Errorf("read %q, expected AUTO, ALL or MAX: and a number, such as MAX:2", s)
}

// idle takes a number that changes nothing.
func idle(_ *Env, _ Version, s string) error {
	_, err := number(s, -2, 1<<30)
	return err
}

// anything takes any text.
func anything(*Env, Version, string) error { return nil }
