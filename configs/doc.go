// Package configs reads scenarios: files that describe a machine, a workload
// and how to simulate them.
//
// [Load] takes a file, standard input or the name of an embedded scenario
// ([List]), lays environment variables and --set overrides over it and returns
// a [Scenario], or everything that is wrong with it at once, each error at its
// place in the file; an [Overlay] adds flags with names of their own, and makes
// the scenario of a trace. [Scenario.Build] makes a machine, a program and
// options of it for workloads/replay. [Scenario.Resolved] says where each value
// came from.
//
// Layers are merged by viper, which folds keys to lower case; see layers for
// how names keep theirs. Strictness and places are the work of configs/strict;
// hardware is in configs/catalog.
package configs
