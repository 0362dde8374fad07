package goroutine

import (
	"bytes"
	"fmt"

	"github.com/sfwalk/sfwalk/internal/goruntime"
	"github.com/sfwalk/sfwalk/target"
)

// fields has offsets, in bytes, in the structs g and m. Layout comes from the code, the others from
// the goroutines in memory.
type fields struct {
	goruntime.Layout
	status  int64 // atomicstatus, of 32 bits; stackLock, goid, schedlink, waitsince, waitreason follow
	startpc int64 // gopc is two words before
	size    int   // bytes that are read of a struct g
}

// Offsets from atomicstatus of the fields that follow it in all releases.
const (
	goid       = 8
	schedlink  = 16
	waitsince  = 24
	waitreason = 32
)

// Bounds of what learn looks at.
const (
	sample      = 1024 // goroutines
	probe       = 640  // bytes of a struct g
	statusRange = 128  // bytes behind the saved registers; atomicstatus is among them
)

// learn finds the fields of structs g by the contents of the structs that list points to. The error
// means that they are not structs g.
func (r *Runtime) learn(list []uint64, code goruntime.Layout) (f fields, err error) {
	var gs []words
	r.structs(list, probe, func(addr uint64, data []byte, _ bool, err error) {
		if err == nil {
			gs = append(gs, words{addr, bytes.Clone(data), r.arch.Order})
		}
	})
	if len(gs) < len(list)-len(list)/8 {
		return f, fmt.Errorf("%w: of %d structs g %d cannot be read", ErrUnknown, len(list), len(list)-len(gs))
	}
	f.Layout = code
	begin := max(code.SP, code.PC, code.FP, code.RA) + 8
	for at := begin; at < begin+statusRange; at += 8 {
		if !fitsStatus(gs, at) {
			continue
		}
		if f.status != 0 {
			return f, fmt.Errorf("%w: in %d structs g both the words at %#x and at %#x may be the status", ErrUnknown, len(gs), f.status, at)
		}
		f.status = at
	}
	if f.status == 0 {
		return f, fmt.Errorf("%w: in %d structs g no word from %#x on may be the status", ErrUnknown, len(gs), begin)
	}
	var living []words
	for _, g := range gs {
		if _, listed, _ := statusOf(g.half(f.status)); listed {
			living = append(living, g)
		}
	}
	from := f.status + waitreason + 8
	if f.startpc = findStart(r.t.Modules(), living, from); f.startpc == 0 {
		return f, fmt.Errorf("%w: in %d structs g no word from %#x on is where a goroutine's function begins", ErrUnknown, len(living), from)
	}
	f.size = int(f.startpc) + labelsBehind + 8
	return f, nil
}

// fitsStatus reports whether structs g may have atomicstatus at an offset, with the fields that
// follow it.
func fitsStatus(gs []words, at int64) bool {
	living := map[uint64]bool{} // by number
	for _, g := range gs {
		_, listed, ok := statusOf(g.half(at))
		if !ok || g.half(at+4) > 1 {
			return false
		}
		if !listed {
			continue
		}
		number := g.word(at + goid)
		if number == 0 || number > maxNumber || living[number] || g.word(at+schedlink)%8 != 0 || int64(g.word(at+waitsince)) < 0 || g.word(goruntime.StackLo) >= g.word(goruntime.StackHi) {
			return false
		}
		living[number] = true
	}
	return len(living) > 0
}

// maxNumber is above the number of any goroutine. The runtime never reuses a number, so numbers
// grow.
const maxNumber = 1 << 48

// findStart returns the offset of startpc in structs g, at or behind from; 0 if there is none.
// startpc is the address where a function begins, or 0 for a goroutine that the runtime has made
// for a thread of C. gopc, the address where the goroutine was created, is two words before it.
func findStart(modules *target.Modules, gs []words, from int64) int64 {
	c := code{modules, map[uint64]bool{}}
	for at := from; at+8 <= probe; at += 8 {
		starts := 0
		for _, g := range gs {
			start, created := g.word(at), g.word(at-16)
			if start != 0 && !c.begins(start) || created != 0 && !modules.IsCode(created) {
				starts = -1
				break
			}
			if start != 0 {
				starts++
			}
		}
		if starts > 0 && starts >= len(gs)/2 {
			return at
		}
	}
	return 0
}

// code knows where functions of Go begin.
type code struct {
	modules *target.Modules
	known   map[uint64]bool
}

func (c *code) begins(addr uint64) bool {
	begins, ok := c.known[addr]
	if !ok {
		if m := c.modules.Find(addr); m != nil {
			if table, bias, err := goruntime.Table(m); err == nil {
				f, found := table.Find(addr - bias)
				begins = found && f.Lo == addr-bias
			}
		}
		c.known[addr] = begins
	}
	return begins
}
