package msccl_test

import (
	"context"
	"fmt"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/topology"
	"github.com/weft-sim/weft/topology/machine"
	"github.com/weft-sim/weft/workloads/collective/msccl"
	"github.com/weft-sim/weft/workloads/replay"
)

// Two GPUs swap their chunks, 1 MB over 100 GB/s and two links of 500 ns.
func Example() {
	a, err := msccl.Read("swap.xml", []byte(`
<algo name="swap" proto="Simple" nchannels="1" nchunksperloop="2" ngpus="2" coll="allgather" inplace="1">
  <gpu id="0" i_chunks="1" o_chunks="2" s_chunks="0"><tb id="0" send="1" recv="1" chan="0">
    <step s="0" type="s" srcbuf="o" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    <step s="1" type="r" srcbuf="o" srcoff="1" dstbuf="o" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
  </tb></gpu>
  <gpu id="1" i_chunks="1" o_chunks="2" s_chunks="0"><tb id="0" send="0" recv="0" chan="0">
    <step s="0" type="s" srcbuf="o" srcoff="1" dstbuf="o" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    <step s="1" type="r" srcbuf="o" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
  </tb></gpu>
</algo>`))
	if err == nil {
		_, err = a.Check() // that each rank ends up with both
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := machine.Build(machine.Star(2, topology.Wire{Rate: 100 * sim.GBps, Latency: 500 * sim.Nanosecond, Class: topology.Class{Name: "port"}}))
	if err != nil {
		fmt.Println(err)
		return
	}
	run, err := a.Expand(2*sim.MB, []int32{0, 1}, 2, msccl.Costs{})
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := replay.Run(context.Background(), run.Program, m, replay.Options{Send: run.Send})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.StepTime)
	// Output: 11us
}
