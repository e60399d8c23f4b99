// Package draw makes a picture of a machine, as SVG that stands by itself: no
// script, no fonts, no style sheet, on a paper of its own, so that it can be
// read on any background.
//
// [SVG] is all there is. A machine is cut into levels, and each level is a
// panel of the picture:
//
//   - the network: tiers of switches, and hosts below them;
//   - the NVLink domain of a host: trays round the NVSwitches that join them;
//   - what a tray, or a host of one tray, is made of, part by part.
//
// Where there are more equal things than fit, one is drawn, with their number.
// Things are equal if no fact of the graph inside them tells them apart: kinds,
// wires, rates, what is out of service. What differs is drawn apart. Places
// follow from the structure alone, so that a machine always looks the same.
//
// In code: [split] finds the levels, a file each lays out the panels as scenes
// of boxes and lines, and the rest writes a scene down.
package draw
