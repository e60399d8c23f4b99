package kernels

import (
	"fmt"
	"strconv"
	"strings"
)

// version is the release of a library: major, minor, patch. What follows the
// figures of a part ("0rc5") is not kept.
type version [3]int

// parseVersion reads "1.2.0rc5", "v0.24" or "2.30.7".
func parseVersion(s string) (version, error) {
	var v version
	parts := strings.Split(strings.TrimPrefix(s, "v"), ".")
	for i, p := range parts {
		if i == len(v) {
			break
		}
		digits := len(p) - len(strings.TrimLeft(p, "0123456789"))
		n, err := strconv.ParseUint(p[:digits], 10, 16)
		if err != nil {
			return v, fmt.Errorf("read version %q, expected figures with dots between, such as 0.24 or 1.3.0", s)
		}
		v[i] = int(n)
	}
	return v, nil
}

// before reports whether v is older than the release major.minor.patch.
func (v version) before(major, minor, patch int) bool {
	w := version{major, minor, patch}
	for i := range v {
		if v[i] != w[i] {
			return v[i] < w[i]
		}
	}
	return false
}
