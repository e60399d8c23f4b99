package measured

import (
	"fmt"

	"github.com/weft-sim/weft/configs"
	"github.com/weft-sim/weft/configs/strict"
)

// library returns the name of the library of a case, "" if it names none.
func (c *Case) library() string { return c.collectives("library") }

// Launch returns how the host started the kernels, "" if the case does not say.
func (c *Case) Launch() string { return c.collectives("launch") }

// collectives returns a setting of the collectives, "" if it is not there.
func (c *Case) collectives(key string) string {
	if n := c.Settings.Collectives.Child(key); n != nil {
		return n.Text
	}
	return ""
}

// unmodelled is an [*Unsimulated] where a scenario cannot have the library of
// the case, or what it asks of it; else nil.
func (c *Case) unmodelled() error {
	if c.Settings.Collectives == nil {
		return nil
	}
	var s configs.Collectives
	if strict.Decode(c.Settings.Collectives, &s) != nil {
		return &Unsimulated{fmt.Sprintf("library %s is not simulated", c.library())}
	}
	return nil
}
