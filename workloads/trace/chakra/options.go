package chakra

import (
	"fmt"

	"github.com/weft-sim/weft/workloads"
)

// Options says how to read and import. The zero value is a sensible default.
type Options struct {
	// World is the number of ranks; 0 infers it from groups, peers, the JSON
	// form's ngpus and the ranks that have files.
	World int32
	// NoReplicate makes ranks without a file an error. By default they are
	// copies of a rank that has one.
	NoReplicate bool
	// GroupFile is the path of the communicator group file, {"id": [ranks]}.
	// By default it is looked for beside the traces.
	GroupFile string
	// Dims are the sizes of the dimensions of the topology, the fastest first:
	// rank = x0 + Dims[0]*(x1 + Dims[1]*x2 ...). Needed only where an
	// involved_dim leaves a dimension out. Their product is the world.
	Dims []int32
	// BytesPerElement multiplies comm_size and tensor_size, for STAGE traces,
	// which count a byte per element unless made with mixed precision. 0 is 1.
	BytesPerElement int64
	// PreferRoofline leaves the time of an operation that records num_ops or
	// tensor_size to a model, even where its duration is recorded.
	PreferRoofline bool
	// RecordedOnly keeps collectives of PyTorch traces free of the wait for
	// kernels launched before them, which the trace does not record.
	RecordedOnly bool
	// AcceptTruncated imports what is complete of files that end too early, with
	// a warning. By default such a trace is refused: its step would come out too
	// short, and nothing but the warning would show it.
	AcceptTruncated bool
	// GroupDims is the parallel dimension of groups whose trace does not say it,
	// by the id of the group file or the name in reports ("world", "dims 0").
	GroupDims map[string]workloads.Dim
	// MaxBytes bounds the decompressed size of a file, 0 is [DefaultMaxBytes].
	MaxBytes int64
	// Say writes how the user gives an option a value, for hints: "world" and
	// "4" may become "--world 4". Options have their names in a scenario. By
	// default it is "world 4".
	Say func(option, value string) string
}

// say writes an option with its value for a hint.
func (o Options) say(option, value string) string {
	if o.Say != nil {
		return o.Say(option, value)
	}
	return option + " " + value
}

// Validate checks the options.
func (o Options) Validate() error {
	bad := func(read, want string) error { return importError("", read, want, "") }
	switch {
	case o.World < 0:
		return bad(fmt.Sprintf("world %d", o.World), "the number of ranks, at least 1, or 0 to infer it")
	case o.BytesPerElement < 0 || o.BytesPerElement > 64:
		return bad(fmt.Sprintf("%d bytes per element", o.BytesPerElement), "1 to 64, for example 2 for bf16")
	case o.MaxBytes < 0:
		return bad(fmt.Sprintf("a bound of %d bytes", o.MaxBytes), "0 or more")
	}
	product := int64(1)
	for _, d := range o.Dims {
		if d < 1 || product > 1<<31 {
			return bad(fmt.Sprintf("dimensions %v", o.Dims), "sizes of at least 1 whose product is the world")
		}
		product *= int64(d)
	}
	if o.World > 0 && len(o.Dims) > 0 && product != int64(o.World) {
		return bad(fmt.Sprintf("dimensions %v, which are %d ranks", o.Dims, product), fmt.Sprintf("a product of %d, the world", o.World))
	}
	return nil
}
