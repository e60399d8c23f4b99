package topology

// Parts deals a whole into integer parts by weight: part i is Deal of the
// weights up to it, less that of those before. The parts add up to the whole
// whatever it is, each is within one of its due, and they are exact where the
// whole is a multiple of the weights' sum.
type Parts struct {
	Whole, Sum int32
	seen       int32
}

// Next returns the part of the next weight.
func (p *Parts) Next(weight int32) int32 {
	before := int64(p.Whole) * int64(p.seen) / int64(p.Sum)
	p.seen += weight
	return int32(int64(p.Whole)*int64(p.seen)/int64(p.Sum) - before)
}

// CoarseParts is into how many parts a path is split where exact parts would
// have too many different denominators: a multiple of 1 to 10, 12, 14, 15,
// 16 and 18, so that few paths are rounded, and those by less than 1/5,040 of
// the whole.
const CoarseParts = 5040
