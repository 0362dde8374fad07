package record

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/perfevent"
	"github.com/sfwalk/sfwalk/record/internal/ring"
	"github.com/sfwalk/sfwalk/target/live"
)

// Recorder samples processes of this machine.
type Recorder struct {
	opts    Options
	group   *ring.Group
	mu      sync.Mutex // held while engine changes
	engine  *engine
	machine *machine
	wall    *wall         // with Options.Wall; else nil
	ends    []unix.PollFd // of the processes
	started time.Time
	begin   time.Duration
	opened  time.Duration // when the group was made
	limit   time.Duration // when the recording ends; never for math.MaxInt64
	until   time.Duration // when Run ends, at limit, or has ended
	stopped bool          // Run has ended, at until
	part    int           // how often Take was called
	lost    uint64        // records, up to then
	closed  uint64        // records that groups had lost that are closed
	since   time.Duration // the group's earlier records are of no use: another group had them
	cpu     time.Duration // what the processes had taken of the processors at begin
	refused bool          // processors may not be sampled
}

// Start begins to sample. The error says what the user can do about it.
func Start(opts Options) (*Recorder, error) {
	if opts.Arch == nil {
		if opts.Arch = arch.ByName(runtime.GOARCH); opts.Arch == nil {
			return nil, fmt.Errorf("record: there is no descriptor of this machine's processor, %s: import package sniffer, or give Options.Arch", runtime.GOARCH)
		}
	}
	if opts.Table == nil {
		return nil, errors.New("record: Options.Table is nil: it says which sniffers walk the stacks")
	}
	if opts.Wall {
		return startWall(opts)
	}
	if opts.Frequency == 0 {
		opts.Frequency = UsualFrequency
	}
	if opts.StackSize == 0 {
		opts.StackSize = perfevent.MaxStack
	}
	if opts.Event.Name == "" {
		opts.Event = perfevent.Events[0]
	}
	r := &Recorder{opts: opts, machine: newMachine(), opened: ring.Now()}
	group, err := r.newGroup()
	if err != nil {
		return nil, err
	}
	r.group = group
	r.engine = newEngine(r.machine, &group.Format, opts)
	r.engine.from = math.MaxUint64
	if err := r.add(); err != nil {
		r.Close()
		return nil, err
	}
	r.beginNow()
	return r, nil
}

// beginNow has samples count from now on.
func (r *Recorder) beginNow() {
	r.started, r.begin, r.limit = time.Now(), ring.Now(), math.MaxInt64
	if r.opts.Duration > 0 {
		r.limit = r.begin + min(r.opts.Duration, math.MaxInt64-r.begin)
	}
	r.until = r.limit
	r.engine.from = uint64(r.begin)
	r.cpu = cpuTime(r.opts.PIDs)
}

// startWall is Start with Options.Wall.
func startWall(opts Options) (*Recorder, error) {
	if opts.Frequency == 0 {
		opts.Frequency = UsualWallFrequency
	}
	if len(opts.PIDs) == 0 {
		return nil, errors.New("record: the processes of all of the machine are not stopped: say which")
	}
	for _, pid := range opts.PIDs {
		if err := checkProcess(pid); err != nil {
			return nil, err
		}
	}
	opts.Event = perfevent.Event{Name: "wall", Unit: "nanoseconds"}
	r := &Recorder{opts: opts, machine: newMachine()}
	r.engine = newEngine(r.machine, &perfevent.Format{}, opts)
	r.wall = &wall{engine: r.engine, mu: &r.mu, machine: r.machine, last: map[int32]time.Time{}, pids: slices.Clone(opts.PIDs),
		watch: live.Watch{Most: mostWatched}, rests: map[int32]*rest{}, turns: map[int32]uint64{}, fixed: map[int32]*fixed{}}
	r.beginNow()
	return r, nil
}

// checkProcess says why nothing with this ID can be recorded: it is a thread, or has ended. The
// kernel's own errors do not tell.
func checkProcess(pid int) error {
	// The threads are counted first: a main thread that has ended is a zombie, too, while others
	// live on.
	tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // without one, the kernel says what is wrong
	for line := range strings.Lines(string(status)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ":\t")
		switch {
		case key == "State" && strings.HasPrefix(value, "Z") && len(tasks) == 1:
			return fmt.Errorf("record process %d: a zombie: it has exited", pid)
		case key == "Tgid" && value != strconv.Itoa(pid):
			return fmt.Errorf("record process %d: a thread of process %s: give that; its samples say which thread they are of", pid, value)
		}
	}
	return nil
}

func (r *Recorder) add() error {
	if len(r.opts.PIDs) == 0 {
		return refused(machineName, r.group.AddAll())
	}
	for _, pid := range r.opts.PIDs {
		if err := checkProcess(pid); err != nil {
			return err
		}
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			return refused(fmt.Sprint("process ", pid), err)
		}
		r.ends = append(r.ends, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
	}
	r.engine.family = map[int32]bool{}
	threads := 0
	for _, pid := range r.opts.PIDs {
		r.engine.family[int32(pid)] = true
		list, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
		threads += len(list)
	}
	if threads > manyThreads && !r.opts.Event.Switches {
		switch ok, err := r.processors(); {
		case err != nil:
			return err
		case ok:
			return nil
		}
	}
	if !r.opts.Event.Switches {
		r.engine.fresh = map[int32]bool{}
	}
	for _, pid := range r.opts.PIDs {
		err := r.threads(pid)
		if errors.Is(err, unix.EMFILE) {
			return r.addAll(err)
		}
		if err != nil {
			return err
		}
	}
	return r.watch()
}

// watch has the group's Wait return when a process ends.
func (r *Recorder) watch() error {
	for _, p := range r.ends {
		if err := r.group.Watch(int(p.Fd)); err != nil {
			return fmt.Errorf("record: wait for the end of processes: %w", err)
		}
	}
	return nil
}

// addAll samples all of the machine, and takes the samples of the processes alone: that takes few
// files, however many threads they have. why is returned if it is not allowed.
func (r *Recorder) addAll(why error) error {
	r.group.Close() // it has all the files that may be open
	r.group = nil
	group, err := r.newGroup()
	if err != nil {
		return err
	}
	if err := group.AddAll(); err != nil {
		group.Close()
		return why
	}
	return r.use(group)
}

func (r *Recorder) newGroup() (*ring.Group, error) {
	return ring.NewGroup(ring.Options{Event: r.opts.Event, Frequency: uint64(r.opts.Frequency), UserRegs: r.opts.Arch.PerfMask(),
		StackSize: uint32(r.opts.StackSize), Kernel: true, NoIdle: len(r.opts.PIDs) > 0})
}

// threads samples the threads of a process. Those that they begin belong to them; others may have
// begun meanwhile, so threads looks until there are no more.
func (r *Recorder) threads(pid int) error {
	r.engine.begun = map[int32]bool{}
	defer func() { r.engine.begun = nil }()
	known := map[int]bool{}
	for added := true; added; {
		added = false
		entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
		if err != nil {
			return refused(fmt.Sprint("process ", pid), unix.ESRCH)
		}
		if err := r.read(ring.Now()); err != nil { // which says what threads have begun
			return err
		}
		for _, e := range entries {
			tid, err := strconv.Atoi(e.Name())
			if err != nil || known[tid] || r.engine.begun[int32(tid)] {
				continue
			}
			if err := r.group.AddThread(tid); err != nil && !errors.Is(err, unix.ESRCH) {
				if errors.Is(err, os.ErrPermission) && ofOther(pid) {
					return fmt.Errorf("record process %d: %w: it is another user's, or has more rights than you: run as root", pid, err)
				}
				return refused(fmt.Sprint("process ", pid), err)
			}
			known[tid], added = true, true
		}
	}
	// Records tell of all that is mapped from now on. Those that came before are of what /proc has,
	// too.
	if maps, err := r.machine.maps(pid); err == nil {
		m := &mapped{users: 1}
		m.set(r.engine, maps)
		r.engine.early[int32(pid)] = m
	}
	return nil
}

// ofOther reports whether root alone may sample a process, whatever the machine allows: /proc gives
// processes to root that have changed their user.
func ofOther(pid int) bool {
	var s unix.Stat_t
	return os.Geteuid() != 0 && unix.Stat(fmt.Sprintf("/proc/%d", pid), &s) == nil && int(s.Uid) != os.Geteuid()
}

const machineName = "this machine"

// clock is the time on the clock of the events.
func clock() time.Duration { return ring.Now() }

// refused says why the kernel does not sample something, and what to do about it.
func refused(what string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.ESRCH):
		return fmt.Errorf("record %s: no such process", what)
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		if what == machineName {
			return fmt.Errorf("record %s: %w: run as root, or allow it to all users (sysctl kernel.perf_event_paranoid=0)", what, err)
		}
		return fmt.Errorf("record %s: %w: run as root, or, if it is your own, allow perf_event_open(2) (sysctl kernel.perf_event_paranoid=2), or use --wall", what, err)
	case errors.Is(err, unix.ENOSYS):
		return fmt.Errorf("record %s: %w: a seccomp filter or the kernel has no perf_event_open(2): use --wall", what, err)
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENODEV):
		return fmt.Errorf("record %s: this machine does not count that event (virtual ones have no counters): the CPU clock is always there", what)
	case errors.Is(err, unix.EMFILE):
		return fmt.Errorf("record %s: %w: each thread takes one on each processor: raise the limit (ulimit -n)", what, err)
	}
	return fmt.Errorf("record %s: %w", what, err)
}

// These are how long the rings are left alone where none is half full: each look takes time from
// the processors that are sampled. Processes that have begun, or run another program, are looked at
// sooner, for they may end; and goroutines, for they change.
const (
	usualWait = 250 * time.Millisecond
	shortWait = 100 * time.Millisecond
)

func (r *Recorder) wait() time.Duration {
	switch {
	case r.engine.labelled:
		return labelsWait
	case r.engine.soon:
		return shortWait
	}
	return usualWait
}

// Run samples until ctx is done, the processes have ended, or [Options.Duration] is over. It may be
// called again.
func (r *Recorder) Run(ctx context.Context) error {
	r.mu.Lock()
	r.stopped, r.until = false, r.limit
	r.mu.Unlock()
	if r.wall != nil {
		return r.runWall(ctx)
	}
	for {
		full, err := r.group.Wait(min(r.wait(), max(r.until-ring.Now(), 0)))
		if err != nil {
			return fmt.Errorf("record: wait for samples: %w", err)
		}
		now := min(ring.Now(), r.until)
		ended := ctx.Err() != nil || now == r.until || !full && r.ended()
		if err := r.read(now); err != nil {
			return err
		}
		if ended {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.engine.allBack(uint64(now))
			r.until, r.stopped = now, true
			r.count()
			for _, s := range r.engine.spaces {
				s.sayUnreadable()
			}
			return nil
		}
		if r.shortLived() {
			if _, err := r.processors(); err != nil {
				return err
			}
		}
	}
}

// runWall is Run with [Options.Wall].
func (r *Recorder) runWall(ctx context.Context) error {
	err := r.wall.run(ctx, r.until-ring.Now())
	r.wall.watch.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.until, r.stopped = min(ring.Now(), r.until), true
	for _, s := range r.engine.spaces {
		s.sayUnreadable()
	}
	return err
}

// read takes the records up to now that there are.
func (r *Recorder) read(now time.Duration) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.engine.soon, r.engine.askedAll = false, false
	visit := r.engine.record
	if r.since > 0 {
		visit = func(x perfevent.Record) error {
			if r.engine.format.Time(x) < uint64(r.since) {
				return nil
			}
			return r.engine.record(x)
		}
	}
	if err := r.group.Read(now, visit); err != nil {
		return fmt.Errorf("record: the kernel's records: %w", err)
	}
	if now > r.since {
		r.since = 0 // records of before have been read
	}
	if r.engine.askedAll && r.engine.only != nil {
		r.findChildren()
	}
	r.engine.lookAtGoroutines(now)
	return nil
}

// findChildren adds the processes that sampled ones have begun to them: the record of one may be
// among the lost ones.
func (r *Recorder) findChildren() {
	var pids []int
	for pid := range r.engine.family {
		pids = append(pids, int(pid))
	}
	for _, pid := range withChildren(pids) {
		r.engine.family[int32(pid)] = true
	}
}

// ended reports whether all processes have ended.
func (r *Recorder) ended() bool {
	if len(r.ends) == 0 {
		return false
	}
	unix.Poll(r.ends, 0)
	return !slices.ContainsFunc(r.ends, func(p unix.PollFd) bool { return p.Revents == 0 })
}

// Stats says how the recording goes. It may be called while [Recorder.Run] runs.
func (r *Recorder) Stats() Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stats()
}

// Profile returns what was recorded so far, or since the last [Recorder.Take], and forgets nothing.
// It may be called while [Recorder.Run] runs.
func (r *Recorder) Profile() *Profile {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.profile()
}

// Take returns what was recorded since the last Take, or the beginning, and forgets it. Call it
// from time to time in a recording that goes on and on: what was taken counts no more for the bound
// of different stacks. Take counts no time of threads that are still off the processors: a later
// profile has it. Take may be called while [Recorder.Run] runs, and after it.
func (r *Recorder) Take() *Profile {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.profile()
	r.part++
	r.lost += r.engine.stats.Lost
	r.engine.reset()
	r.started, r.begin = r.started.Add(p.Duration), r.begin+p.Duration
	return p
}

// profile is Profile for a caller that holds mu.
func (r *Recorder) profile() *Profile {
	r.engine.lookAtAll()
	for _, text := range r.machine.leftOut() {
		r.engine.opts.Warn("%s", text)
	}
	return &Profile{Event: r.opts.Event, Frequency: r.opts.Frequency, Start: r.started, Duration: r.now() - r.begin, Threads: r.engine.list,
		Stats: r.stats(), Kernel: r.wall != nil || r.group.Kernel, stacks: r.engine.tree.now(), part: r.part, owners: maps.Clone(r.engine.owners)}
}

// Close ends the recording, and closes the files that [Profile.Picture] reads: call that before.
func (r *Recorder) Close() error {
	for _, p := range r.ends {
		unix.Close(int(p.Fd))
	}
	r.machine.close()
	if r.group == nil {
		return nil
	}
	return r.group.Close()
}
