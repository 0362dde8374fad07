package cpp

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/scan"
	"github.com/sfwalk/sfwalk/language/internal/structs"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// Bounds of the tasks of one process.
const (
	mostThreads = 1 << 16
	mostChain   = 1 << 12 // coroutines that wait for each other, in one task
	mostFrames  = 1 << 20 // of all tasks; equal stacks count once
)

// object is a coroutine that has begun, or will: a frame in memory.
type object struct {
	at      uint64
	of      *coroutine
	done    bool   // it has come to its end
	reached bool   // something leads to it
	number  uint64 // of the point at which it is suspended
	runs    *run   // nil if it does not run
	maybe   int    // the thread that runs it, if that does not run another one; 0 for none
	waiters []int  // the coroutines that wait for it
	inner   []int  // the coroutines that it waits for
}

// tasks are the coroutines of a process, as they are found.
type tasks struct {
	*program
	*structs.Reader
	memory target.Memory
	room   scan.Room
	little bool // the lowest byte of a word is the first

	list      []object // by ascending address
	registers []uint64 // of all threads
	onStacks  *scan.Stacks
	stacks    map[string][]language.Frame
	ids       map[*coroutine]uint32
	frames    int
	hops      int // continuations that were looked at
	err       error
}

// Tasks implements [language.Tasker].
func (r *program) Tasks(m target.Memory) ([]language.Task, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.types.Memory = m
	threads, err := r.threads()
	if err != nil {
		return nil, err
	}
	t := r.newTasks(m)
	defer t.Free()
	list := t.inUse(threads[:min(len(threads), mostThreads)])
	t.onStacks = scan.StacksOf(t.arch, threads, t.writable())
	t.search(list)
	slices.SortFunc(t.list, func(a, b object) int { return cmp.Compare(a.at, b.at) })
	t.list = slices.CompactFunc(t.list, func(a, b object) bool { return a.at == b.at })
	t.dropFree()
	t.running(threads[:min(len(threads), mostThreads)])
	t.await(false)
	t.leads(list)
	t.await(true)
	return t.made(), t.err
}

func (r *program) newTasks(m target.Memory) *tasks {
	return &tasks{
		program: r, Reader: structs.New(r.arch, m, &r.pages), memory: m, little: r.arch.Order == binary.ByteOrder(binary.LittleEndian),
		onStacks: &scan.Stacks{}, stacks: map[string][]language.Frame{}, ids: map[*coroutine]uint32{},
	}
}

// fail notes why the list is not whole.
func (t *tasks) fail(format string, args ...any) {
	if t.err == nil {
		t.err = fmt.Errorf(format, args...)
	}
}

// inUse returns the memory that the process can change, without what threads have left on their
// stacks, and notes the registers.
func (t *tasks) inUse(threads []target.Thread) []target.Mapping {
	list := slices.Clone(t.writable())
	for _, th := range threads {
		var regs arch.Registers
		if th.Registers(&regs) != nil {
			continue
		}
		for reg := range trad.Reg(arch.MaxReg) {
			if v, ok := regs.Get(reg); ok && reg != t.arch.SP { // that leads to no coroutine on the stack
				t.registers = append(t.registers, v)
			}
		}
		sp, ok := regs.Get(t.arch.SP)
		if !ok {
			continue
		}
		sp -= uint64(t.arch.RedZone)
		i, _ := slices.BinarySearchFunc(list, sp, func(m target.Mapping, sp uint64) int { return cmp.Compare(m.Hi, sp+1) })
		if i < len(list) && list[i].Lo < sp {
			list[i].Lo = sp
		}
	}
	return list
}

// found adds a coroutine.
func (t *tasks) found(at uint64, c *coroutine, done bool) {
	x := object{at: at, of: c, done: done}
	if p := t.layoutOf(c).index; p.size > 0 && !done {
		x.number = t.Uint(at+p.offset, p.size) & p.mask
	}
	if t.Err() == nil {
		t.list = append(t.list, x)
	}
}

// at returns the number of the coroutine whose frame begins at an address, or whose promise does;
// -1 if there is none.
func (t *tasks) at(addr uint64) int {
	if i := t.holder(addr); i >= 0 {
		x := &t.list[i]
		if p := t.layoutOf(x.of).promise; addr == x.at || p.typ != nil && addr == x.at+p.offset {
			return i
		}
	}
	return -1
}

// await finds out who waits for whom: of all coroutines, or of the ones that something leads to.
func (t *tasks) await(reached bool) {
	for i := range t.list {
		t.list[i].waiters, t.list[i].inner = nil, nil
	}
	for i := range t.list {
		x := &t.list[i]
		if x.done || reached && !x.reached {
			continue
		}
		l := t.layoutOf(x.of)
		for _, j := range t.continuations(i) {
			t.waits(i, j)
		}
		for j := range l.behind {
			t.behind(i, &l.behind[j])
		}
		t.Err()
	}
}

// continuations returns the coroutines whose handles are in the promise of the coroutine with
// number i. There may be other handles, as where promises are in a list: of several coroutines,
// the ones are left out whose frames do not lead back, unless none does.
func (t *tasks) continuations(i int) (list []int) {
	x := &t.list[i]
	for _, at := range t.layoutOf(x.of).handles {
		if j := t.at(t.Pointer(x.at + at)); j >= 0 && j != i && !slices.Contains(list, j) {
			list = append(list, j)
		}
	}
	if len(list) > 1 {
		back := slices.DeleteFunc(slices.Clone(list), func(j int) bool { return !t.leadsTo(j, i) })
		if len(back) > 0 {
			return back
		}
	}
	return list
}

// behind follows a pointer in the promise of the coroutine with number i. What it points to may
// have the handle of who waits, as what counts the coroutines has that are still waited for. Or it
// points to the promise of who waits: then that one's frame leads to this one, too.
func (t *tasks) behind(i int, p *reference) {
	x := &t.list[i]
	to := t.Pointer(x.at + p.offset)
	if to == 0 || !t.OK() {
		return
	}
	j := t.at(to)
	if j == i {
		return
	}
	if j >= 0 {
		if len(x.waiters) == 0 && t.leadsTo(j, i) {
			t.waits(i, j)
		}
		return
	}
	if j := t.holder(to); j >= 0 { // what it waits with is in a frame
		if t.leadsTo(j, i) {
			t.waits(i, j)
		}
		return
	}
	for _, at := range p.handles {
		t.waits(i, t.at(t.Pointer(to+at)))
	}
	if len(x.waiters) == 0 {
		t.through(i, to, mostHops)
	}
}

// Bounds of the continuations between a coroutine and the one that waits for it: how many follow
// each other, and the bytes of each that are read.
const (
	mostHops   = 3
	mostTasks  = 1 << 20 // of all coroutines
	mostObject = 192
)

// through follows a continuation of Seastar, a task with methods that is called when the coroutine
// with number i has ended. It has a promise: pointers to the future, to the future's state, and to
// the task that waits for that, in whose memory the two are. That is a coroutine, or the next
// continuation. Where another object begins, there is no more of this one.
func (t *tasks) through(i int, object uint64, hops int) bool {
	if t.hops++; t.hops > mostTasks || !t.hasMethods(object) {
		return false
	}
	for at := object + 8; at < object+mostObject && t.OK() && t.modules.Find(t.Pointer(at)) == nil; at += 8 {
		future, state, task := t.Pointer(at), t.Pointer(at+8), t.Pointer(at+16)
		if task == 0 || state == 0 || !t.OK() {
			continue
		}
		if j := t.at(task); j >= 0 {
			if j != i && t.leadsInto(state) == j && (future == 0 || t.leadsInto(future) == j) {
				t.waits(i, j)
				return true
			}
		} else if hops > 0 && future == 0 && state-task < mostObject && task != object && t.through(i, task, hops-1) {
			return true
		}
	}
	return false
}

// hasMethods reports whether an object begins with an address in a module, as of a table of
// methods.
func (t *tasks) hasMethods(at uint64) bool {
	if at&7 != 0 || at == 0 {
		return false
	}
	table := t.Pointer(at)
	return t.Err() == nil && t.modules.Find(table) != nil
}

// mostFrame bounds the part of a frame that is read, bytes.
const mostFrame = 1 << 16

// leadsTo reports whether the frame of a coroutine, behind its promise, has an address in another
// one's.
func (t *tasks) leadsTo(j, i int) bool {
	x, l := &t.list[j], t.layoutOf(t.list[j].of)
	if l.promise.typ == nil {
		return false
	}
	n, _ := l.promise.typ.SizeOf()
	for at := (x.at + l.promise.offset + n) &^ 7; at+8 <= t.end(j); at += 8 {
		if v := t.Pointer(at); v-t.list[i].at < t.size(t.list[i].of) {
			return true
		}
	}
	return false
}

// waits notes that the coroutine with number j waits for the one with number i.
func (t *tasks) waits(i, j int) {
	if j < 0 || i == j || t.list[j].done || slices.Contains(t.list[i].waiters, j) || slices.Contains(t.list[j].waiters, i) {
		return
	}
	t.list[i].waiters = append(t.list[i].waiters, j)
	t.list[j].inner = append(t.list[j].inner, i)
}

// made makes tasks of the coroutines. Each that waits for one other, and alone, is of one task with
// it: that is what a thread's stack would be.
func (t *tasks) made() (list []language.Task) {
	of := make([]uint64, len(t.list)) // the IDs of the tasks of coroutines
	var tops [][]int
	chain := func(i int) {
		var of1 []int
		for at := i; of[at] == 0 && len(of1) < mostChain; at = t.list[at].inner[0] {
			of[at] = t.list[i].at
			of1 = append(of1, at)
			if !t.single(at) {
				break
			}
		}
		tops = append(tops, of1)
	}
	for i := range t.list {
		x := &t.list[i]
		if x.reached && (len(x.waiters) != 1 || !t.single(x.waiters[0])) {
			chain(i)
		}
	}
	for i := range t.list { // the rest of long chains, and circles
		if t.list[i].reached && of[i] == 0 {
			chain(i)
		}
	}
	for _, c := range tops {
		top, last := &t.list[c[0]], &t.list[c[len(c)-1]]
		x := language.Task{ID: top.at, Kind: "coroutine", State: "waiting", Frames: t.framesOf(c)}
		switch {
		case last.runs != nil:
			x.State, x.Thread = "running", last.runs.thread
		case last.done:
			x.State = "done"
		case len(c) == 1 && t.begins(last):
			x.State = "not begun"
		}
		switch _, ok := t.pointOf(last); {
		case last.runs != nil || last.done:
		case last.maybe != 0:
			x.Early = fmt.Sprintf("it waits where the frames say, or runs: thread %d runs one of several coroutines of %s", last.maybe, t.nameOf(last.of))
		case !ok && len(t.pointsOf(last.of)) > 0:
			x.Early = fmt.Sprintf("%s waits at no point that is known (%d): its memory may be free", t.nameOf(last.of), last.number)
		}
		for _, w := range top.waiters {
			if id := of[w]; id != 0 && !slices.Contains(x.AwaitedBy, id) {
				x.AwaitedBy = append(x.AwaitedBy, id)
			}
		}
		list = append(list, x)
	}
	return list
}

// single reports whether a coroutine waits for one other coroutine, for which no other one waits.
func (t *tasks) single(i int) bool {
	in := t.list[i].inner
	return len(in) == 1 && len(t.list[in[0]].waiters) == 1
}

// framesOf returns the frames of coroutines of which each waits for the next, the innermost first.
// Thousands of tasks have the same.
func (t *tasks) framesOf(chain []int) []language.Frame {
	key, runs := []byte{}, false
	for _, i := range chain {
		x := &t.list[i]
		id, ok := t.ids[x.of]
		if !ok {
			id = uint32(len(t.ids))
			t.ids[x.of] = id
		}
		key = binary.LittleEndian.AppendUint32(key, id)
		n := x.number << 1
		if x.done {
			n |= 1
		}
		key = binary.LittleEndian.AppendUint64(key, n)
		runs = runs || x.runs != nil
	}
	if list, ok := t.stacks[string(key)]; ok && !runs {
		return list
	}
	if t.frames += len(chain); t.frames > mostFrames {
		t.fail("there are more than %d frames of coroutines", mostFrames)
		return nil
	}
	list := make([]language.Frame, 0, len(chain))
	for _, i := range slices.Backward(chain) {
		list = append(list, t.frameOf(&t.list[i]))
	}
	if !runs {
		t.stacks[string(key)] = list
	}
	return list
}

func (t *tasks) frameOf(x *object) language.Frame {
	f := language.Frame{Function: t.nameOf(x.of)}
	switch {
	case x.runs != nil:
		f.Kind, f.File, f.Line = "running", x.runs.file, x.runs.line
	case x.done:
		f.Kind = "returned"
	default:
		p, _ := t.pointOf(x)
		f.File, f.Line = p.file, p.line
		if t.begins(x) {
			f.Kind = "not begun"
		}
	}
	return f
}
