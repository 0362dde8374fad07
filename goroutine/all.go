package goroutine

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sfwalk/sfwalk/internal/goruntime"
	"github.com/sfwalk/sfwalk/target"
)

// All returns the goroutines as they are now, in ascending order of Number. They include the
// runtime's own, such as the garbage collector's. Call All again whenever the target has run. If
// there are more than [Runtime.Limit], All returns the ones that the runtime has made first, and an
// error. If some cannot be read or are not as they should be, All returns the others, and an error
// for the first bad one. A goroutine that seems to be parked, but not on its stack, has no
// registers.
func (r *Runtime) All() ([]Goroutine, error) { return r.AllIn(r.t.Memory()) }

// AllIn is All for another memory of the target than Target.Memory, such as a copy.
func (r *Runtime) AllIn(mem target.Memory) ([]Goroutine, error) { return r.AppendAll(nil, mem) }

// AppendAll is AllIn that appends to list, which must be empty. Call it while you hold the target,
// with a list for which room was made before: making room takes time.
func (r *Runtime) AppendAll(list []Goroutine, mem target.Memory) ([]Goroutine, error) {
	in := *r
	in.t = within{r.t, mem}
	return in.all(list)
}

// within is a target with another memory.
type within struct {
	target.Target
	memory target.Memory
}

func (w within) Memory() target.Memory { return w.memory }

func (r *Runtime) all(gs []Goroutine) ([]Goroutine, error) {
	limit := uint64(cmp.Or(max(r.Limit, 0), defaultLimit))
	list, claimed, err := r.pointers(r.allgs, limit)
	if err == nil && claimed > limit {
		err = fmt.Errorf("%w: it claims to have %d, of which %d are listed", ErrUnknown, claimed, limit)
	}
	failed := 0
	fail := func(why error) {
		if failed++; err == nil {
			err = fmt.Errorf("%w: %w", ErrUnknown, why)
		}
	}
	if cap(gs) == 0 {
		gs = make([]Goroutine, 0, min(len(list), convincing))
	}
	ms := machines{r: r, known: map[uint64]machine{}}
	reasons := new(reasonTexts)
	labels := labelSets{memory: r.t.Memory(), order: r.arch.Order}
	end := uint64(0) // of the last struct g: none overlap, so no more are listed than memory can hold
	r.structs(list, r.fields.size, func(addr uint64, data []byte, _ bool, why error) {
		if why == nil && addr < end {
			why = fmt.Errorf("struct g at %#x: another reaches to %#x", addr, end)
		}
		if why != nil {
			fail(why)
			return
		}
		end = addr + uint64(len(data))
		w := words{addr, data, r.arch.Order}
		g, listed, why := r.read(w, reasons)
		if !listed {
			if why != nil {
				fail(why)
			}
			return
		}
		if m := w.word(r.fields.M); m != 0 && ms.runs(m, addr) {
			if len(ms.running) < maxRunning {
				ms.running = append(ms.running, running{len(gs), m})
			}
			g.m = m
			if w := ms.known[m].words; len(w) > 0 {
				g.g0 = w[0]
			}
		} else if why := r.park(w, &g); why != nil {
			fail(why)
		}
		g.Labels = labels.read(w.word(r.fields.startpc + labelsBehind))
		g.waiting = w.word(r.fields.startpc + waitingBehind)
		gs = append(withRoom(gs, len(list)), g)
	})
	if why := ms.setThreads(gs); why != nil {
		fail(why)
	}
	checkCreators(gs)
	sortByNumber(gs)
	if failed > 1 {
		err = fmt.Errorf("%w (and %d more of %d)", err, failed-1, len(list))
	}
	return gs, err
}

// sortByNumber sorts small keys, and moves each goroutine once: a process may be held meanwhile.
func sortByNumber(gs []Goroutine) {
	type key struct {
		number uint64
		from   int // index in gs, which is in the order of the structs g
	}
	keys := make([]key, len(gs))
	for i := range gs {
		keys[i] = key{gs[i].Number, i}
	}
	slices.SortFunc(keys, func(a, b key) int {
		if a.number != b.number {
			return cmp.Compare(a.number, b.number)
		}
		return a.from - b.from
	})
	for i := range keys {
		if keys[i].from == i {
			continue
		}
		first, at := gs[i], i
		for keys[at].from != i { // a cycle of moves
			from := keys[at].from
			gs[at], keys[at].from = gs[from], at
			at = from
		}
		gs[at], keys[at].from = first, at
	}
}

// read reads one struct g, without the registers. listed is false if it is not, or no longer, a
// goroutine. err says what is wrong with it.
func (r *Runtime) read(w words, reasons *reasonTexts) (g Goroutine, listed bool, err error) {
	f := &r.fields
	status := w.half(f.status)
	s, listed, ok := statusOf(status)
	if !ok {
		return g, false, fmt.Errorf("struct g at %#x: its status is %d", w.addr, status)
	}
	if !listed {
		return g, false, nil
	}
	g = Goroutine{
		Number: w.word(f.status + goid), Status: s, Module: r.module, G: w.addr,
		Lo: w.word(goruntime.StackLo), Hi: w.word(goruntime.StackHi), Since: int64(w.word(f.status + waitsince)),
		Start: w.word(f.startpc), Created: w.word(f.startpc - 16), Creator: w.word(f.startpc - 24),
	}
	if g.Number == 0 || g.Number > maxNumber {
		return g, false, fmt.Errorf("struct g at %#x: its number is %d", w.addr, g.Number)
	}
	if s == Waiting || s == Preempted || s == Leaked {
		g.ReasonCode = w.data[f.status+waitreason]
		if code := g.ReasonCode; !reasons.known[code] && r.reasons != 0 {
			reasons.text[code], _ = r.reason(r.reasons, code)
			reasons.known[code] = true
		}
		g.Reason = reasons.text[g.ReasonCode]
	}
	return g, true, nil
}

// reasonTexts are the texts of reasons to wait, by number, each of which is read once.
type reasonTexts struct {
	text  [256]string
	known [256]bool
}

// checkCreators forgets what is no creator. Since Go 1.21, the word before gopc is parentGoid.
// Earlier it was sigpc, which is 0 or an address. A goroutine has a smaller number than any
// goroutine that it creates.
func checkCreators(gs []Goroutine) {
	if slices.ContainsFunc(gs, func(g Goroutine) bool { return g.Creator >= g.Number }) {
		for i := range gs {
			gs[i].Creator = 0
		}
	}
}

// park reads the registers with which a goroutine was parked from w, its struct g.
func (r *Runtime) park(w words, g *Goroutine) error {
	if g.Status == Running || g.Status == Syscall {
		return nil // a thread is about to run it, or just has
	}
	f := &r.fields
	sp := w.word(f.SP)
	if sp == 0 || sp < g.Lo || sp > g.Hi {
		return fmt.Errorf("goroutine %d: its SP %#x is not on its stack, from %#x to %#x", g.Number, sp, g.Lo, g.Hi)
	}
	g.SP, g.PC = sp, w.word(f.PC)
	if f.FP != 0 {
		g.FP = w.word(f.FP)
	}
	if f.RA != 0 {
		g.RA = w.word(f.RA)
	}
	return nil
}
