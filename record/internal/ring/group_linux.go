package ring

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/format/perfevent"
)

// Options say what a [Group] samples.
type Options struct {
	Event     perfevent.Event
	Frequency uint64 // samples a second of the event's time; 0 for each Period
	Period    uint64 // events from one sample to the next, where Frequency is 0
	UserRegs  uint64 // the registers to copy, as the kernel numbers them for this processor; all must exist
	StackSize uint32 // bytes of the stack to copy, a multiple of 8; at most [perfevent.MaxStack]
	// Kernel says that samples in the kernel's code are wanted, too. Without the privilege that
	// this takes, they are left out, and [Group.Kernel] says so.
	Kernel bool
	// NoIdle says that samples of processors with nothing to do are left out, where the event is
	// the processor's time.
	NoIdle bool
	// Ring is the size of each processor's ring buffer in bytes, a power of two; 0 for 8 MiB, or
	// less where all together would take more than 64 MiB. Where the limit on locked memory is
	// less, the buffers are smaller.
	Ring int
}

// Group are the events of some threads, or of all of the machine, with a ring buffer for each
// processor. One goroutine at a time uses it.
type Group struct {
	Format perfevent.Format
	// Kernel says that there are samples in the kernel's code.
	Kernel bool

	attr     unix.PerfEventAttr
	switches bool // Event.Switches
	cpus     []int
	rings    []*ring // one for each of cpus
	fds      []int   // of events that have no ring of their own
	waiter   *waiter
}

// maxRings bounds the ring buffers of all processors together, where nobody says how large each is,
// bytes.
const maxRings = 64 << 20

// NewGroup makes a Group without threads.
func NewGroup(opts Options) (*Group, error) {
	cpus, err := online()
	if err != nil {
		return nil, err
	}
	w, err := newWaiter()
	if err != nil {
		return nil, err
	}
	g := &Group{cpus: cpus, Kernel: opts.Kernel, waiter: w}
	g.attr = unix.PerfEventAttr{
		Type: opts.Event.Type, Config: opts.Event.Config, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
		Sample_type: perfevent.SampleIdentifier | perfevent.SampleIP | perfevent.SampleTID | perfevent.SampleTime | perfevent.SampleCPU | perfevent.SamplePeriod | perfevent.SampleCallchain,
		Bits: unix.PerfBitInherit | unix.PerfBitMmap | unix.PerfBitMmap2 | unix.PerfBitComm | unix.PerfBitCommExec | unix.PerfBitTask |
			unix.PerfBitSampleIDAll | unix.PerfBitUseClockID | unix.PerfBitWatermark | unix.PerfBitExcludeHv | unix.PerfBitExcludeGuest,
		Clockid:     unix.CLOCK_MONOTONIC,
		Read_format: perfevent.ReadLost, // for Lost
		Sample:      opts.Period,
	}
	if opts.Frequency != 0 {
		g.attr.Bits |= unix.PerfBitFreq
		g.attr.Sample = opts.Frequency
	}
	if opts.Event.Switches {
		g.attr.Bits = g.attr.Bits&^unix.PerfBitFreq | unix.PerfBitContextSwitch
		g.attr.Sample = 1
	}
	g.switches = opts.Event.Switches
	if opts.UserRegs != 0 {
		g.attr.Sample_type |= perfevent.SampleRegsUser | perfevent.SampleStackUser
		g.attr.Sample_regs_user, g.attr.Sample_stack_user = opts.UserRegs, opts.StackSize
	}
	if !opts.Kernel {
		g.attr.Bits |= unix.PerfBitExcludeKernel
	}
	if clock := opts.Event.Type == unix.PERF_TYPE_SOFTWARE && opts.Event.Config == unix.PERF_COUNT_SW_CPU_CLOCK; clock && opts.NoIdle {
		g.attr.Bits |= unix.PerfBitExcludeIdle
	}
	size := opts.Ring
	if size == 0 {
		for size = 8 << 20; size > 512<<10 && size*len(cpus) > maxRings; size /= 2 {
		}
	}
	for range cpus {
		g.rings = append(g.rings, &ring{fd: -1, size: size})
	}
	g.Format = perfevent.Format{SampleType: g.attr.Sample_type, UserRegs: g.attr.Sample_regs_user, IDAll: true}
	return g, nil
}

// online returns the numbers of the processors that run, from /sys/devices/system/cpu/online:
// "0-3,8".
func online() (cpus []int, err error) {
	const file = "/sys/devices/system/cpu/online"
	b, err := os.ReadFile(file)
	if err != nil { // a container may hide it
		for cpu := range runtime.NumCPU() {
			cpus = append(cpus, cpu)
		}
		return cpus, nil
	}
	for part := range strings.SplitSeq(strings.TrimSpace(string(b)), ",") {
		first, last, isRange := strings.Cut(part, "-")
		lo, err := strconv.Atoi(first)
		hi := lo
		if err == nil && isRange {
			hi, err = strconv.Atoi(last)
		}
		if err != nil || hi < lo || hi > 1<<16 {
			return nil, fmt.Errorf("%s: %q is no list of processors", file, b)
		}
		for cpu := lo; cpu <= hi; cpu++ {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}

// AddThread samples a thread from now on, and all that it begins. The error is the kernel's: ESRCH
// if the thread has ended, EACCES or EPERM if it may not be sampled, EMFILE if too many files would
// be open.
func (g *Group) AddThread(tid int) error { return g.add(tid) }

// AddAll samples all of the machine from now on.
func (g *Group) AddAll() error { return g.add(-1) }

func (g *Group) add(tid int) error {
	for i, cpu := range g.cpus {
		fd, err := g.open(tid, cpu)
		if errors.Is(err, unix.ENODEV) { // the processor has just been taken away
			continue
		}
		if err == nil {
			err = g.direct(fd, g.rings[i])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (g *Group) open(tid, cpu int) (fd int, err error) {
	for {
		fd, err = unix.PerfEventOpen(&g.attr, tid, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
		switch {
		case err == nil:
			return fd, nil
		case (errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM)) && !g.switches && g.attr.Bits&unix.PerfBitExcludeKernel == 0:
			g.attr.Bits |= unix.PerfBitExcludeKernel
			g.Kernel = false
		case errors.Is(err, unix.EMFILE) && moreFiles():
		case errors.Is(err, unix.EINVAL) && g.attr.Read_format != 0: // before Linux 6.0
			g.attr.Read_format = 0
		default:
			return -1, err
		}
	}
}

// moreFiles raises the limit of open files as far as this user may, and reports whether that was
// more.
func moreFiles() bool {
	var lim unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &lim) != nil || lim.Cur >= lim.Max {
		return false
	}
	lim.Cur = lim.Max
	return unix.Setrlimit(unix.RLIMIT_NOFILE, &lim) == nil
}

// direct has an event write into the ring of its processor. The first event of each makes it.
func (g *Group) direct(fd int, r *ring) error {
	if r.fd >= 0 {
		g.fds = append(g.fds, fd)
		return unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_SET_OUTPUT, r.fd)
	}
	if err := r.open(fd); err != nil {
		unix.Close(fd)
		return err
	}
	return g.waiter.add(fd)
}

// Watch has [Group.Wait] return when a file becomes readable: one of pidfd_open(2) when its process
// has ended.
func (g *Group) Watch(fd int) error { return g.waiter.add(fd) }

// Wait waits until a ring is half full, a file that is watched becomes readable, or for some time.
// It reports whether a ring is half full. It may miss a file that becomes readable between two
// calls.
func (g *Group) Wait(timeout time.Duration) (full bool, err error) {
	isFull := func() bool { return slices.ContainsFunc(g.rings, (*ring).halfFull) }
	err = g.waiter.wait(timeout, isFull)
	return isFull(), err
}

// Read calls visit with the records of all rings that were written before now, the oldest first. A
// record is valid until visit returns. The error is visit's.
func (g *Group) Read(now time.Duration, visit func(perfevent.Record) error) error {
	for _, r := range g.rings {
		r.look()
	}
	for {
		var oldest *ring
		for _, r := range g.rings {
			r.peek(&g.Format)
			if r.has && r.time <= uint64(now) && (oldest == nil || r.time < oldest.time) {
				oldest = r
			}
		}
		if oldest == nil {
			break
		}
		err := visit(oldest.next)
		oldest.pass()
		if err != nil {
			return err
		}
	}
	return nil
}

// Now returns the time on the clock of the events.
func Now() time.Duration {
	zero := clockZero()
	return zero.clock + time.Since(zero.time)
}

// clockZero is one moment on the clock of the events, and on package time's clock, which goes at
// the same pace and takes no system call. The thread may have to wait between the two. So the clock
// of the events is read first, and several times: records that [Now] says are of the past have all
// been written.
var clockZero = sync.OnceValue(func() (zero struct {
	time  time.Time
	clock time.Duration
}) {
	least := time.Duration(math.MaxInt64)
	for range 5 {
		before := clock()
		now := time.Now()
		if between := clock() - before; between < least {
			least, zero.time, zero.clock = between, now, before
		}
	}
	return zero
})

// clock reads the clock of the events.
func clock() time.Duration {
	var t unix.Timespec
	unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // which all kernels have
	return time.Duration(t.Nano())
}

// Processors returns how many processors are sampled.
func (g *Group) Processors() int { return len(g.cpus) }

// Totals returns how much of the event there was so far, in its unit and of all threads together,
// whether it is in a sample or not; and how many records, of samples and all others, did not fit
// into the rings. A ring has a record that says so only when another one has come after the loss,
// and so a ring that is written to no more has none; the kernel itself knows, from Linux 6.0 on.
// What a ring had that was no record counts as one, too.
func (g *Group) Totals() (count, lost uint64) {
	for _, r := range g.rings {
		lost += r.broken
	}
	fds := slices.Clip(g.fds)
	for _, r := range g.rings {
		if r.fd >= 0 {
			fds = append(fds, r.fd)
		}
	}
	var b [16]byte // the event's count, and how many records it has lost
	for _, fd := range fds {
		got, err := unix.Read(fd, b[:])
		if err == nil && got >= 8 {
			count += binary.NativeEndian.Uint64(b[:])
		}
		if err == nil && got == len(b) {
			lost += binary.NativeEndian.Uint64(b[8:])
		}
	}
	return count, lost
}

// Close ends the events.
func (g *Group) Close() error {
	for _, fd := range g.fds {
		unix.Close(fd)
	}
	for _, r := range g.rings {
		r.close()
	}
	return g.waiter.close()
}
