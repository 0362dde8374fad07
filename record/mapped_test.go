package record

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/format/perfdata"
	"github.com/sfwalk/sfwalk/format/perfevent"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/sniffer"
)

// fileEngine is an engine that reads a file whose samples have single instructions.
func fileEngine(t *testing.T) *engine {
	t.Helper()
	h := newRecorded(&perfdata.Reader{}, Places{}, func(string, ...any) {})
	format := &perfevent.Format{SampleType: perfevent.SampleIP | perfevent.SampleTID, Order: binary.LittleEndian}
	e := newEngine(h, format, Options{Arch: amd64.Arch,
		Table: func(_ int, a *arch.Arch) *frame.Table { return sniffer.Table(a) }})
	e.file = h
	return e
}

// forked is the record that a process has begun.
func forked(pid, parent uint32) perfevent.Record {
	var b []byte
	for _, w := range []uint32{pid, parent, pid, parent, 0, 0} {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return perfevent.Record{Type: perfevent.RecordFork, Body: b}
}

// sampleAt has a sample taken of a process.
func (e *engine) sampleAt(pid int32, addr uint64) {
	e.take(&perfevent.Sample{IP: addr, Misc: perfevent.MiscUser, ID: perfevent.ID{PID: pid, TID: pid}})
}

// Processes that are copies of each other share what they have mapped until they map more. What all
// have mapped is counted, and given back when they end; what takes more than there is room for is
// left out.
func TestForks(t *testing.T) {
	e := fileEngine(t)
	warned := ""
	e.opts.Warn = func(format string, args ...any) { warned = fmt.Sprintf(format, args...) }
	const maps, children = 1000, 1000
	for i := range uint64(maps) {
		e.mapped(&perfevent.Mmap{PID: 7, Addr: 0x1000000 + i*0x2000, Size: 0x1000, Path: "/no/such"})
	}
	e.sampleAt(7, 0x1000000)
	bounds.Hold(t, 16<<20, func() {
		for i := range uint32(children) {
			if err := e.read(forked(100+i, 7)); err != nil {
				t.Fatal(err)
			}
		}
	})
	if e.mappings != maps {
		t.Errorf("%d mappings when %d processes share %d", e.mappings, children, maps)
	}
	child := e.spaces[100]
	e.mapped(&perfevent.Mmap{PID: 100, Addr: 0x800000, Size: 0x1000, Path: "/no/such"})
	if got := len(e.spaces[7].maps); len(child.maps) != maps+1 || got != maps || e.mappings != 2*maps+1 {
		t.Errorf("%d mappings of the child, %d of its parent, %d in all", len(child.maps), got, e.mappings)
	}
	for i := range int32(children) {
		e.mapped(&perfevent.Mmap{PID: 100 + i, Addr: 0x800000, Size: 0x1000, Path: "/no/such"})
		e.sampleAt(100+i, 0x1000000)
	}
	if e.mappings > maxRecorded || !strings.Contains(warned, "mappings of all processes together") {
		t.Errorf("%d mappings: %s", e.mappings, warned)
	}
	if e.inModules > maxListed {
		t.Errorf("modules have %d mappings", e.inModules)
	}
	for pid := range e.spaces {
		e.forget(pid)
	}
	if e.mappings != 0 || e.inModules != 0 || len(e.walking) != 0 {
		t.Errorf("%d mappings of no process, modules have %d, %d walkers", e.mappings, e.inModules, len(e.walking))
	}
}

// A sample keeps the place where it was, and not all that its process had mapped at that time.
func TestPlacesAlone(t *testing.T) {
	e := fileEngine(t)
	for i := range uint64(5000) {
		e.mapped(&perfevent.Mmap{PID: 7, Addr: 0x1000000 + i*0x1000, Size: 0x1000, Offset: i * 0x1000, Path: "/no/such"})
	}
	live := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := live()
	for i := range uint64(200) {
		e.mapped(&perfevent.Mmap{PID: 7, Addr: 0x9000000 + i*0x1000, Size: 0x1000, Offset: 0x9000000 + i*0x1000, Path: "/no/such"})
		e.sampleAt(7, 0x1000000+i*0x1000+8)
	}
	if grown := int64(live() - before); grown > 8<<20 {
		t.Errorf("%d bytes are kept of 200 samples", grown)
	}
	p := e.tree.places[3]
	if m := p.module; m.Path != "/no/such" || m.Lo() != 0x1003000 || m.Mappings[0].Offset != 0x3000 || p.addr != 0x1003008 {
		t.Errorf("%+v of %+v", p, m)
	}
}

// Paths, of which there may be as many as mappings, have a bound of their own.
func TestManyPaths(t *testing.T) {
	e := fileEngine(t)
	long := strings.Repeat("x", 4000)
	for i := range uint64(maxPathBytes / 4000 * 2) {
		e.mapped(&perfevent.Mmap{PID: 7, Addr: 0x1000000 + i*0x1000, Size: 0x1000, Path: fmt.Sprintf("/%d%s", i, long)})
	}
	for i := range uint64(1000) { // mappings that are known need no more room
		e.mapped(&perfevent.Mmap{PID: 8, Addr: 0x1000000 + i*0x1000, Size: 0x1000, Path: "/0" + long})
	}
	if e.pathBytes > maxPathBytes || len(e.early[7].maps) < maxPathBytes/4000*3/4 || len(e.early[8].maps) != 1000 {
		t.Errorf("%d bytes, %d and %d mappings", e.pathBytes, len(e.early[7].maps), len(e.early[8].maps))
	}
}

// On this machine, a process can be asked again for what it has mapped.
func TestMappingsAskedAgain(t *testing.T) {
	e := bareEngine()
	for pid := range int32(20) {
		s := e.newSpace(pid+1, e.opts.Arch, nil)
		s.ask, s.stale = false, false
		for i := range uint64(maxRecorded / 10) {
			e.mapped(&perfevent.Mmap{PID: pid + 1, Addr: i * 0x1000, Size: 0x1000, Path: "/no/such"})
		}
		s.turn = uint64(pid) + 1
	}
	if e.mappings > maxRecorded+2 {
		t.Errorf("%d mappings", e.mappings)
	}
	first, last := e.spaces[1], e.spaces[20]
	if !first.ask || !first.stale || len(first.maps) != 0 || last.ask || len(last.maps) != maxRecorded/10 {
		t.Errorf("the first has %d mappings, ask %v; the last %d, %v", len(first.maps), first.ask, len(last.maps), last.ask)
	}
}

// Many functions that the kernel has compiled at one place cost an address no more than one.
func TestCompiledTogether(t *testing.T) {
	said := 0
	k := kernelMaps{warn: func(string, ...any) { said++ }}
	for i := range uint64(maxKernelMaps) {
		k.compiled(&perfevent.Ksymbol{Addr: 0x1000 + i, Size: 1 << 16, Name: fmt.Sprint("f", i)})
	}
	if said != 0 {
		t.Error("names are said to be left out")
	}
	k.compiled(&perfevent.Ksymbol{Addr: 1, Size: 1 << 30, Name: "late"})
	if said != 1 {
		t.Errorf("%d warnings of a function that has no room", said)
	}
	var addrs []uint64
	for i := range uint64(1 << 17) {
		addrs = append(addrs, 0x1000+i%maxKernelMaps+i)
	}
	var names map[uint64]string
	bounds.Hold(t, 64<<20, func() { names = k.jitAt(addrs) })
	if names[0x1000] != "f0" || names[0x11000] != "f1" || names[0xfff] != "" {
		t.Errorf("%q, %q, %q", names[0x1000], names[0x11000], names[0xfff])
	}
	long := strings.Repeat("x", 4000)
	for i := range uint64(maxKernelMaps) {
		k.mapped(&perfevent.Mmap{Addr: 0x1000 + i, Size: 1, Path: long})
	}
	if n := len(k.list); n < 1000 || n > maxKernelNames/4000 {
		t.Errorf("%d names of 4000 bytes", n)
	}
	k = kernelMaps{warn: k.warn}
	for i := range uint64(maxKernelMaps) {
		k.mapped(&perfevent.Mmap{Addr: 0x1000 + i, Size: 1, Path: long})
	}
	if said != 2 {
		t.Errorf("%d warnings of two recordings with too many names", said)
	}
	k.mapped(&perfevent.Mmap{Addr: 1, Size: 1, Path: kernelName + "_text", Offset: 7})
	if k.symbol != "_text" || k.at != 7 {
		t.Error("the kernel itself is not known beside many modules")
	}
}
