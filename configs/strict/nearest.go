package strict

import (
	"fmt"
	"strings"
)

// Nearest returns the valid word that name was probably meant to be: the one
// at the smallest edit distance (a swap of neighbours counts as one edit), if
// that is small for the length of the word. Case and the choice of - or _ count
// as nothing. Of equally near words the first is taken.
func Nearest(name string, valid []string) (string, bool) {
	best, bestD := "", -1
	a := fold(name)
	if len(a) > 80 {
		return "", false
	}
	for _, v := range valid {
		b := fold(v)
		d := distance(a, b)
		if d > 1+max(len(a), len(b))/4 || d >= max(len(a), len(b)) {
			if !(len(a) >= 3 && strings.HasPrefix(string(b), string(a))) {
				continue
			}
			d = 2 + len(b) - len(a) // the beginning of a word is a weak hint
		}
		if bestD < 0 || d < bestD {
			best, bestD = v, d
		}
	}
	return best, bestD >= 0
}

// DidYouMean returns a hint such as `did you mean "dgx-h100"?`, or "".
func DidYouMean(name string, valid []string) string {
	if w, ok := Nearest(name, valid); ok {
		return fmt.Sprintf("did you mean %q?", w)
	}
	return ""
}

func fold(s string) []rune {
	return []rune(strings.ReplaceAll(strings.ToLower(s), "-", "_"))
}

// distance is the optimal string alignment distance.
func distance(a, b []rune) int {
	prev2 := make([]int, len(b)+1)
	prev := make([]int, len(b)+1)
	cur := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)]
}
