package netfile

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/weft-sim/weft/sim"
)

// laneRates are the data rates of one InfiniBand lane, after line coding (8
// of 10 bits up to QDR, 64 of 66 for FDR; from EDR on the name is the data
// rate), in Gbit/s. Source: InfiniBand Architecture, link speeds.
var laneRates = []struct {
	name string
	gbit float64
}{
	{"SDR", 2}, {"DDR", 4}, {"QDR", 8}, {"FDR10", 10}, {"FDR", 14.0625 * 64 / 66},
	{"EDR", 25}, {"HDR", 50}, {"NDR", 100}, {"XDR", 200},
}

// readIBNet reads the output of ibnetdiscover: a block for each switch and
// adapter (`Switch|Ca ports "S-|H-guid" # "description"`) and in it a line for
// each port in use (`[port] "peer guid"[peer port] # ... 4xNDR`).
//
// A cable is told by both of its ends and counted once. The server of an
// adapter is the first word of its description. Aggregation nodes are the
// SHARP units of switches, not servers, and are left out.
func readIBNet(s *source, content []byte, a Assume) (*Net, error) {
	f := &ibNet{s: s, byGUID: make(map[string]int32), ports: make(map[ibPort]int32)}
	current := int32(-1)
	number := 0
	for line := range strings.SplitSeq(string(content), "\n") {
		number++
		trimmed := strings.TrimSpace(line)
		col := strings.Index(line, trimmed) + 1
		switch {
		case strings.HasPrefix(trimmed, "Switch"), strings.HasPrefix(trimmed, "Ca"), strings.HasPrefix(trimmed, "Rt"):
			current = f.device(trimmed, number, col)
		case strings.HasPrefix(trimmed, "["):
			if current < 0 {
				s.add(ErrSyntax, number, col, "a port outside a Switch or Ca block", "a line Switch or Ca before it", "")
				break
			}
			f.port(current, trimmed, number, col)
		}
		if len(s.errs) >= maxErrors {
			break
		}
	}
	if len(s.errs) > 0 {
		return nil, s.err()
	}
	return f.net(a)
}

type ibNet struct {
	s                             *source
	devices                       []ibDevice
	byGUID                        map[string]int32
	cables                        []ibCable
	ports                         map[ibPort]int32 // to cable
	switches, adapters, portLines int
}

type ibDevice struct {
	guid, text string // its description
	isSwitch   bool
	described  bool // has a block of its own
	line       int
}

type ibPort struct {
	device int32
	port   int32
}

type ibCable struct {
	a, b  ibPort
	speed string
	line  int
	twice bool
}

// quoted cuts a text in quotes from the head of a line.
func quoted(text string) (inside, rest string, ok bool) {
	text, ok = strings.CutPrefix(strings.TrimLeft(text, " \t"), `"`)
	if !ok {
		return "", "", false
	}
	return strings.Cut(text, `"`)
}

// bracketed cuts a number in brackets from the head of a line.
func bracketed(text string) (n int32, rest string, ok bool) {
	text, ok = strings.CutPrefix(strings.TrimLeft(text, " \t"), "[")
	if !ok {
		return 0, "", false
	}
	inside, rest, ok := strings.Cut(text, "]")
	x, err := strconv.ParseInt(inside, 10, 32)
	return int32(x), rest, ok && err == nil && x >= 0
}

// find returns the device of a GUID such as S-2c5eab0300b87b40, new or known.
func (f *ibNet) find(guid string, line, col int) (int32, bool) {
	if i, ok := f.byGUID[guid]; ok {
		return i, true
	}
	kind, hex, ok := strings.Cut(guid, "-")
	if !ok || kind != "S" && kind != "H" && kind != "R" || len(hex) == 0 || len(hex) > 16 || strings.Trim(hex, "0123456789abcdefABCDEF") != "" {
		f.s.add(ErrSyntax, line, col, "the GUID "+clip(guid), `S- or H- and 16 hexadecimal digits, as S-2c5eab0300b87b40`, "")
		return 0, false
	}
	if len(f.devices) >= maxNodes {
		f.s.add(ErrTooLarge, line, col, "one more device", fmt.Sprintf("at most %d", maxNodes), "")
		return 0, false
	}
	f.devices = append(f.devices, ibDevice{guid: guid, isSwitch: kind != "H", line: line})
	i := int32(len(f.devices) - 1)
	f.byGUID[guid] = i
	return i, true
}

func (f *ibNet) device(text string, line, col int) int32 {
	kind, rest, _ := strings.Cut(strings.ReplaceAll(text, "\t", " "), " ")
	_, rest, hasPorts := strings.Cut(strings.TrimLeft(rest, " "), " ")
	guid, rest, ok := quoted(rest)
	if !hasPorts || !ok || kind != "Switch" && kind != "Ca" && kind != "Rt" {
		f.s.add(ErrSyntax, line, col, clip(text), `Switch or Ca, the number of ports and a GUID, as Ca 1 "H-e09d7303007a4bd8" # "node0001 mlx5_5"`, "")
		return -1
	}
	i, ok := f.find(guid, line, col)
	if !ok {
		return -1
	}
	d := &f.devices[i]
	if d.described {
		f.s.add(ErrContradiction, line, col, "a second block of "+guid, fmt.Sprintf("each device once (it began at line %d)", d.line), "")
		return -1
	}
	d.described, d.line = true, line
	if kind == "Ca" {
		f.adapters++
	} else {
		f.switches++
	}
	if _, after, ok := strings.Cut(rest, "#"); ok {
		d.text, _, _ = quoted(after)
	}
	return i
}

func (f *ibNet) port(current int32, text string, line, col int) {
	s := f.s
	f.portLines++
	bad := func(want string) {
		s.add(ErrSyntax, line, col, clip(text), want, `as [1] "S-2c5eab0300b87b40"[17] # ... 4xNDR`)
	}
	own, rest, ok := bracketed(text)
	if !ok {
		bad("a port number in brackets")
		return
	}
	// Between the number and the peer may stand the port's own GUID, (e09d...),
	// or [ext 2] for a port of a port.
	open := strings.IndexByte(rest, '"')
	if open < 0 {
		bad("the GUID of the peer in quotes, is the line cut short?")
		return
	}
	guid, rest, ok := quoted(rest[open:])
	if !ok {
		bad("the GUID of the peer in quotes, is the line cut short?")
		return
	}
	far, rest, ok := bracketed(rest)
	if !ok {
		bad("the port of the peer in brackets")
		return
	}
	peer, ok := f.find(guid, line, col)
	if !ok {
		return
	}
	speed := ibSpeed(rest)
	if _, ok := laneSpeed(speed); !ok {
		s.add(ErrSyntax, line, col, "the speed "+clip(speed), "lanes x generation at the end of the line, as 4xNDR (SDR, DDR, QDR, FDR10, FDR, EDR, HDR, NDR, XDR)", "leave a port that is down out")
		return
	}
	if _, after, ok := strings.Cut(rest, "#"); ok && f.devices[peer].text == "" && f.devices[current].isSwitch {
		f.devices[peer].text, _, _ = quoted(after) // in a Ca block it may be an old name
	}
	f.cable(ibPort{current, own}, ibPort{peer, far}, speed, line, col)
}

// ibSpeed finds the word such as 4xNDR in what follows a peer.
func ibSpeed(rest string) string {
	if i := strings.LastIndexByte(rest, '"'); i >= 0 {
		rest = rest[i+1:]
	}
	last := ""
	for _, w := range strings.Fields(rest) {
		if lanes, _, ok := strings.Cut(w, "x"); ok && isDigits(lanes) {
			return w
		}
		last = w
	}
	return last
}

// laneSpeed returns the rate of a speed such as 4xNDR.
func laneSpeed(speed string) (sim.Rate, bool) {
	lanes, generation, _ := strings.Cut(speed, "x")
	n, err := strconv.Atoi(lanes)
	if err != nil || n < 1 || n > 12 {
		return 0, false
	}
	for _, l := range laneRates {
		if l.name == generation {
			return sim.Rate(float64(n) * l.gbit * 1e9 / 8), true
		}
	}
	return 0, false
}

func (f *ibNet) cable(a, b ibPort, speed string, line, col int) {
	if a.device == b.device {
		f.s.add(ErrContradiction, line, col, "a cable from "+f.devices[a.device].guid+" to itself", "two different devices", "")
		return
	}
	if i, ok := f.ports[a]; ok {
		c := &f.cables[i]
		switch {
		case c.a != b || c.b != a || c.twice:
			f.s.add(ErrContradiction, line, col, fmt.Sprintf("port %d of %s, which line %d has in use already", a.port, f.devices[a.device].guid, c.line), "one cable in a port", "")
		case c.speed != speed:
			f.s.add(ErrContradiction, line, col, fmt.Sprintf("a cable of %s, which is %s at its other end on line %d", speed, c.speed, c.line), "one speed", "")
		default:
			c.twice = true
		}
		return
	}
	if i, ok := f.ports[b]; ok {
		f.s.add(ErrContradiction, line, col, fmt.Sprintf("a cable to port %d of %s, which line %d has in use already", b.port, f.devices[b.device].guid, f.cables[i].line), "one cable in a port", "")
		return
	}
	i := int32(len(f.cables))
	f.cables = append(f.cables, ibCable{a: a, b: b, speed: speed, line: line})
	f.ports[a], f.ports[b] = i, i
}
