package sim_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weft-sim/weft/sim"
)

func TestParseTime(t *testing.T) {
	for text, want := range map[string]sim.Time{
		"936.25ns":                  936_250,
		"3us":                       3 * sim.Microsecond,
		"3 us":                      3 * sim.Microsecond,
		"3µs":                       3 * sim.Microsecond,
		"3\u03bcs":                  3 * sim.Microsecond,
		"1_000ps":                   1000,
		"0s":                        0,
		"0.000e99s":                 0,
		"1.5e3 ms":                  1500 * sim.Millisecond,
		"1E-3s":                     sim.Millisecond,
		"2e+2ns":                    200_000,
		"2min":                      120 * sim.Second,
		"0.5h":                      1800 * sim.Second,
		"0.1s":                      100_000_000_000, // not exact in binary
		"0.4ps":                     0,
		"0.5ps":                     1,
		"1.2346ns":                  1235,
		"1e-999999999s":             0,
		"9223372.036854775807s":     sim.MaxTime,
		"9223372036854775807ps":     sim.MaxTime,
		"9223372036854775807.4ps":   sim.MaxTime,
		"0.000000000000000000001h":  0,
		"0.0000000000000001388889h": 1, // half a picosecond and a little
	} {
		got, err := sim.ParseTime(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
}

func TestParseBytes(t *testing.T) {
	for text, want := range map[string]sim.Bytes{
		"0B": 0, "1B": 1, "1 KB": 1000, "1KiB": 1024, "1.5KiB": 1536, "1MiB": 1 << 20, "100MB": 100e6,
		"2.5GB": 2.5e9, "0.001KB": 1, "1GiB": 1 << 30, "1TB": 1e12, "2TiB": 2 << 40, "1e3B": 1000,
		"9223372036854775807B": math.MaxInt64, "16_384B": 16384,
	} {
		got, err := sim.ParseBytes(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
}

func TestParseRates(t *testing.T) {
	for text, want := range map[string]sim.Rate{
		"450GB/s": 450e9, "450 GB/s": 450e9, "0B/s": 0, "1KB/s": 1e3, "12.5MB/s": 12.5e6, "3.35TB/s": 3.35e12,
		"1KiB/s": 1024, "1GiB/s": 1 << 30, "1TiB/s": 1 << 40, "2MiB/s": 2 << 20,
		"400Gb/s": 50e9, "400Gbit/s": 50e9, "400Gbps": 50e9, "100Mb/s": 12.5e6, "1.6Tbps": 200e9, "8b/s": 1, "8bps": 1, "8Kbit/s": 1000,
		"0.3GB/s": 0.3e9, // the nearest float64, not 0.3 * 1e9
	} {
		got, err := sim.ParseRate(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for text, want := range map[string]sim.FlopRate{
		"989.4TFLOP/s": 989.4e12, "19.5 TFLOP/s": 19.5e12, "1PFLOP/s": 1e15, "60GFLOP/s": 60e9, "1.1EFLOP/s": 1.1e18, "5EFLOP/s": 5e18,
		"3MFLOP/s": 3e6, "7FLOP/s": 7,
	} {
		got, err := sim.ParseFlopRate(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
}

// What is refused says what was read, what was expected, and a nearby value,
// which is itself accepted.
func TestUnitErrors(t *testing.T) {
	as := map[string]func(string) error{
		"time":  func(s string) error { _, err := sim.ParseTime(s); return err },
		"bytes": func(s string) error { _, err := sim.ParseBytes(s); return err },
		"rate":  func(s string) error { _, err := sim.ParseRate(s); return err },
		"flops": func(s string) error { _, err := sim.ParseFlopRate(s); return err },
	}
	const (
		timeEnd  = ` (a time in ps, ns, us, ms, s, min or h)`
		bytesEnd = ` (bytes in B, KB, MB, GB, TB or KiB, MiB, GiB, TiB)`
		rateEnd  = ` (bytes per second, per direction)`
		flopsEnd = ` (dense floating-point operations per second)`
	)
	for _, c := range []struct{ kind, text, want string }{
		{"rate", "450", `"450" has no unit: write "450GB/s"` + rateEnd},
		{"rate", "0", `"0" has no unit: write "0GB/s"` + rateEnd},
		{"rate", "450gb/s", `"450gb/s" has the unknown unit "gb/s": did you mean "450GB/s"?` + rateEnd},
		{"rate", "450GBps", `"450GBps" has the unknown unit "GBps": did you mean "450GB/s"?` + rateEnd},
		{"rate", "400gbps", `"400gbps" has the unknown unit "gbps": did you mean "400Gbps"?` + rateEnd},
		{"rate", "450 GB", `"450 GB" has the unknown unit "GB": did you mean "450GB/s"?` + rateEnd},
		{"rate", "450  GB/s", `"450  GB/s" has the unknown unit "GB/s": did you mean "450GB/s"?` + rateEnd},
		{"rate", "32GT/s", `"32GT/s" has the unknown unit "GT/s": for example "450GB/s"` + rateEnd},
		{"rate", "-450GB/s", `"-450GB/s" is negative: write "450GB/s"` + rateEnd},
		{"rate", "-x", `"-x" is negative: for example "450GB/s"` + rateEnd},
		{"rate", "NaN", `"NaN" does not begin with a number: for example "450GB/s"` + rateEnd},
		{"rate", "InfGB/s", `"InfGB/s" does not begin with a number: for example "450GB/s"` + rateEnd},
		{"rate", "1e400GB/s", `"1e400GB/s" is too large: for example "450GB/s"` + rateEnd},
		{"rate", "", `"" is empty: for example "450GB/s"` + rateEnd},
		{"rate", " 450GB/s", `" 450GB/s" has spaces around it: write "450GB/s"` + rateEnd},
		{"time", "500", `"500" has no unit: write "500us"` + timeEnd},
		{"time", "5 seconds", `"5 seconds" has the unknown unit "seconds": did you mean "5s"?` + timeEnd},
		{"time", "5 microseconds", `"5 microseconds" has the unknown unit "microseconds": did you mean "5us"?` + timeEnd},
		{"time", "5sec", `"5sec" has the unknown unit "sec": did you mean "5s"?` + timeEnd},
		{"time", "5US", `"5US" has the unknown unit "US": did you mean "5us"?` + timeEnd},
		{"time", "5hrs", `"5hrs" has the unknown unit "hrs": did you mean "5h"?` + timeEnd},
		{"time", "107 days", `"107 days" has the unknown unit "days": for example "1.5us"` + timeEnd},
		{"time", "1e7s", `"1e7s" is too large: write "9223372.036854775807s"` + timeEnd},
		{"time", "1e999999999s", `"1e999999999s" is too large: write "9223372.036854775807s"` + timeEnd},
		{"time", "1e99 seconds", `"1e99 seconds" has the unknown unit "seconds": for example "1.5us"` + timeEnd},
		{"time", "1,5us", `"1,5us" has a comma in the number; a point begins the fraction, and _ may part thousands: for example "1.5us"` + timeEnd},
		{"time", "1__0us", `"1__0us" has a _ that is not between two digits: for example "1.5us"` + timeEnd},
		{"time", ".5us", `".5us" does not begin with a number: for example "1.5us"` + timeEnd},
		{"time", "1.us", `"1.us" has the unknown unit ".us": for example "1.5us"` + timeEnd},
		{"time", "1e5", `"1e5" has no unit: write "1e5us"` + timeEnd},
		{"time", strings.Repeat("1", 101) + "s", `"` + strings.Repeat("1", 100) + `..." is too long: for example "1.5us"` + timeEnd},
		{"bytes", "1048576", `"1048576" has no unit: write "1048576B"` + bytesEnd},
		{"bytes", "128M", `"128M" has the unknown unit "M": did you mean "128MiB"?` + bytesEnd},
		{"bytes", "1mib", `"1mib" has the unknown unit "mib": did you mean "1MiB"?` + bytesEnd},
		{"bytes", "1Mb", `"1Mb" is in bits: write "125KB"` + bytesEnd},
		{"bytes", "2.5 Gbits", `"2.5 Gbits" is in bits: write "312500KB"` + bytesEnd},
		{"bytes", "8bit", `"8bit" is in bits: write "1B"` + bytesEnd},
		{"bytes", "1b", `"1b" is in bits: for example "1MiB"` + bytesEnd},
		{"bytes", "1mb", `"1mb" has the unknown unit "mb": did you mean "1MB"?` + bytesEnd},
		{"bytes", "10 bytes", `"10 bytes" has the unknown unit "bytes": did you mean "10B"?` + bytesEnd},
		{"bytes", "1.5B", `"1.5B" is not a whole number of bytes: write "2B"` + bytesEnd},
		{"bytes", "1e-99B", `"1e-99B" is not a whole number of bytes: write "1B"` + bytesEnd},
		{"bytes", "1e7TB", `"1e7TB" is too large: write "9223372036854775807B"` + bytesEnd},
		{"bytes", "9223372036854775807.5B", `"9223372036854775807.5B" is too large: write "9223372036854775807B"` + bytesEnd},
		{"flops", "989", `"989" has no unit: write "989TFLOP/s"` + flopsEnd},
		{"flops", "989TFLOPS", `"989TFLOPS" has the unknown unit "TFLOPS": did you mean "989TFLOP/s"?` + flopsEnd},
		{"flops", "989 tflops/s", `"989 tflops/s" has the unknown unit "tflops/s": did you mean "989TFLOP/s"?` + flopsEnd},
	} {
		err := as[c.kind](c.text)
		require.EqualError(t, err, c.want)
		var e *sim.UnitError
		require.ErrorAs(t, err, &e)
		assert.NoError(t, as[c.kind](e.Try), "the value that %s proposes", c.want)
	}
}

func TestQuantityStrings(t *testing.T) {
	for want, got := range map[string]interface{ String() string }{
		"0s": sim.Time(0), "1.5us": 1500 * sim.Nanosecond, "936.25ns": sim.Time(936_250), "7ps": sim.Time(7), "-1ms": -sim.Millisecond,
		"0B": sim.Bytes(0), "1MiB": sim.MiB, "100MB": 100 * sim.MB, "12345B": sim.Bytes(12345), "1000KiB": 1000 * sim.KiB,
		"1536KiB": sim.MiB + 512*sim.KiB, "-1GB": -sim.GB,
		"450GB/s": 450 * sim.GBps, "3.35TB/s": 3350 * sim.GBps, "0B/s": sim.Rate(0), "0.125B/s": sim.Rate(0.125), "999B/s": sim.Rate(999),
		"1KB/s": sim.Rate(1000), "1e22TB/s": sim.Rate(1e34), "-2GB/s": -2 * sim.GBps,
		"300.0000000000001TB/s": sim.Rate(300000000000000.1), // dividing by 1e12 would round
		"989.4TFLOP/s":          989.4 * sim.TFLOPS, "2250TFLOP/s": 2250 * sim.TFLOPS, "500FLOP/s": sim.FlopRate(500), "5000FLOP/s": sim.FlopRate(5000),
	} {
		assert.Equal(t, want, got.String())
	}
}

// What is printed reads back as the same value, also through JSON.
func TestQuantitiesRoundTrip(t *testing.T) {
	type all struct {
		Time  sim.Time
		Bytes sim.Bytes
		Rate  sim.Rate
		Flops sim.FlopRate
	}
	rapid.Check(t, func(t *rapid.T) {
		whole := func(name string) int64 {
			v := rapid.Int64Range(0, math.MaxInt64).Draw(t, name)
			unit := rapid.SampledFrom([]int64{1, 1000, 1 << 20, 1e9, 1 << 40}).Draw(t, name+" unit")
			return v / unit * unit
		}
		real := rapid.OneOf(rapid.Float64Range(0, math.MaxFloat64), rapid.Float64Range(1, 1e15),
			rapid.Map(rapid.Uint32(), func(n uint32) float64 { return float64(n) * 1e6 }))
		in := all{sim.Time(whole("time")), sim.Bytes(whole("bytes")), sim.Rate(real.Draw(t, "rate")), sim.FlopRate(real.Draw(t, "flops"))}
		text, err := json.Marshal(in)
		require.NoError(t, err)
		var out all
		require.NoError(t, json.Unmarshal(text, &out), string(text))
		require.Equal(t, in, out, string(text))
	})
}

func TestUnmarshalKeepsTheOldValueOnError(t *testing.T) {
	b := sim.MiB
	require.Error(t, b.UnmarshalText([]byte("12")))
	assert.Equal(t, sim.MiB, b)
}

func TestTransferTime(t *testing.T) {
	for _, c := range []struct {
		bytes sim.Bytes
		rate  sim.Rate
		want  sim.Time
	}{
		{0, sim.GBps, 0},
		{1, 0, sim.MaxTime},
		{1, 1e-300, sim.MaxTime},
		{1, 1e15, 1},                        // 0.001 ps, but not nothing
		{450 * sim.MB, 450e9, 1e9},          // 1 ms
		{sim.GB, 300e9, 3_333_333_334},      // rounded up
		{3 * sim.GB, 300e9, 10_000_000_000}, // 10 ms, exactly
		{sim.MiB, sim.Rate(sim.MiB), 1e12},
	} {
		assert.Equal(t, c.want, sim.TransferTime(c.bytes, c.rate), "%v at %v", c.bytes, c.rate)
	}
}
