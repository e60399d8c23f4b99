package report

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"github.com/weft-sim/weft/sim"
)

// Copies is what copy engines reach between the GPUs of a host, a pair at a
// time: what p2pBandwidthLatencyTest of the CUDA samples prints.
type Copies struct {
	System   string
	GPUs     int
	Size     sim.Bytes // of a copy
	NoPeer   bool      // peer access is turned off
	Pairs    []CopyPair
	Version  string
	Warnings []string
}

// CopyPair is the copies from one GPU to another.
type CopyPair struct {
	From, To int32
	Kind     string // of the path: "NVL", "SYS"
	Staged   bool   // by way of host memory
	OneWay   sim.Rate
	BothWays sim.Rate // of both directions at once, in sum
}

// Text writes the two matrices of the CUDA samples, with - where there is no
// pair.
func (c *Copies) Text(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "# weft %s: copies of %s between the %s of %s, a pair at a time\n", c.Version, Size(c.Size), Plural(c.GPUs, "GPU"), c.System)
	for _, warning := range c.Warnings {
		fmt.Fprintf(out, "# note: %s\n", warning)
	}
	peer := "Enabled"
	if c.NoPeer {
		peer = "Disabled"
	}
	c.matrix(out, "Unidirectional P2P="+peer, func(p *CopyPair) sim.Rate { return p.OneWay })
	c.matrix(out, "Bidirectional P2P="+peer, func(p *CopyPair) sim.Rate { return p.BothWays })
	return out.Flush()
}

// matrix writes one value of every pair, in the form of the CUDA samples
// (NVIDIA/cuda-samples, p2pBandwidthLatencyTest.cu).
func (c *Copies) matrix(w io.Writer, title string, value func(*CopyPair) sim.Rate) {
	fmt.Fprintf(w, "%s Bandwidth Matrix (GB/s)\n   D\\D", title)
	at := map[[2]int32]*CopyPair{}
	rows, columns := int32(0), int32(0)
	for i := range c.Pairs {
		p := &c.Pairs[i]
		at[[2]int32{p.From, p.To}] = p
		rows, columns = max(rows, p.From+1), max(columns, p.To+1)
	}
	for b := range columns {
		fmt.Fprintf(w, " %6d", b)
	}
	fmt.Fprintln(w)
	for a := range rows {
		fmt.Fprintf(w, " %5d", a)
		for b := range columns {
			cell := "-"
			if p := at[[2]int32{a, b}]; p != nil {
				cell = fit(gigabytes(value(p)), 6)
			}
			fmt.Fprintf(w, " %6s", cell)
		}
		fmt.Fprintln(w)
	}
}

// CSV writes a line a pair, with the columns that docs/reference/csv.md lists.
func (c *Copies) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	if err := out.Write([]string{"from", "to", "size_bytes", "path", "staged", "one_way_gbytes_per_s", "both_ways_gbytes_per_s"}); err != nil {
		return err
	}
	for _, p := range c.Pairs {
		err := out.Write([]string{
			strconv.Itoa(int(p.From)), strconv.Itoa(int(p.To)), strconv.FormatInt(int64(c.Size), 10), p.Kind, strconv.FormatBool(p.Staged),
			exact(gigabytes(p.OneWay)), exact(gigabytes(p.BothWays)),
		})
		if err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

type copiesDocument struct {
	System   string             `json:"system"`
	GPUs     int                `json:"gpus"`
	Size     int64              `json:"size_bytes"`
	NoPeer   bool               `json:"no_peer"`
	Pairs    []copyPairDocument `json:"pairs"`
	Warnings []string           `json:"warnings"`
	Version  string             `json:"weft_version"`
}

type copyPairDocument struct {
	From     int32   `json:"from"`
	To       int32   `json:"to"`
	Kind     string  `json:"path"`
	Staged   bool    `json:"staged"`
	OneWay   float64 `json:"one_way_gbytes_per_s"`
	BothWays float64 `json:"both_ways_gbytes_per_s"`
}

// JSON writes the pairs as one document, with the names of the CSV columns.
func (c *Copies) JSON(w io.Writer) error {
	doc := copiesDocument{
		System: c.System, GPUs: c.GPUs, Size: int64(c.Size), NoPeer: c.NoPeer,
		Pairs: make([]copyPairDocument, len(c.Pairs)), Warnings: append([]string{}, c.Warnings...), Version: c.Version,
	}
	for i, p := range c.Pairs {
		doc.Pairs[i] = copyPairDocument{p.From, p.To, p.Kind, p.Staged, gigabytes(p.OneWay), gigabytes(p.BothWays)}
	}
	return WriteJSON(w, doc)
}
