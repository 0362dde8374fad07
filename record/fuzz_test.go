package record_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/perfdata"
	"github.com/sfwalk/sfwalk/format/perfevent"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/record"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/symbol"
)

// FuzzReadFile reads any bytes as a file of perf's, walks the samples, and makes a profile of them.
// The program that was recorded is at hand under any path.
func FuzzReadFile(f *testing.F) {
	programs := f.TempDir()
	for _, machine := range []string{"arm64", "s390x"} {
		dir := filepath.Join("testdata", "perf", machine)
		data, err := os.ReadFile(filepath.Join(dir, "perf.data"))
		if err != nil {
			f.Fatal(err)
		}
		program, err := os.ReadFile(filepath.Join(dir, "deep"))
		if err != nil {
			f.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(programs, machine), program, 0o666); err != nil {
			f.Fatal(err)
		}
		seed := firstSamples(f, data, 2)
		// The names of files are of any length up to eight bytes' multiple: this one keeps it.
		if i := bytes.Index(seed, []byte("/tmp/Test")); i >= 0 {
			end := i + bytes.IndexByte(seed[i:], 0)
			clear(seed[i:end])
			copy(seed[i:end], "/"+machine)
		}
		if _, stats := profileOf(f, seed, programs); stats.Whole != 2 {
			f.Errorf("%s: %+v", machine, stats)
		}
		f.Add(seed)
		// The event, whose flags are C's bit fields, has neither a frequency nor a period.
		never := bytes.Clone(seed)
		clear(never[104+16 : 104+24])
		never[104+40+1] &^= map[bool]byte{true: 1 << 2, false: 1 << 5}[machine == "arm64"]
		if _, stats := profileOf(f, never, programs); stats.Whole != 2 {
			f.Errorf("%s: %+v", machine, stats)
		}
		f.Add(never)
	}
	later, err := os.ReadFile(filepath.Join("testdata", "perf", "deferred", "perf.data"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(firstSamples(f, later, 8)) // frames of the program come later
	record.Tighten(f, 1<<10)
	f.Fuzz(func(t *testing.T, data []byte) {
		bounds.Hold(t, 16<<20+256*len(data), func() { profileOf(t, data, programs) })
	})
}

// firstSamples returns the beginning of a file, with so many samples: a file whose writer was
// killed.
func firstSamples(t testing.TB, data []byte, samples int) []byte {
	t.Helper()
	order := binary.ByteOrder(binary.LittleEndian)
	if data[0] == '2' {
		order = binary.BigEndian
	}
	at := order.Uint64(data[40:]) // of the records
	for ; samples > 0; at += uint64(order.Uint16(data[at+6:])) {
		if order.Uint32(data[at:]) == perfevent.RecordSample {
			samples--
		}
	}
	return bytes.Clone(data[:at])
}

// profileOf returns how many stacks a file has, and how they end.
func profileOf(t testing.TB, data []byte, programs string) (samples int, stats record.Stats) {
	r, err := perfdata.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return 0, stats
	}
	file, _ := record.ReadFile(r, record.FileOptions{
		Places: record.Places{Sysroot: programs},
		Own:    func(perfdata.Info) bool { return false },
		Table:  func(_ int, a *arch.Arch) *frame.Table { return sniffer.Table(a) },
	})
	defer file.Close()
	names := symbol.New(symbol.Options{})
	defer names.Close()
	p := file.Profile()
	s := p.Picture(names)
	if uint64(len(s.Samples)) > p.Stats.Samples {
		t.Errorf("%d stacks of %d samples", len(s.Samples), p.Stats.Samples)
	}
	return len(s.Samples), p.Stats
}
