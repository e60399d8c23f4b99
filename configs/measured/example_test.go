package measured_test

import (
	"fmt"

	"github.com/weft-sim/weft/configs/measured"
)

// The series that come with weft, and the one with the most points.
func Example() {
	series, err := measured.Load()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range series {
		if s.Table.ID == "dgxc_h100_8_allreduce" {
			p := s.Points[0]
			fmt.Printf("%s on %d GPUs of %s: %d bytes took %.2f us\n", s.Op, s.Ranks, s.Case.System, p.Size, p.Time.Microseconds())
			fmt.Println(s.Table.Source)
		}
	}
	// Output:
	// all_reduce on 8 GPUs of dgx-h100: 8 bytes took 13.67 us
	// NVIDIA/dgxc-benchmarking, nccl/README.md @ 841f5466cd
}
