package target

import (
	"cmp"
	"container/heap"
	"slices"
	"sync"
)

// Registered is what a process has told debuggers of the code that it has made
// itself (package [github.com/sfwalk/sfwalk/target/jit]).
type Registered struct {
	// Objects are modules. Their mappings are the code that they describe, wherever that lies. If
	// several have an address, the first one counts.
	Objects []*Module
	// At returns the module of code at an address that none of Objects has; nil if there is none.
	// It may be nil, and is called by several goroutines at once.
	At func(addr uint64) *Module
	// Copies returns the parts of the process's memory that were read so far to find and open the
	// objects. A snapshot keeps them, so that it can find the objects again. It may be nil.
	Copies func() []Copy
}

// Copy is a part of a target's memory.
type Copy struct {
	Addr uint64
	Data []byte
}

// registered finds the objects when they are first needed.
type registered struct {
	find  func() Registered
	once  sync.Once
	found Registered
	spans []span // ascending by Lo, disjoint
}

// Register sets the function that finds the objects that the process has registered. ms calls find
// at most once, when an address is first looked up that may be code and is in no file. find must
// not call [Modules.Find]. Call Register before the list is used.
func (ms *Modules) Register(find func() Registered) {
	ms.registered = &registered{find: func() Registered {
		found := find()
		ms.share(found.Objects)
		return found
	}}
}

// Registered returns the objects that the process has registered. It returns none as long as no
// address was looked up that they could hold.
func (ms *Modules) Registered() (r Registered) {
	if ms != nil && ms.registered != nil && ms.sought.Load() {
		return ms.registered.get().found
	}
	return r
}

// object returns the registered object that speaks for an address, or nil.
func (ms *Modules) object(addr uint64) *Module {
	switch r := ms.registered; {
	case r == nil:
		return nil
	case ms.sought.Load(): // to ask whether it is code may take longer
		if m := r.at(addr); m != nil && ms.IsCode(addr) {
			return m
		}
		return nil
	case !ms.IsCode(addr):
		return nil
	}
	r := ms.registered.get()
	ms.sought.Store(true)
	return r.at(addr)
}

// at returns the object that has an address; nil if there is none.
func (r *registered) at(addr uint64) *Module {
	if m := findSpan(r.spans, addr); m != nil || r.found.At == nil {
		return m
	}
	return r.found.At(addr)
}

func (r *registered) get() *registered {
	r.once.Do(func() {
		r.found = r.find()
		r.spans = disjointSpans(r.found.Objects)
	})
	return r
}

// disjointSpans returns which module has each address that some of them claim: the
// first in the list that does.
func disjointSpans(list []*Module) (spans []span) {
	type claim struct {
		lo, hi uint64
		rank   int
	}
	n := 0
	for _, m := range list {
		n += len(m.Mappings)
	}
	claims := make([]claim, 0, n)
	for i, m := range list {
		for _, p := range m.Mappings {
			if p.Lo < p.Hi {
				claims = append(claims, claim{p.Lo, p.Hi, i})
			}
		}
	}
	slices.SortStableFunc(claims, func(a, b claim) int { return cmp.Compare(a.lo, b.lo) })
	put := func(lo, hi uint64, rank int) {
		m := list[rank]
		if n := len(spans); n > 0 && spans[n-1].m == m && spans[n-1].Hi == lo {
			spans[n-1].Hi = hi
		} else if lo < hi {
			spans = append(spans, span{Mapping{Lo: lo, Hi: hi, Exec: true}, m})
		}
	}
	var open ranked // claims that have begun, the best first
	at := uint64(0) // up to where addresses are given away
	advance := func(to uint64) {
		for len(open) > 0 && at < to {
			best := open[0]
			if best.hi > at {
				end := min(best.hi, to)
				put(at, end, best.rank)
				at = end
			}
			if best.hi <= at {
				heap.Pop(&open)
			}
		}
		at = max(at, to)
	}
	for _, c := range claims {
		advance(c.lo)
		heap.Push(&open, rankedClaim{c.rank, c.hi})
	}
	advance(^uint64(0))
	return spans
}

// rankedClaim is the rest of a claim: up to hi.
type rankedClaim struct {
	rank int
	hi   uint64
}

// ranked is a heap of claims. It implements [heap.Interface].
type ranked []rankedClaim

func (r ranked) Len() int           { return len(r) }
func (r ranked) Less(i, j int) bool { return r[i].rank < r[j].rank }
func (r ranked) Swap(i, j int)      { r[i], r[j] = r[j], r[i] }
func (r *ranked) Push(x any)        { *r = append(*r, x.(rankedClaim)) }
func (r *ranked) Pop() (x any) {
	last := len(*r) - 1
	x, *r = (*r)[last], (*r)[:last]
	return x
}
