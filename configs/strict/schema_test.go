package strict_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-sim/weft/configs/strict"
)

func TestPathsStopAtWhatUsersName(t *testing.T) {
	assert.Equal(t, []string{"name", "mode", "wait", "on", "ratio", "work", "work.flops", "groups", "dims", "env",
		"shape.kind", "shape.radius", "shape.side", "pair.low", "pair.high", "raw"}, strict.Paths(&doc{}))
}

func TestOpenPaths(t *testing.T) {
	assert.Equal(t, []string{"groups", "env"}, strict.OpenPaths(&doc{}))
}

func TestSchemaSaysWhatDecodeDoes(t *testing.T) {
	b, err := json.Marshal(strict.Schema(&doc{}, "doc"))
	require.NoError(t, err)
	s := string(b)
	for _, want := range []string{
		`"required":["name"]`,
		`"mode":{"enum":["ring","direct"]}`,
		`"ratio":{"maximum":1,"minimum":0,"type":"number"}`,
		`"kind":{"const":"circle"}`,
		`"additionalProperties":false`,
	} {
		assert.Contains(t, s, want)
	}
}

// loop holds itself, as operations that repeat do.
type loop struct {
	Inner []loop `yaml:"inner"`
}

func TestSchemaOfATypeInItself(t *testing.T) {
	b, err := json.Marshal(strict.Schema(&loop{}, "loop"))
	require.NoError(t, err)
	assert.Contains(t, string(b), `"items":{"$ref":"#/$defs/strict_test.loop"}`)
}
