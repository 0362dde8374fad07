package goroutine

import (
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/target"
)

// ObjectKind is a kind of object that goroutines wait for.
type ObjectKind uint8

const (
	Channel ObjectKind = iota
	Mutex
	RWMutex
	WaitGroup
)

// String returns the kind as Go's programmers call it.
func (k ObjectKind) String() string {
	return [...]string{"channel", "sync.Mutex", "sync.RWMutex", "sync.WaitGroup"}[k]
}

// Object is what goroutines wait for. Go's locks do not record who holds them.
type Object struct {
	Kind    ObjectKind
	Address uint64 // of the lock; of a channel, what %p prints
	Waiters int    // goroutines that wait, in either way

	Len, Cap           uint64 // of a channel
	Receivers, Senders int    // goroutines that wait at a channel

	Readers int  // goroutines that hold an RWMutex for reading
	Written bool // a goroutine holds the RWMutex for writing
	Counter int  // of a WaitGroup
}

// Wait is what a goroutine waits for.
type Wait struct {
	Object int  // index
	Send   bool // to a channel
	Reads  bool // it wants an RWMutex for reading
}

// A sudog is the runtime's note that a goroutine waits. Since Go 1.26, it has each pointer to what
// the goroutine waits for twice.
const (
	sudogNext = 8
	sudogElem = 24 // the semaphore
	sudogSize = 104
	shortSize = 88 // before Go 1.26
)

// waitLayout is where fields are in a sudog and in a channel (struct hchan).
type waitLayout struct {
	elem, link, c int64 // of a sudog; link leads to the next one of a select
	recvq         int64 // of a channel; sendq follows
	size          int
}

// waitLayouts are the layouts of all releases. One is believed if channels have the sudogs that
// lead to them in their queues.
var waitLayouts = []waitLayout{
	{sudogElem + 8, 72, 96, 64, sudogSize},
	{sudogElem, 64, 80, 64, shortSize},
	{sudogElem, 64, 80, 56, shortSize},
}

// Bounds of what is read for waits.
const (
	chanSize   = 112 // bytes of a channel, to the end of its queues
	queueSize  = 16  // a queue: the first sudog and the last
	maxCases   = 256 // of one select
	maxObjects = 1 << 17
	maxSudogs  = 1 << 18 // that are kept
	maxSteps   = 1 << 21 // from sudog to sudog
)

// Waits returns what parked goroutines wait for: the objects, and for each goroutine of list, by
// index, which of them it waits for: the objects of all cases of a select; nil where it is not
// known. mem is the memory in which list was found. Locks are known since Go 1.26. Of more than
// some hundred thousand goroutines, nothing is said of the rest.
func (r *Runtime) Waits(mem target.Memory, list []Goroutine) (waits [][]Wait, objects []Object) {
	w := &waiting{r: r, mem: mem, more: map[uint64]int{}, at: map[objectKey]int{}}
	w.read(list)
	if !w.learn(list) {
		return make([][]Wait, len(list)), nil
	}
	waits = make([][]Wait, len(list))
	all := make([]Wait, 0, len(w.sudogs)) // most goroutines wait for one thing
	for i := range list {
		n := len(all)
		var ok bool
		if all, ok = w.appendOf(all, &list[i]); ok {
			waits[i] = all[n:len(all):len(all)]
		} else {
			all = all[:n]
		}
	}
	w.count(waits)
	return waits, w.objects
}

// waiting finds out for what goroutines wait.
type waiting struct {
	r       *Runtime
	mem     target.Memory
	layout  waitLayout
	sudogs  []sudog
	first   []uint64       // addresses of the first sudogs, ascending
	more    map[uint64]int // indices of the others
	objects []Object
	at      map[objectKey]int // indices of objects
	steps   int
}

// sudog is one that was read.
type sudog struct {
	data  []byte // nil if it cannot be read
	queue int    // of a channel: 1 and the index of the object, negative for its queue of senders; 0 if none is known
}

type objectKey struct {
	kind    ObjectKind
	address uint64
}

// waitOf returns what a goroutine waits for by its reason, which may end in " (durable)"; ok is
// false if that is nothing that is looked for.
func waitOf(g *Goroutine) (kind ObjectKind, isSelect, ok bool) {
	if g.waiting == 0 || g.waiting%8 != 0 || !g.Parked() || g.Status != Waiting && g.Status != Leaked {
		return 0, false, false
	}
	switch strings.TrimSuffix(g.Reason, " (durable)") {
	case "chan receive", "chan send":
		return Channel, false, true
	case "select":
		return Channel, true, true
	case "sync.Mutex.Lock":
		return Mutex, false, true
	case "sync.RWMutex.Lock", "sync.RWMutex.RLock":
		return RWMutex, false, true
	case "sync.WaitGroup.Wait":
		return WaitGroup, false, true
	}
	return 0, false, false
}

// read reads the sudogs to which goroutines lead.
func (w *waiting) read(list []Goroutine) {
	var at []uint64
	for i := range list {
		if _, _, ok := waitOf(&list[i]); ok {
			at = append(at, list[i].waiting)
		}
	}
	slices.Sort(at)
	at = slices.Compact(at)
	r := *w.r
	r.t = within{w.r.t, w.mem}
	w.first = make([]uint64, 0, min(len(at), maxSudogs))
	w.sudogs = make([]sudog, 0, min(len(at)+64, maxSudogs)) // some more lead from one to another
	var room []byte
	r.structs(at, sudogSize, func(addr uint64, data []byte, lent bool, err error) {
		if err != nil || len(w.sudogs) == maxSudogs {
			return
		}
		if !lent {
			if len(room) < sudogSize {
				room = make([]byte, sudogSize<<10)
			}
			copy(room, data)
			data, room = room[:sudogSize:sudogSize], room[sudogSize:]
		}
		w.sudogs, w.first = append(w.sudogs, sudog{data: data}), append(w.first, addr)
	})
}

// sudog returns a sudog; s is nil if it cannot be read.
func (w *waiting) sudog(at uint64) (s *sudog) {
	if w.steps++; w.steps > maxSteps {
		return nil
	}
	i, ok := slices.BinarySearch(w.first, at)
	if !ok {
		i, ok = w.more[at]
	}
	if !ok {
		if at%8 != 0 || len(w.sudogs) >= maxSudogs {
			return nil
		}
		data := make([]byte, sudogSize)
		if n, _ := w.mem.ReadMemory(at, data); n < shortSize {
			data = nil
		}
		i = len(w.sudogs)
		w.more[at] = i
		w.sudogs = append(w.sudogs, sudog{data: data})
	}
	if w.sudogs[i].data == nil {
		return nil
	}
	return &w.sudogs[i] // until another one is read
}

// wordsOf returns the words of a sudog at an address.
func (w *waiting) wordsOf(s *sudog, at uint64) words { return words{at, s.data, w.r.arch.Order} }

// learn finds the layout: the one that most goroutines agree with.
func (w *waiting) learn(list []Goroutine) bool {
	const enough = 64
	votes := make([]int, len(waitLayouts))
	seen := 0
	for i := range list {
		kind, isSelect, ok := waitOf(&list[i])
		x := w.sudog(list[i].waiting)
		if !ok || x == nil {
			continue
		}
		s := w.wordsOf(x, list[i].waiting)
		if s.word(0) != list[i].G {
			continue
		}
		for k, l := range waitLayouts {
			switch {
			case kind != Channel:
				// A sudog of an earlier release has no semaphore twice.
				if p := s.word(sudogElem + 8); k == 0 && p != 0 && (s.word(sudogElem) == p || s.word(sudogElem) == 0) {
					votes[k]++
				}
				continue
			case int(l.c)+8 > len(s.data):
				continue
			}
			c, ok := w.words(s.word(l.c), chanSize)
			ends := func(queue int64) bool { return c.word(queue) == s.addr || c.word(queue+8) == s.addr }
			send := list[i].Reason == "chan send"
			if ok && (ends(l.recvq) && (isSelect || !send) || ends(l.recvq+queueSize) && (isSelect || send)) {
				votes[k]++
			}
		}
		if seen++; seen == enough && slices.Max(votes) > 0 {
			break
		}
	}
	best := slices.Index(votes, slices.Max(votes))
	w.layout = waitLayouts[best]
	return votes[best] > 0
}

func (w *waiting) words(at uint64, size int) (words, bool) {
	if at == 0 || at%4 != 0 {
		return words{}, false
	}
	data := make([]byte, size)
	n, _ := w.mem.ReadMemory(at, data)
	return words{at, data, w.r.arch.Order}, n == size
}

// appendOf appends what a goroutine waits for to list. ok is false if that is not known.
func (w *waiting) appendOf(list []Wait, g *Goroutine) (with []Wait, ok bool) {
	kind, isSelect, ok := waitOf(g)
	if !ok {
		return list, false
	}
	at := g.waiting
	for range maxCases {
		read := w.sudog(at)
		if read == nil || len(read.data) < w.layout.size {
			return list, false
		}
		s := w.wordsOf(read, at)
		if s.word(0) != g.G {
			return list, false
		}
		x := Wait{Object: -1}
		if kind == Channel {
			x.Object = w.channel(s.word(w.layout.c))
			if x.Object >= 0 {
				if read = w.sudog(at); read == nil || read.queue != x.Object+1 && read.queue != -x.Object-1 {
					return list, false
				}
				x.Send = read.queue < 0
			}
		} else if w.layout.elem != sudogElem {
			x.Reads = g.Reason == "sync.RWMutex.RLock"
			x.Object = w.lock(kind, s.word(w.layout.elem), x.Reads)
		}
		if x.Object < 0 {
			return list, false
		}
		list = append(list, x)
		if at = s.word(w.layout.link); !isSelect || at == 0 {
			return list, true
		}
	}
	return list, false
}

// add adds an object, and returns its index; -1 if there are too many.
func (w *waiting) add(o Object) int {
	if len(w.objects) == maxObjects {
		return -1
	}
	w.at[objectKey{o.Kind, o.Address}] = len(w.objects)
	w.objects = append(w.objects, o)
	return len(w.objects) - 1
}

// channel returns the index of a channel, whose queues it reads; -1 if it is none.
func (w *waiting) channel(at uint64) int {
	if i, ok := w.at[objectKey{Channel, at}]; ok {
		return i
	}
	c, ok := w.words(at, chanSize)
	if !ok || c.word(0) > c.word(8) {
		return -1
	}
	i := w.add(Object{Kind: Channel, Address: at, Len: c.word(0), Cap: c.word(8)})
	if i < 0 {
		return -1
	}
	var n [2]int // in the queues of receivers and senders
	for k := range n {
		queue := (1 + i) * (1 - 2*k)
		for next := c.word(w.layout.recvq + int64(k)*queueSize); next != 0; {
			s := w.sudog(next)
			if s == nil || s.queue != 0 {
				break // it is not as it should be
			}
			s.queue = queue
			n[k]++
			next = w.wordsOf(s, next).word(sudogNext)
		}
	}
	o := &w.objects[i]
	o.Receivers, o.Senders, o.Waiters = n[0], n[1], n[0]+n[1]
	return i
}

// Where the semaphores are in a Mutex, an RWMutex and a WaitGroup, and what is around them
// (packages sync and internal/sync).
const (
	mutexSema    = 4
	writerSema   = 8
	readerSema   = 12
	readerCount  = 16
	readerWait   = 20
	groupSema    = 8
	groupWaiters = 1<<31 - 1 // of the lower half of a WaitGroup's state
	mutexWaiters = 3         // a Mutex's state has their number from this bit on
)

// lock returns the index of the lock that a semaphore belongs to; -1 if there is none.
func (w *waiting) lock(kind ObjectKind, sema uint64, reads bool) int {
	o := Object{Kind: kind}
	switch {
	case kind == Mutex:
		o.Address = sema - mutexSema
	case kind == WaitGroup:
		o.Address = sema - groupSema
	case reads:
		o.Address = sema - readerSema
	default:
		o.Address = sema - writerSema
	}
	if i, ok := w.at[objectKey{kind, o.Address}]; ok {
		return i
	}
	size := map[ObjectKind]int{Mutex: 8, RWMutex: 24, WaitGroup: 12}[kind]
	l, ok := w.words(o.Address, size)
	if !ok {
		return -1
	}
	switch kind {
	case Mutex:
		if l.half(0)>>mutexWaiters == 0 {
			return -1
		}
	case WaitGroup:
		state := l.word(0)
		if state&groupWaiters == 0 {
			return -1
		}
		o.Counter = int(int32(state >> 32))
	case RWMutex:
		if int32(l.half(readerCount)) >= 0 {
			return -1 // without a writer, nobody waits
		}
		if n := int32(l.half(readerWait)); n > 0 {
			o.Readers = int(n)
		} else {
			o.Written = true
		}
	}
	return w.add(o)
}

// count counts who waits for locks.
func (w *waiting) count(waits [][]Wait) {
	for _, list := range waits {
		for _, x := range list {
			if o := &w.objects[x.Object]; o.Kind != Channel {
				o.Waiters++
			}
		}
	}
	for i := range w.objects { // a goroutine may have been lost
		w.objects[i].Waiters = max(w.objects[i].Waiters, 1)
	}
}
