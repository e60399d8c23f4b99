package main

import "github.com/weft-sim/weft/configs/strict"

// didYouMean returns ", did you mean x?" for the candidate nearest to word, or
// nothing where none is near.
func didYouMean(word string, candidates []string) string {
	if near, ok := strict.Nearest(word, candidates); ok {
		return ", did you mean " + near + "?"
	}
	return ""
}
