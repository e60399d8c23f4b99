package chakra

import "fmt"

// Truncated returns the error of a trace that is cut off: file, byte, how much
// is complete, and how to accept that. It is nil when every file is whole.
// [Import] returns it unless [Options.AcceptTruncated] is set.
func (s *Set) Truncated(opt Options) error {
	var first *Error
	more := 0
	for _, t := range s.Traces {
		switch {
		case t.Truncated == nil:
		case first == nil:
			e := *t.Truncated
			first = &e
		default:
			more++
		}
	}
	if first == nil {
		return nil
	}
	switch {
	case more == 1:
		first.Hint += ", and one more file is cut off"
	case more > 1:
		first.Hint += fmt.Sprintf(", and %d more files are cut off", more)
	}
	first.Hint += "; the step of what is left would be too short; copy the file again, or give " + opt.say("truncated", "accept")
	return first
}
