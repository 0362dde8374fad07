package record_test

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/sfwalk/sfwalk/arch/arm64"
	_ "github.com/sfwalk/sfwalk/arch/s390x"
	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/format/perfdata"
	"github.com/sfwalk/sfwalk/format/perfevent"
)

// foreign is a file of another processor, one of them big-endian, that perf has recorded there.
type foreign struct {
	machine string
	order   binary.ByteOrder
	data    []byte
	script  map[sampleAt][]string // what perf script has printed there
}

// eachForeign calls test with each file, when perf's cache has its program.
func eachForeign(t *testing.T, test func(t *testing.T, f *foreign)) {
	for machine, order := range map[string]binary.ByteOrder{"arm64": binary.LittleEndian, "s390x": binary.BigEndian} {
		t.Run(machine, func(t *testing.T) {
			dir := filepath.Join("testdata", "perf", machine)
			t.Setenv("HOME", t.TempDir())
			cache(t, filepath.Join(dir, "deep"))
			data, err := os.ReadFile(filepath.Join(dir, "perf.data"))
			if err != nil {
				t.Fatal(err)
			}
			script, err := os.ReadFile(filepath.Join(dir, "script.txt"))
			if err != nil {
				t.Fatal(err)
			}
			test(t, &foreign{machine, order, data, readScript(t, script)})
		})
	}
}

// cache puts a program into perf's cache below $HOME.
func cache(t *testing.T, program string) {
	t.Helper()
	im, file, err := elf.OpenFile(program)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	code, err := os.ReadFile(program)
	cached := filepath.Join(os.Getenv("HOME"), ".debug", ".build-id", im.BuildID[:2], im.BuildID[2:], "elf")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(cached), 0o777)
	}
	if err == nil {
		err = os.WriteFile(cached, code, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// check checks that each sample has the stack that perf script has printed. The program computes
// eleven calls deep.
func (f *foreign) check(t *testing.T, data []byte, unread uint64) {
	t.Helper()
	r, err := perfdata.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	ours, ends, file := walked(t, r, false)
	for at, b := range f.script {
		if a := ours[at]; !slices.Equal(a, b) || !ends[at].Whole() || len(a) != 13 {
			t.Errorf("%v: %v\n%s\nperf:\n%s", at, ends[at], strings.Join(a, "\n"), strings.Join(b, "\n"))
		}
	}
	if stats := file.Profile().Stats; len(ours) != len(f.script) || len(ours) < 20 || stats.Unread != unread {
		t.Errorf("%d samples, perf has %d: %+v", len(ours), len(f.script), stats)
	}
}

// Each sample has the stack that perf script has printed there.
func TestFileForeign(t *testing.T) {
	eachForeign(t, func(t *testing.T, f *foreign) { f.check(t, f.data, 0) })
}

// records returns where the records of a file are.
func (f *foreign) records() (from, to uint64) {
	from = f.order.Uint64(f.data[40:])
	return from, from + f.order.Uint64(f.data[48:])
}

// The same recording by a kernel whose records of mappings have no protection, as before Linux
// 3.16, has the same stacks.
func TestFileOldMappings(t *testing.T) {
	eachForeign(t, func(t *testing.T, f *foreign) {
		data, n := bytes.Clone(f.data), 0
		at, end := f.records()
		for ; at < end; at += uint64(f.order.Uint16(data[at+6:])) {
			if f.order.Uint32(data[at:]) != perfevent.RecordMmap2 {
				continue
			}
			path := data[at+72:]
			path = path[:(bytes.IndexByte(path, 0)+8)&^7]
			copy(data[at+64:], path)
			clear(data[at+64+uint64(len(path)) : at+72+uint64(len(path))])
			n++
		}
		if f.check(t, data, 0); n == 0 {
			t.Error("there are no such records")
		}
	})
}

// Records that do not parse cost themselves alone, and are counted.
func TestFileBrokenRecords(t *testing.T) {
	eachForeign(t, func(t *testing.T, f *foreign) {
		var broken []byte
		kinds := []uint32{perfevent.RecordMmap, perfevent.RecordMmap2, perfevent.RecordComm, perfevent.RecordFork, perfevent.RecordExit, perfevent.RecordLost, perfevent.RecordKsymbol,
			perfevent.RecordSwitch, perfevent.RecordSample, 67, 80, 81, 83} // build ID, feature, compressed records
		for _, kind := range kinds {
			var b [16]byte
			f.order.PutUint32(b[:], kind)
			f.order.PutUint16(b[4:], perfevent.MiscUser)
			f.order.PutUint16(b[6:], uint16(len(b)))
			f.order.PutUint64(b[8:], 3) // of a feature: the name of the machine
			broken = append(broken, b[:]...)
		}
		from, to := f.records()
		data := slices.Concat(f.data[:from], broken, f.data[from:])
		more := uint64(len(broken))
		add := func(at uint64) { f.order.PutUint64(data[at:], f.order.Uint64(data[at:])+more) }
		add(48)
		features := 0
		for i := range uint64(4) {
			features += bits.OnesCount64(f.order.Uint64(data[72+8*i:]))
		}
		for i := range uint64(features) {
			add(to + more + 16*i)
		}
		f.check(t, data, uint64(len(kinds)))
	})
}
