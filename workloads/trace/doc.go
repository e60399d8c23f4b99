// Package trace is the family of readers of recorded workloads, one package a
// format. Each keeps two steps apart: decoding, which yields what the file
// holds, and import, which makes a workloads.Program of it and a report of
// what was kept, dropped and repaired on the way.
package trace
