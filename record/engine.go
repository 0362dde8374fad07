package record

import (
	"fmt"
	"slices"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/format/perfevent"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/target"
)

// engine walks the samples among records, and counts their stacks.
type engine struct {
	host   host
	opts   Options
	owners map[*target.Module]owner // the processes of modules that places are in
	files  map[*elf.Image]*target.Module
	doubts map[doubt]*target.Module // modules that are doubted
	format *perfevent.Format

	spaces  map[int32]*space
	walking []*space // that have a walker
	turns   uint64
	names   map[int32]threadName // by ID
	early   map[int32]*mapped    // what processes had mapped before the first sample, where that is known
	ended   []int32              // processes, the first to end first
	threads map[int32]uint32     // index of a thread that runs, by its ID
	list    []Thread
	indices map[Thread]uint32
	family  map[int32]bool // processes that were asked for, and what they have begun; nil for all
	only    map[int32]bool // processes to count, where the whole machine is sampled; nil for all
	others  uint64         // samples of others than only
	from    uint64         // earlier samples are not counted, on the events' clock
	begun   map[int32]bool // threads that sampled ones have begun; nil if nobody asks
	// fresh are threads that have begun meanwhile; true for those without a sample yet. It is nil
	// if they are not counted.
	fresh map[int32]bool
	brief uint64    // threads that have begun and ended meanwhile
	file  *recorded // the file that the records come from; nil if this machine writes them
	// otherClock says that the times of samples are not of CLOCK_MONOTONIC.
	otherClock bool
	period     uint64 // what a sample stands for that does not say so itself
	maxChain   int    // how many addresses a call chain has at most; 0 for the kernel's usual bound
	tree       *tree
	labelled   bool // goroutines that run have labels
	soon       bool // what has come must be looked at soon: a process has begun or runs another program, or there are goroutines
	askedAll   bool // see askAll
	stats      Stats
	offCPU     map[int32]*offCPU // threads that have left their processors, with Event.Switches
	unsure     []unsure          // samples, the oldest first
	deferred   deferred

	unsureFrames int // of unsure
	came         came
	room         []uint32 // for a stack that is looked at again

	offFrames int // of all stacks in offCPU

	searched  int64      // instructions of code without tables, for all samples of a file
	noSearch  bool       // it was said that no more are searched
	budget    elf.Budget // of the files of all processes
	mappings  int        // of all processes; those count once that several share
	inModules int        // mappings that modules were made of
	bares     map[bareKey]*target.Module
	paths     map[string]string
	pathBytes int // of paths

	sample perfevent.Sample
	regs   arch.Registers
	memory sampled
	copied copied
	moment moment
	pcs    []uint64
	stack  []uint32
	tag    uint32 // of the sample
	walked *space // that frames of the sample are in; nil if they are the kernel's alone
	// check is called with each walk; tests compare the walk with a frame.Stack's.
	check func(s *space, regs *arch.Registers, mem target.Memory, pcs []uint64, stop frame.StopReason)
}

// maxDepth bounds the frames of a sample. The smallest frame takes a word of the stack's copy, most
// take four or more.
const maxDepth = 8192

func newEngine(h host, format *perfevent.Format, opts Options) *engine {
	if opts.Warn == nil {
		opts.Warn = func(string, ...any) {}
	}
	return &engine{
		budget: elf.Budget{Others: maxOthers},
		host:   h, format: format, opts: opts, owners: map[*target.Module]owner{}, files: map[*elf.Image]*target.Module{},
		spaces: map[int32]*space{}, early: map[int32]*mapped{}, paths: map[string]string{}, bares: map[bareKey]*target.Module{},
		names: map[int32]threadName{}, threads: map[int32]uint32{}, indices: map[Thread]uint32{}, tree: newTree(), offCPU: map[int32]*offCPU{}, pcs: make([]uint64, maxDepth)}
}

// take walks a sample and counts it.
func (e *engine) take(s *perfevent.Sample) {
	if e.foreign(s.PID) {
		e.others++
		return
	}
	if s.Time < e.from && !e.opts.Event.Switches {
		return
	}
	e.stats.Samples++
	e.stack, e.tag, e.walked = e.stack[:0], 0, nil
	e.kernel(s)
	if s.ABI != perfevent.RegsNone && e.format.SampleType&perfevent.SampleStackUser != 0 {
		e.user(s)
	} else {
		e.chained(s)
	}
	if len(e.stack) == 0 {
		e.stats.Empty++
	}
	if e.opts.Event.Switches {
		e.leave(s)
		return
	}
	value := s.Period
	if e.format.SampleType&perfevent.SamplePeriod == 0 {
		value = e.period
	}
	key := e.tree.add(sampleKey{thread: e.thread(s.PID, s.TID), tag: e.tag}, e.stack, value)
	if p := e.walked; p != nil && p.jit.doubt {
		e.keep(p, key, value)
	}
}

// foreign reports whether a process is not counted.
func (e *engine) foreign(pid int32) bool { return e.only != nil && !e.only[pid] }

// kernel appends the frames in the kernel, which the kernel has walked.
func (e *engine) kernel(s *perfevent.Sample) {
	mode := s.Misc & perfevent.MiscMode
	in := mode == perfevent.MiscKernel
	first := true
	for _, pc := range s.Chain {
		if pc >= perfevent.ContextMarks {
			in = pc == perfevent.ContextKernel
			continue
		}
		if !in {
			continue
		}
		if !first {
			pc-- // a return address
		}
		first = false
		e.stack = append(e.stack, e.tree.place(place{kind: placeKernel, addr: pc}))
	}
	if first && mode == perfevent.MiscKernel && s.IP != 0 {
		e.stack = append(e.stack, e.tree.place(place{kind: placeKernel, addr: s.IP}))
	}
}

// user appends the frames of the program.
func (e *engine) user(s *perfevent.Sample) {
	p := e.process(s)
	if p == nil {
		return
	}
	e.regs = arch.Registers{}
	p.arch.FromPerf(e.format.UserRegs, s.Regs, &e.regs)
	sp, _ := e.regs.Get(p.arch.SP)
	e.memory = sampled{lo: sp, stack: s.Stack, space: p, chain: userChain(s.Chain)}
	e.copied = copied{engine: e, tid: int(s.TID)}
	n, stop := p.walk(&e.copied, &e.memory)
	if e.check != nil {
		e.check(p, &e.regs, &e.memory, e.pcs[:n], stop)
	}
	e.tag = p.goroutine(s.Time, e.pcs[:n])
	rest, how := e.goOn(s, e.pcs[:n], stop)
	p.decorateCopy(s, n, stop.Whole())
	p.appendPlaces(n)
	for _, pc := range rest {
		e.stack = append(e.stack, p.callerAt(pc))
	}
	early := e.markEarly(&p.languages)
	if how != "" {
		e.mark(how)
	} else if early {
		e.stats.Whole--
		e.stats.Stopped++
	}
}

// process returns the address space of a sample, as it was at the sample's time, however the stack
// was walked. It is nil, and the stack says so, if the sample is of an unknown processor.
func (e *engine) process(s *perfevent.Sample) *space {
	p := e.space(s)
	if p == nil {
		e.mark("registers of an unknown processor")
		e.stats.Stopped++
		return nil
	}
	p.begin(e.time(s))
	p.refresh()
	p.findLanguages(p.jit.now)
	e.walked = p
	return p
}

// goOn says how a stack ends. If it is longer than the copy, the kernel's own walk along frame
// pointers may have the rest.
func (e *engine) goOn(s *perfevent.Sample, pcs []uint64, stop frame.StopReason) (rest []uint64, how string) {
	switch {
	case stop.Whole():
		e.stats.Whole++
		return nil, ""
	case !e.memory.beyond && !e.memory.elsewhere:
		e.stats.Stopped++
		return nil, stop.String()
	}
	if rest := beyond(e.memory.chain, e.memory.space.withoutProbes(pcs)); len(rest) > 0 {
		e.stats.Chained++
		return rest, endChained
	}
	e.stats.Cut++
	if !e.memory.beyond || !s.Full {
		return nil, "the stack goes on elsewhere, where nothing was copied"
	}
	return nil, fmt.Sprintf("the stack is longer than the %d KiB that were copied", len(s.Stack)>>10)
}

// maxSkipped is how many frames a walk along frame pointers may skip in one place: a function that
// keeps no frame pointer, or has just been called, hides its caller.
const maxSkipped = 2

// beyond returns what a call chain has beyond the PCs of a walk, if both are equal up to there, but
// for PCs in one place that the chain skips.
func beyond(chain, pcs []uint64) []uint64 {
	n := min(len(chain), len(pcs))
	begin := 0
	for begin < n && chain[begin] == pcs[begin] {
		begin++
	}
	for skipped := range maxSkipped + 1 {
		end := len(pcs) - skipped
		if begin == 0 || end < 2 || len(chain) <= end {
			continue
		}
		from := max(min(begin, end-1), 1)
		if slices.Equal(chain[from:end], pcs[from+skipped:]) {
			return chain[end:]
		}
	}
	return nil
}

// endChained marks a stack whose outer frames were found along frame pointers: functions that keep
// none are missing there.
const endChained = "the outer frames by frame pointers alone"

// userChain returns the part of a call chain that is of the program.
func userChain(chain []uint64) []uint64 {
	i := slices.Index(chain, perfevent.ContextUser)
	if i < 0 {
		return nil
	}
	chain = chain[i+1:]
	if end := slices.IndexFunc(chain, func(pc uint64) bool { return pc >= perfevent.ContextMarks }); end >= 0 {
		chain = chain[:end]
	}
	return chain
}

// mark appends what says why the stack ends.
func (e *engine) mark(why string) {
	e.stack = append(e.stack, e.tree.place(place{kind: placeEnd, addr: uint64(e.tree.reason(why))}))
}

// space returns the address space of a sample; nil if it is of an unknown processor.
func (e *engine) space(s *perfevent.Sample) *space {
	if p := e.spaces[s.PID]; p != nil {
		return p
	}
	a := e.opts.Arch
	if s.ABI == perfevent.Regs32 {
		a = e.opts.Arch32
	}
	if a == nil {
		return nil
	}
	return e.newSpace(s.PID, a, nil)
}

// place returns where an address is.
func (s *space) place(addr uint64) place {
	if m := s.modules.Find(addr); m != nil {
		if m.Doubted() {
			return place{module: s.doubtful(m, s.pid), addr: addr, pid: int32(s.pid)}
		}
		m, addr = s.canonical(m, addr, s.pid)
		return place{module: m, addr: addr}
	}
	p := place{addr: addr, pid: int32(s.pid)}
	if name := s.modules.KernelName(addr); name != "" {
		p.name = s.tree.nameID(Name{Function: name})
	}
	return p
}

// thread returns the index of a thread.
func (e *engine) thread(pid, tid int32) uint32 {
	if i, ok := e.threads[tid]; ok {
		return i
	}
	if e.fresh[tid] {
		e.fresh[tid] = false
	}
	t := Thread{PID: int(pid), TID: int(tid), Name: e.name(pid, tid), Process: e.name(pid, pid)}
	if len(e.list) >= maxThreads {
		t = Thread{Name: "threads that began later"}
	}

	i := e.listed(t)
	e.threads[tid] = i
	return i
}

// listed returns the index of a thread in the list.
func (e *engine) listed(t Thread) uint32 {
	i, ok := e.indices[t]
	if !ok {
		i = uint32(len(e.list))
		e.list = append(e.list, t)
		e.indices[t] = i
	}
	return i
}

// name returns the name of a thread.
func (e *engine) name(pid, tid int32) string {
	name, ok := e.names[tid]
	if ok && !name.stale {
		return name.text
	}
	if now := e.host.name(int(pid), int(tid)); now != "" || !ok {
		name.text = now
	}
	name.stale = false
	e.names[tid] = name
	return name.text
}
