package record

import (
	"fmt"
	"slices"
	"time"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/elfimage"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/perfevent"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// engine walks the samples among records, and counts their stacks.
type engine struct {
	host   host
	opts   Options
	owners map[*target.Module]int // the processes of modules that places are in
	files  map[*elfimage.Image]*target.Module
	doubts map[doubt]*target.Module // modules that are doubted
	format *perfevent.Format

	spaces  map[int32]*space
	walking []*space // that have a walker
	turns   uint64
	names   map[int32]string             // of threads that have a new name, by ID
	early   map[int32][]procmaps.Mapping // what processes had mapped before the first sample, where that is known
	ended   []int32                      // processes, the first to end first
	threads map[int32]uint32             // index of a thread that runs, by its ID
	list    []Thread
	indices map[Thread]uint32
	only    map[int32]bool // processes, where those of all of the machine are sampled; nil for all
	begun   map[int32]bool // threads that sampled ones have begun; nil if nobody asks
	fresh   map[int32]bool // of the threads that have begun, those without a sample yet; nil if that is not counted
	file    *recorded      // the file that the records come from; nil for those of this machine
	// otherClock says that the times of samples are not of CLOCK_MONOTONIC.
	otherClock bool
	period     uint64 // what a sample stands for that does not say so itself
	maxChain   int    // how many addresses a call chain has at most; 0 for the kernel's usual bound
	tree       *tree
	labelled   bool // goroutines that run have labels
	soon       bool // what has come must be looked at soon: a process has begun or runs another program, or there are goroutines
	stats      Stats
	away       map[int32]*away // threads that have left their processors, with Event.Switches
	unsure     []unsure        // samples, the oldest first
	deferred   deferred
	came       came
	room       []uint32 // for a stack that is looked at again

	awayFrames int // of all stacks in away

	sample perfevent.Sample
	regs   arch.Registers
	memory sampled
	pcs    []uint64
	stack  []uint32
	tag    uint32 // of the sample
	walked *space // that frames of the sample are in; nil if they are the kernel's alone
	// check is called with each walk; tests compare it with that of a frame.Stack.
	check func(s *space, regs *arch.Registers, mem target.Memory, pcs []uint64, stop frame.StopReason)
}

// Thread is a thread that was sampled.
type Thread struct {
	PID, TID int
	Name     string // "" if it is not known
	Process  string // the name of the process's first thread
}

// Stats say how a recording went.
type Stats struct {
	Samples    uint64 // that were taken
	Lost       uint64 // records that were lost because the rings were full
	Unread     uint64 // records that do not parse, and are left out
	Throttled  uint64 // times that the kernel has stopped the events for a moment, because they took too long
	Whole      uint64 // samples whose stacks go to the outermost frame
	Chained    uint64 // of those that are longer than the copy: how many go on along frame pointers
	Cut        uint64 // that are longer than the copy, and do not
	Stopped    uint64 // that end for another reason
	Empty      uint64 // samples without a frame
	Unwalked   uint64 // samples without a copy of the stack: how many have what the kernel has walked along frame pointers
	Bounded    uint64 // of those: how many have as many frames as the kernel looks for, so that outer ones may be lacking
	Unfollowed uint64 // samples without those frames of the program that were to follow in another record
	Bare       uint64 // samples without any stack: how many have one frame of the program alone
	// Unsampled is how many threads have begun and ended without a sample, each within the time between two samples; 0 where
	// processors are sampled, and not threads.
	Unsampled uint64

	Stops uint64        // with [Options.Wall]: how often processes were stopped
	Pause time.Duration // with [Options.Wall]: the longest time that a thread was held
}

// maxDepth bounds the frames of a sample. The smallest frame takes a word of the stack's copy, most take four or more.
const maxDepth = 8192

func newEngine(h host, format *perfevent.Format, opts Options) *engine {
	if opts.Warn == nil {
		opts.Warn = func(string, ...any) {}
	}
	return &engine{host: h, format: format, opts: opts, owners: map[*target.Module]int{}, files: map[*elfimage.Image]*target.Module{}, spaces: map[int32]*space{}, early: map[int32][]procmaps.Mapping{}, names: map[int32]string{},
		threads: map[int32]uint32{}, indices: map[Thread]uint32{}, tree: newTree(), away: map[int32]*away{}, pcs: make([]uint64, maxDepth)}
}

// record takes a record. One that does not parse is left out, and counted.
func (e *engine) record(r perfevent.Record) error {
	if err := e.read(r); err != nil {
		e.unread(err)
	}
	return nil
}

// unread counts a record that is left out.
func (e *engine) unread(why error) {
	if e.stats.Unread++; e.stats.Unread == 1 {
		e.opts.Warn("a record is left out, for it does not parse: %v", why)
	}
}

// read takes a record. The error says that it is broken.
func (e *engine) read(r perfevent.Record) error {
	e.roomForNames()
	switch r.Type {
	case perfevent.RecordSample:
		if err := e.format.Sample(r, &e.sample); err != nil {
			return err
		}
		if e.format.SampleType&perfevent.SampleStackUser != 0 || !e.deferred.wait(e, &e.sample) {
			e.take(&e.sample)
		}
	case perfevent.RecordCallchainDeferred:
		c, err := e.format.Deferred(r)
		if err != nil {
			return err
		}
		e.deferred.follow(e, &c)
	case perfevent.RecordMmap, perfevent.RecordMmap2:
		m, err := e.format.Mmap(r)
		if err != nil {
			return err
		}
		e.mapped(&m)
	case perfevent.RecordComm:
		c, err := e.format.Comm(r)
		if err != nil {
			return err
		}
		if c.Exec {
			e.soon = true
			e.forget(c.PID)
			e.early[c.PID] = nil // records of all that it maps follow
		}
		delete(e.threads, c.TID)
		e.names[c.TID] = c.Name
	case perfevent.RecordFork, perfevent.RecordExit:
		k, err := e.format.Fork(r)
		if err != nil {
			return err
		}
		e.deferred.giveUp(e, k.TID)
		delete(e.threads, k.TID)
		delete(e.names, k.TID)
		e.dropAway(k.TID)
		if r.Type == perfevent.RecordExit {
			if e.fresh[k.TID] {
				delete(e.fresh, k.TID)
				e.stats.Unsampled++
			}
			if k.PID == k.TID {
				e.end(k.PID)
			}
			break
		}
		if name, ok := e.names[k.ParentTID]; ok {
			e.names[k.TID] = name
		}
		if e.begun != nil {
			e.begun[k.TID] = true
		}
		if e.fresh != nil {
			e.fresh[k.TID] = true
		}
		if k.PID == k.ParentPID || r.Misc&perfevent.MiscForkExec != 0 { // perf tells of a process that has begun long ago
			break
		}
		if e.only[k.ParentPID] {
			e.only[k.PID] = true
		}
		e.soon = true
		e.forget(k.PID) // a process that had the number before
		e.ended = slices.DeleteFunc(e.ended, func(pid int32) bool { return pid == k.PID })
		if parent := e.spaces[k.ParentPID]; parent != nil {
			e.newSpace(k.PID, parent.arch, parent)
		} else if maps, ok := e.early[k.ParentPID]; ok && e.mayMap(len(maps)) {
			e.early[k.PID] = slices.Clone(maps)
		}
	case perfevent.RecordLost, perfevent.RecordLostSamples:
		n, err := e.format.Lost(r)
		if err != nil {
			return err
		}
		e.stats.Lost += n
	case perfevent.RecordSwitch, perfevent.RecordSwitchCPUWide:
		s, err := e.format.Switch(r)
		if err != nil {
			return err
		}
		e.switched(s)
	case perfevent.RecordThrottle:
		e.stats.Throttled++
	}
	return nil
}

// forget drops a process that has ended or runs another program. Places keep its modules.
func (e *engine) forget(pid int32) {
	if s := e.spaces[pid]; s != nil {
		s.finish()
		s.life.gone.Store(true)
		if i := slices.Index(e.walking, s); i >= 0 {
			e.walking = slices.Delete(e.walking, i, i+1)
		}
		delete(e.spaces, pid)
	}
	delete(e.early, pid)
	e.host.forget(int(pid))
}

// maxEnded is how many processes that have ended are kept: more of their samples may come.
const maxEnded = 64

// end notes that a process has ended.
func (e *engine) end(pid int32) {
	if e.ended = append(e.ended, pid); len(e.ended) > maxEnded {
		e.forget(e.ended[0])
		delete(e.only, e.ended[0])
		e.ended = e.ended[1:]
	}
}

// take walks a sample and counts it.
func (e *engine) take(s *perfevent.Sample) {
	if e.only != nil && !e.only[s.PID] {
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
	if p := e.walked; p != nil && p.made.doubt {
		e.keep(p, key, value)
	}
}

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
	e.memory = sampled{lo: sp, stack: s.Stack, space: p}
	n, stop := p.walk(&e.memory)
	if e.check != nil {
		e.check(p, &e.regs, &e.memory, e.pcs[:n], stop)
	}
	e.tag = p.goroutine(s.Time, e.pcs[:n])
	rest, how := e.goOn(s, e.pcs[:n], stop)
	p.appendPlaces(n)
	for _, pc := range rest {
		e.stack = append(e.stack, p.callerAt(pc))
	}
	if how != "" {
		e.mark(how)
	}
}

// process returns the address space of a sample, as it was at the sample's time, however the stack was walked. It
// is nil, and the stack says so, if the sample is of an unknown processor.
func (e *engine) process(s *perfevent.Sample) *space {
	p := e.space(s)
	if p == nil {
		e.mark("registers of an unknown processor")
		e.stats.Stopped++
		return nil
	}
	p.begin(e.time(s))
	p.refresh()
	e.walked = p
	return p
}

// goOn says how a stack ends. If it is longer than the copy, the kernel's own walk along frame pointers may have the rest.
func (e *engine) goOn(s *perfevent.Sample, pcs []uint64, stop frame.StopReason) (rest []uint64, how string) {
	switch {
	case stop.Whole():
		e.stats.Whole++
		return nil, ""
	case !e.memory.beyond && !e.memory.elsewhere:
		e.stats.Stopped++
		return nil, stop.String()
	}
	if rest := beyond(userChain(s.Chain), pcs); len(rest) > 0 {
		e.stats.Chained++
		return rest, endChained
	}
	e.stats.Cut++
	if !e.memory.beyond || !s.Full {
		return nil, "the stack goes on elsewhere, where nothing was copied"
	}
	return nil, fmt.Sprintf("the stack is longer than the %d KiB that were copied", len(s.Stack)>>10)
}

// maxSkipped is how many frames a walk along frame pointers may skip at its beginning: a function that has just been called, and one
// that keeps no frame pointer, which are not seen.
const maxSkipped = 2

// beyond returns what a call chain has beyond the PCs of a walk, if both are equal up to there.
func beyond(chain, pcs []uint64) []uint64 {
	n := len(pcs)
	for skipped := range maxSkipped + 1 {
		if end := n - skipped; end >= 2 && len(chain) > end && chain[0] == pcs[0] && slices.Equal(chain[1:end], pcs[1+skipped:]) {
			return chain[end:]
		}
	}
	return nil
}

// endChained marks a stack whose outer frames were found along frame pointers: functions that keep none are missing there.
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
	delete(e.fresh, tid)
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
	if name, ok := e.names[tid]; ok {
		return name
	}
	name := e.host.name(int(pid), int(tid))
	e.names[tid] = name
	return name
}
