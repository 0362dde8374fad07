package goroutine

import (
	"slices"
	"time"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/goruntime"
	"github.com/sfwalk/sfwalk/trad"
)

// Watcher tells a sampling profiler which goroutine a thread ran at a moment that has passed, with
// its labels. Since the process runs on, what is in its memory now may be of another goroutine, for
// the runtime uses a struct g again. So a Watcher believes only what it has read both before and
// after that moment: a number is never used again, so the same one at both times means the same
// goroutine. It says nothing otherwise: of a goroutine's first sample, of one that has begun a
// moment ago, and where labels have changed.
//
// A Watcher reads only the structs of goroutines that run. One goroutine may use it.
type Watcher struct {
	r     *Runtime
	clock func() time.Duration
	g     trad.Reg
	sets  map[uint64]*watched // by the address of the struct g
	list  []*watched
	data  []byte // of a struct g
}

// Bounds of a Watcher.
const (
	maxWatched = 128                    // goroutines
	keptFor    = time.Second            // how long a goroutine is watched that was not asked for
	maxBetween = 250 * time.Millisecond // between two looks, for labels: they may have changed, and changed back
	renewAfter = 100 * time.Millisecond // labels are read again that long after, even if they are where they were
)

// watched is a struct g.
type watched struct {
	addr          uint64
	before, after look
	asked         time.Duration // when
}

// look is what a struct g had when it was read.
type look struct {
	begin, end time.Duration // of the reading
	number     uint64        // 0 if it was no goroutine
	lo, hi     uint64        // of its stack
	labelsAt   uint64        // the address of the labels; 0 if it had none
	labels     []Label
	renewed    time.Duration // when labels were read
}

// Watch returns a Watcher whose moments are on the given clock, which only ever goes forward; nil
// on processors where no register is known to have the running goroutine.
func (r *Runtime) Watch(clock func() time.Duration) *Watcher {
	m := goruntime.MachineOf(r.arch)
	if m == nil {
		return nil
	}
	return &Watcher{r: r, clock: clock, g: m.InGo, sets: map[uint64]*watched{}, data: make([]byte, r.fields.size)}
}

// Running returns the number of the goroutine that a thread ran at a moment, when it had these
// registers, and the labels that it had then. The number is 0 if that is not known, as where the
// thread was on a stack of its own (the runtime's work, C). known says whether labels are: they may
// be none.
func (w *Watcher) Running(at time.Duration, regs *arch.Registers) (number uint64, labels []Label, known bool) {
	sp, ok := regs.Get(w.r.arch.SP)
	if !ok {
		return 0, nil, false
	}
	x := w.find(sp, regs)
	if x == nil {
		return 0, nil, false
	}
	if x.asked = at; at >= x.after.begin {
		w.read(x)
	}
	b, a := &x.before, &x.after
	if b.number == 0 || b.number != a.number || b.end > at || a.begin < at {
		return 0, nil, false
	}
	if !b.has(sp) && !a.has(sp) { // the runtime moves a stack that grows
		return 0, nil, false
	}
	same := b.labelsAt == a.labelsAt && slices.Equal(b.labels, a.labels) && a.begin-b.end <= maxBetween
	if !same || a.labelsAt != 0 && a.labels == nil { // something that is no set of labels, as of Go before 1.24
		return a.number, nil, false
	}
	return a.number, a.labels, true
}

func (l *look) has(sp uint64) bool { return l.lo < sp && sp <= l.hi }

// find returns the goroutine on whose stack SP is: the one that the register names, or, since
// functions of assembly use that for something else, one that is watched.
func (w *Watcher) find(sp uint64, regs *arch.Registers) *watched {
	g, ok := regs.Get(w.g)
	x := w.sets[g]
	if x != nil && (x.before.has(sp) || x.after.has(sp)) {
		return x
	}
	for _, x := range w.list {
		if x.before.has(sp) && x.after.has(sp) {
			return x
		}
	}
	if x != nil { // its stack may have moved
		return x
	}
	if !ok || g == 0 || g%8 != 0 || !w.room() {
		return nil
	}
	x = &watched{addr: g}
	if w.read(x); !x.after.has(sp) {
		return nil
	}
	w.sets[g] = x
	w.list = append(w.list, x)
	return x
}

// room reports whether one more can be watched.
func (w *Watcher) room() bool {
	if len(w.list) >= maxWatched {
		w.drop()
	}
	return len(w.list) < maxWatched
}

// drop drops what was not asked for lately.
func (w *Watcher) drop() {
	now := w.clock()
	w.list = slices.DeleteFunc(w.list, func(x *watched) bool {
		old := now-x.asked > keptFor
		if old {
			delete(w.sets, x.addr)
		}
		return old
	})
}

// Look reads the structs that were not read since a moment. Call it after each batch of samples:
// the shorter the time between two calls, the more is known of what changes. labels says whether
// some goroutine has labels, so that calls are worth their time.
func (w *Watcher) Look(since time.Duration) (labels bool) {
	w.drop()
	for _, x := range w.list {
		if x.after.begin < since {
			w.read(x)
		}
		labels = labels || x.after.labelsAt != 0
	}
	return labels
}

// read reads a struct g.
func (w *Watcher) read(x *watched) {
	x.before, x.after = x.after, look{begin: w.clock()}
	a := &x.after
	r := w.r
	mem := r.t.Memory()
	if n, _ := mem.ReadMemory(x.addr, w.data); n < len(w.data) {
		a.end = w.clock()
		return
	}
	s := words{x.addr, w.data, r.arch.Order}
	if _, listed, _ := statusOf(s.half(r.fields.status)); listed && s.word(goruntime.StackLo) < s.word(goruntime.StackHi) {
		if a.number = s.word(r.fields.status + goid); a.number > maxNumber {
			a.number = 0
		}
	}
	if a.number != 0 {
		a.lo, a.hi = s.word(goruntime.StackLo), s.word(goruntime.StackHi)
		if a.labelsAt = s.word(r.fields.startpc + labelsBehind); a.labelsAt != 0 {
			b := &x.before
			if b.number == a.number && b.labelsAt == a.labelsAt && a.begin-b.renewed < renewAfter {
				a.labels, a.renewed = b.labels, b.renewed
			} else {
				sets := labelSets{memory: mem, order: r.arch.Order}
				a.labels, a.renewed = sets.read(a.labelsAt), a.begin
			}
		}
	}
	a.end = w.clock()
}
