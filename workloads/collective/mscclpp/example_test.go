package mscclpp_test

import (
	"fmt"

	"github.com/weft-sim/weft/workloads/collective/mscclpp"
)

// A plan whose thread block waits for a signal that nobody sends.
func Example() {
	p, err := mscclpp.Read("lonely.json", []byte(`{
  "name": "lonely", "collective": "broadcast", "protocol": "Simple", "inplace": true,
  "gpus": [
    {"id": 0, "input_chunks": 1, "output_chunks": 1, "scratch_chunks": 0, "threadblocks": [], "channels": [{"channel_type": "memory", "connected_to": [1]}]},
    {"id": 1, "input_chunks": 1, "output_chunks": 1, "scratch_chunks": 0,
     "threadblocks": [{"id": 0, "ops": [{"name": "wait", "channel_type": "memory", "channel_ids": [0]}], "channels": [{"channel_type": "memory", "channel_ids": [0]}]}],
     "channels": [{"channel_type": "memory", "connected_to": [0]}]}
  ]
}`))
	if err == nil {
		_, err = p.Check()
	}
	fmt.Println(err)
	// Output: check MSCCL++ plan: lonely.json: it hangs: line 6: thread block 0 of GPU 1 waits in operation 0, wait, for GPU 0 to signal on channel 0 between the two
}
