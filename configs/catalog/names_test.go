package catalog

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite golden files; read the diff before you commit it")

// The names are an interface: scenarios and commands hold them.
func TestNames(t *testing.T) {
	c := load(t)
	var b strings.Builder
	for _, key := range families[1:] { // sources are not named by users
		b.WriteString(key + "\n")
		for _, name := range c.family(key).list() {
			assert.Equal(t, strings.ToLower(name), name)
			b.WriteString("  " + name + "\n")
		}
	}
	const path = "testdata/names.txt"
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), b.String(), "go test ./configs/catalog -update rewrites %s", path)
}

// The names that were agreed on before there was a catalogue.
func TestNamesAgreedOn(t *testing.T) {
	have := load(t).Systems()
	for name := range strings.FieldsSeq(`
		dgx-1-p100 dgx-1-v100 dgx-2 dgx-a100 hgx-a100-4 dgx-h100 dgx-h200 hgx-h100-4 dgx-b200 dgx-b300 gb200-nvl72
		gb200-nvl36x2 gb300-nvl72 vera-rubin-nvl72 gh200-4 gh200-nvl32 dgx-h100-nvlink256 dgx-gb10
		aws-p4d aws-p4de aws-p5 aws-p5en aws-p6-b200 azure-nd-a100-v4 azure-nd-h100-v5 azure-nd-h200-v5
		gcp-a3-high gcp-a3-mega gcp-a3-ultra oci-h100
		pcie-a100-8 pcie-a100-nvbridge-8 pcie-h100-nvl-8 pcie-h200-nvl-8 pcie-l40s-8 pcie-l40s-8-nop2p
		pcie-rtx4090-8 pcie-rtx5090-8 pcie-rtxpro6000-8 pcie-a40-8 pcie-v100-4
		sys-421ge-tnrt3 as-8125gs-tnhr`) {
		assert.Contains(t, have, name)
	}
}
