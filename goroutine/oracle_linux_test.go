package goroutine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
)

// parked is a goroutine as a thread.
type parked struct {
	g    *Goroutine
	arch *arch.Arch
}

func (p parked) ID() int      { return 0 }
func (p parked) Name() string { return "" }
func (p parked) Registers(r *arch.Registers) error {
	p.g.Registers(p.arch, r)
	return nil
}

// observed is a goroutine as the package and the unwinder describe it.
type observed struct {
	Goroutine
	start   string   // the function that it began with
	created []string // the calls at the go statement, inlined ones first
	m       uint64   // its struct m, by DWARF
	procid  uint64   // the thread of m, by DWARF
	frames  []line
	why     string // why there are no more frames
}

// own reports whether the goroutine is one of the runtime's. These may move at any time.
func (o *observed) own() bool { return strings.HasPrefix(o.start, "runtime.") && o.Number != 1 }

// observe lists a target's goroutines, and unwinds the parked ones. d comes from DWARF.
func observe(t *testing.T, tg target.Target, d dwarfOffsets) (list []observed) {
	t.Helper()
	r, err := Find(tg)
	if err != nil {
		t.Fatal(err)
	}
	all, err := r.All()
	if err != nil {
		t.Errorf("goroutines: %v", err)
	}
	symbols := symbol.New(symbol.Options{})
	defer symbols.Close()
	table := sniffer.Table(tg.Arch())
	locate := func(addr uint64) (names []string) {
		for _, x := range symbols.Locate(tg.Modules(), addr) {
			names = append(names, plainName(x.Function))
		}
		return names
	}
	word := func(addr uint64) uint64 {
		var data [8]byte
		if n, err := tg.Memory().ReadMemory(addr, data[:]); n < len(data) {
			t.Fatal(err)
		}
		return tg.Arch().Order.Uint64(data[:])
	}
	for _, g := range all {
		o := observed{Goroutine: g}
		if names := locate(g.Start); g.Start != 0 {
			o.start = names[len(names)-1]
		}
		if g.Created != 0 {
			o.created = locate(g.Created - 1)
		}
		if o.m = word(g.G + d["g.m"]); o.m != 0 {
			o.procid = word(o.m + d["m.procid"])
		}
		if g.Parked() {
			o.unwind(tg, table, symbols)
		}
		list = append(list, o)
	}
	return list
}

// unwind lists the frames as the runtime would print them.
func (o *observed) unwind(tg target.Target, table *frame.Table, symbols *symbol.Symbolizer) {
	s, err := frame.New(tg, parked{&o.Goroutine, tg.Arch()}, table)
	if err != nil {
		o.why = err.Error()
		return
	}
	s.Limit = 10_000
	for f, err := range s.All() {
		if err != nil {
			o.why = err.Error()
			return
		}
		o.why = f.StopReason().String()
		block := f.AddressInBlock()
		if f.Level == 0 && symbols.Locate(tg.Modules(), block)[0].Offset != 0 {
			block-- // PC follows the call that has parked the goroutine
		}
		chain := symbols.Locate(tg.Modules(), block)
		for i, x := range chain {
			l := line{function: plainName(x.Function), file: strings.TrimPrefix(x.File, "./"), line: x.Line}
			if l.function == "runtime.gopanic" {
				l.function = "panic" // so the runtime calls it
			}
			if i == len(chain)-1 {
				l.pc, l.sp = f.PC(), f.Register(tg.Arch().SP).Bits
			}
			o.frames = append(o.frames, l)
		}
	}
}

// compare compares the observed goroutines with the goroutines that the runtime itself prints.
// There must be at least the number least of them.
func compare(t *testing.T, list []observed, said map[uint64]*traceback, least int) {
	t.Helper()
	gs, threads, frames, wrong := 0, 0, 0, 0
	for i := range list {
		o := &list[i]
		want := said[o.Number]
		delete(said, o.Number)
		if o.own() && (want == nil || want.status != o.said()) {
			continue
		}
		if want == nil {
			t.Errorf("goroutine %d: the runtime knows none", o.Number)
			continue
		}
		gs++
		if o.Thread != 0 {
			threads++
		}
		frames += len(o.frames)
		if why := o.differs(want); why != "" {
			t.Errorf("goroutine %d, %s: %s", o.Number, want.status, why)
			if wrong++; wrong > 10 {
				t.FailNow()
			}
		}
	}
	for n, want := range said {
		if !strings.HasPrefix(want.created, "runtime.") {
			t.Errorf("goroutine %d, %s, is missing", n, want.status)
		}
	}
	t.Logf("%d goroutines, %d on threads, %d frames", gs, threads, frames)
	if gs < least || threads < 3 || frames < 4*least {
		t.Error("these are too few")
	}
}

// said returns the goroutine's state as the runtime prints it.
func (o *observed) said() string {
	if o.Status == Waiting {
		return o.Reason
	}
	return o.Status.String()
}

// differs returns the first difference between a goroutine as observed and as the runtime prints
// it, or "".
func (o *observed) differs(want *traceback) string {
	created := want.created == "" && (o.created == nil || o.Number == 1)
	for _, name := range o.created {
		created = created || name == want.created // the runtime does not look at inlined calls
	}
	outer := want.frames[max(0, len(want.frames)-2):]
	switch {
	case want.g != 0 && (o.G != want.g || o.m != want.m):
		return fmt.Sprintf("struct g at %#x, m at %#x; want %#x, %#x", o.G, o.m, want.g, want.m)
	case o.said() != want.status:
		return "it is " + o.said()
	case !created:
		return fmt.Sprintf("created by %v, want %s", o.created, want.created)
	case o.Parked() != (o.m == 0) || uint64(o.Thread) != o.procid:
		return fmt.Sprintf("on thread %d, want %d; parked %v", o.Thread, o.procid, o.Parked())
	case len(outer) != 2 || outer[1].function != "runtime.goexit" || outer[0].function != o.start:
		return fmt.Sprintf("begins in %s, want %v", o.start, outer)
	case !o.Parked():
		return ""
	}
	got := o.frames
	if want.elided != 0 {
		if len(got) != len(want.frames)+want.elided {
			return fmt.Sprintf("%d frames, want %d", len(got), len(want.frames)+want.elided)
		}
		got = append(got[:want.head:want.head], got[want.head+want.elided:]...)
	}
	for i, w := range want.frames {
		for len(got) > 0 && got[0] != w && got[0].file == "<autogenerated>" {
			got = got[1:] // the runtime does not show all wrappers
		}
		if len(got) == 0 {
			return fmt.Sprintf("the stack ends, %s, want %v", o.why, w)
		}
		if got[0] != w {
			return fmt.Sprintf("frame %d is %v, want %v", i, got[0], w)
		}
		got = got[1:]
	}
	if len(got) > 0 {
		return fmt.Sprintf("there are more frames: %v", got)
	}
	return ""
}
