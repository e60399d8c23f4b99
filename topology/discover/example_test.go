package discover_test

import (
	"fmt"
	"os"

	"github.com/weft-sim/weft/topology/discover"
)

// Two GPUs behind one PCIe switch with a NIC, a third GPU on the other socket:
// a matrix as it comes out of a mail, where tabs are blanks and two cells ran
// together.
func ExampleRead() {
	d, err := discover.Read("mail.txt", []byte(`
        GPU0    GPU1    GPU2    NIC0    CPU Affinity    NUMA Affinity
GPU0     X      PIX     SYSPIX    0-31    0
GPU1    PIX      X      SYS     PIX     0-31    0
GPU2    SYS     SYS      X      SYS     32-63   1

NIC Legend:

  NIC0: mlx5_0
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, n := range d.Notes {
		fmt.Println(n)
	}
	tree, _, err := discover.Infer(d.Hosts[0].Matrix)
	fmt.Println(tree.Sockets, "sockets", len(tree.Switches), "switch", err)
	// Output:
	// repaired: line 3: "SYSPIX" are 2 cells of row GPU0 that ran together
	// repaired: 1 rows are missing (NIC0); 3 cells were taken from the columns of other rows
	// 2 sockets 1 switch <nil>
}

// Words that no tree has: GPU0 and GPU2 would have to share a switch and be
// on two sockets.
func ExampleInfer() {
	d, err := discover.Read("bad.txt", []byte(`
	GPU0	GPU1	GPU2
GPU0	 X 	PIX	SYS
GPU1	PIX	 X 	PIX
GPU2	SYS	PIX	 X 
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, _, err = discover.Infer(d.Hosts[0].Matrix)
	fmt.Println(err)
	// Output:
	// find a PCIe tree: matrix: GPU0-GPU1 is PIX and GPU1-GPU2 is PIX, so that GPU0 and GPU2 share a switch, but GPU0-GPU2 is SYS; no tree has these words
}

func ExampleMatrix_Write() {
	d, err := discover.Read("two.txt", []byte("GPU0 X NV12 0-31 0\nGPU1 NV12 X 0-31 0\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	d.Hosts[0].Matrix.Write(os.Stdout, false)
	// Output:
	// 	GPU0	GPU1	CPU Affinity	NUMA Affinity
	// GPU0	 X 	NV12	0-31	0
	// GPU1	NV12	 X 	0-31	0
	//
	// Legend:
	//
	//   X    = Self
	//   SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)
	//   NODE = Connection traversing PCIe as well as the interconnect between PCIe Host Bridges within a NUMA node
	//   PHB  = Connection traversing PCIe as well as a PCIe Host Bridge (typically the CPU)
	//   PXB  = Connection traversing multiple PCIe bridges (without traversing the PCIe Host Bridge)
	//   PIX  = Connection traversing at most a single PCIe bridge
	//   NV#  = Connection traversing a bonded set of # NVLinks
}
