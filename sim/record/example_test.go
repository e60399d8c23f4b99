package record_test

import (
	"fmt"
	"os"

	"github.com/weft-sim/weft/sim"
	"github.com/weft-sim/weft/sim/record"
)

func Example() {
	r := record.New()
	stream := r.Track("rank 0", "compute")
	gemm, kind := r.Intern("gemm"), r.Intern("compute")
	r.Span(stream, gemm, kind, 0, 1500*sim.Nanosecond)

	link := r.Counter("links", "gpu0 to switch0, GB/s")
	r.Count(link, 1500*sim.Nanosecond, 450)

	if err := r.WriteSpans(os.Stdout); err != nil {
		fmt.Println(err)
	}
	if err := r.WriteTrace(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// group,track,name,category,start_ps,end_ps
	// rank 0,compute,gemm,compute,0,1500000
	// {"displayTimeUnit":"ns","traceEvents":[
	// {"ph":"M","pid":1,"name":"process_name","args":{"name":"rank 0"}},
	// {"ph":"M","pid":1,"name":"process_sort_index","args":{"sort_index":1}},
	// {"ph":"M","pid":2,"name":"process_name","args":{"name":"links"}},
	// {"ph":"M","pid":2,"name":"process_sort_index","args":{"sort_index":2}},
	// {"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"compute"}},
	// {"ph":"M","pid":1,"tid":1,"name":"thread_sort_index","args":{"sort_index":1}},
	// {"ph":"X","pid":1,"tid":1,"ts":0,"dur":1.5,"name":"gemm","cat":"compute"},
	// {"ph":"C","pid":2,"ts":1.5,"name":"gpu0 to switch0, GB/s","args":{"value":450}}
	// ]}
}
