package nccl

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Version is a release of NCCL.
type Version struct{ Major, Minor, Patch int }

func (v Version) String() string { return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch) }

// Latest is the last release that weft knows.
var Latest = Version{2, 30, 7}

// releases are the last patch of each minor release that was read.
var releases = []Version{
	{2, 18, 5}, {2, 19, 3}, {2, 20, 5}, {2, 21, 5}, {2, 22, 3}, {2, 23, 4}, {2, 24, 3}, {2, 25, 1},
	{2, 26, 2}, {2, 27, 7}, {2, 28, 9}, {2, 29, 7}, Latest,
}

// ParseVersion reads a release from 2.18 to 2.30, as "2.27" (its last patch
// that weft knows) or "2.27.3".
func ParseVersion(s string) (Version, error) {
	parts := strings.Split(strings.TrimPrefix(s, "v"), ".")
	var n [3]int
	bad := len(parts) < 2 || len(parts) > 3
	for i, p := range parts {
		if bad {
			break
		}
		v, err := strconv.ParseUint(p, 10, 16)
		n[i], bad = int(v), err != nil
	}
	if !bad {
		for _, r := range releases {
			switch {
			case r.Major != n[0] || r.Minor != n[1]:
			case len(parts) == 2:
				return r, nil
			default:
				return Version{n[0], n[1], n[2]}, nil
			}
		}
	}
	return Version{}, fmt.Errorf("read NCCL version: read %q, expected 2.18 to %d.%d, such as 2.27 or %v", s, Latest.Major, Latest.Minor, Latest)
}

// Compare orders releases.
func (v Version) Compare(w Version) int {
	return cmp.Or(cmp.Compare(v.Major, w.Major), cmp.Compare(v.Minor, w.Minor), cmp.Compare(v.Patch, w.Patch))
}

// before reports whether v is older than release 2.minor.
func (v Version) before(minor int) bool { return v.Compare(Version{2, minor, 0}) < 0 }

// constants returns the newest table that is no newer than the release.
func (v Version) constants() *constants {
	at := &tables[0]
	for i := range tables {
		if tables[i].from.Compare(v) <= 0 || tables[i].since(v) {
			at = &tables[i]
		}
	}
	return at
}

// Constants names the release that the constants of v were read at.
func (v Version) Constants() Version { return v.constants().from }

// since reports whether a table holds for releases before the one that it was
// read at.
func (c *constants) since(v Version) bool {
	switch c.from {
	case Version{2, 27, 7}:
		return !v.before(25)
	case Version{2, 19, 3}, Version{2, 21, 5}, Version{2, 23, 4}, Version{2, 28, 3}, Version{2, 29, 2}, Version{2, 30, 7}:
		return !v.before(c.from.Minor)
	}
	return false
}

// latencies are microseconds by algorithm and protocol.
type latencies [algorithms][protocols]float64

// caps are GB/s by generation (Volta, Ampere, Hopper, Blackwell) and by one,
// two or more nodes. A release that does not know Blackwell has none of it.
type caps [4][3]float64

// constants are one version of the model's numbers.
type constants struct {
	from  Version
	base  latencies    // of an operation
	hw    [3]latencies // of a hop: NVLink, PCIe, network
	llMax caps         // LL, whole
	// Ceilings of a search channel.
	ringLL128, treeLL128, tree, nvlsTree caps
}

// treeFill is which part of its bandwidth a tree reaches at 64 bytes << index;
// below, it reaches it whole, and above too. All releases share it. Tree uses
// all but the last entry, NVLSTree the whole.
//
// Source: NVIDIA/nccl, src/graph/tuning.cc, tags 2.18.5 to 2.30.7; the last
// entry since 2.29.
var treeFill = [protocols][24]float64{
	LL:     {1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1, 1},
	LL128:  {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1, 1},
	Simple: {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9},
}
