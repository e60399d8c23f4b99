package chakra_test

import (
	"fmt"
	"testing/fstest"

	"github.com/weft-sim/weft/workloads/trace/chakra"
)

// A trace of one rank of four: the others are copies of it.
func Example() {
	files := fstest.MapFS{
		"job.0.json": {Data: []byte(`{"workload_graph": [
			{"Id": 1, "Name": "matmul", "NodeType": 4, "data_deps": [], "runtime": 120, "is_cpu_op": false},
			{"Id": 2, "Name": "gradients", "NodeType": 7, "data_deps": [1], "comm_type": 0, "comm_size": 1048576}
		], "ngpus": 4}`)},
	}
	program, report, err := chakra.Load(files, "job.0.json", chakra.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, op := range program.Classes[0].Ops {
		fmt.Println(op.Name, op.Duration, int64(op.Bytes), op.Deps)
	}
	fmt.Println(program.World, "ranks:", report.Warnings[0])
	// Output:
	// matmul 120us 0 []
	// gradients 0s 1048576 [0]
	// 4 ranks: ranks 1-3 have no trace: they are copies of rank 0 (the world of 4: ngpus in job.0.json)
}
