package configs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weft-sim/weft/configs/strict"
)

// noSettings are the variables that are not of a scenario: the folder of
// shared test data, and the wish for a stack trace.
var noSettings = []string{"WEFT_SHARED", "WEFT_DEBUG"}

// environment lays WEFT_ variables over what is there. One that sets nothing is
// an error: a slip in it would otherwise answer another question unseen.
func environment(l *layers, environ []string) error {
	byVar := map[string]string{}
	var vars []string
	for _, p := range strict.Paths(&Scenario{}) {
		v := EnvName(p)
		byVar[v] = p
		vars = append(vars, v)
	}
	sorted := slices.Clone(environ)
	slices.Sort(sorted)
	var errs []error
	for _, kv := range sorted {
		name, value, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(name, "WEFT_") || slices.Contains(noSettings, name) {
			continue
		}
		path, ok := byVar[name]
		if !ok {
			src := strict.NewSource("env "+name, nil)
			src.Loose = true
			msg, hint := unknownVariable(name, value, vars)
			errs = append(errs, &strict.Error{Pos: strict.Pos{Source: src}, Msg: msg, Hint: hint})
			continue
		}
		n, err := scalar("env "+name, value, 0)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		l.set(keysOf(path, n.Pos, 0), n)
	}
	return strict.Join(errs...)
}

// unknownVariable says why a variable sets nothing, and what would.
func unknownVariable(name, value string, vars []string) (msg, hint string) {
	for _, p := range strict.OpenPaths(&Scenario{}) {
		if rest, ok := strings.CutPrefix(name, EnvName(p)+"_"); ok {
			below := strings.ToLower(strings.ReplaceAll(rest, "_", "."))
			return fmt.Sprintf("sets nothing: the keys below %s are chosen by the scenario and have no variable", p),
				fmt.Sprintf("write --set %s.%s=%s, in the scenario's own spelling", p, below, clip(value))
		}
	}
	return "sets nothing: no key of a scenario has this variable", strict.DidYouMean(name, vars)
}

// EnvName returns the environment variable that sets a key: WEFT_NETWORK_MODEL
// for network.model.
func EnvName(path string) string {
	return "WEFT_" + strings.ToUpper(strings.ReplaceAll(path, ".", "_"))
}
