// Package workloads describes traffic and work: what is computed and sent, by
// whom, after what. It knows no file and no flag.
//
// A [Program] is what every generator and every trace reader emits and what
// workloads/replay runs: classes of ranks with their [Op]s, communicators
// ([Comm]), streams and dependencies.
package workloads
