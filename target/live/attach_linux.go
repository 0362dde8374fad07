//go:build amd64 || arm64 || s390x

package live

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// hookStopped is called while all threads are stopped. Tests set it.
var hookStopped = func() {}

// Attach takes a picture of the process pid: its threads are stopped, read, and
// resumed before it returns. The error wraps one of the errors of this package
// where the process cannot be attached to, or ctx's where that ended it early;
// the process runs on in every case. A process that was stopped (SIGSTOP, job
// control) stays stopped.
//
// A program that attaches to its own child must not wait for it meanwhile (also
// not by [os/exec.Cmd.Wait]): to a parent that waits, the kernel reports the stop
// as if the child's end.
func Attach(ctx context.Context, pid int, opts Options) (*Target, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("attach %d: %w", pid, context.Cause(ctx))
	}
	p, err := check(pid)
	if err != nil {
		return nil, err
	}
	timeout := opts.Timeout
	if timeout <= 0 {
		timeout = DefaultTimeout
	}
	s := snapshot{tracer: tracer{proc: p}, files: &files{proc: p}, taken: time.Now()}
	s.tracer.prepare = s.files.prepare
	all := true
	onOwnThread(func() {
		defer func() { all = s.tracer.detachAll() }()
		s.tracer.deadline = time.Now().Add(timeout)
		if err = s.tracer.stopAll(ctx); err == nil {
			err = s.take()
		}
	})
	if !all {
		awaitThreadEnd(s.tracer.self)
	}
	var r *refusal
	switch {
	case err == nil:
		return s.target()
	case errors.Is(err, ErrExited):
		err = refuse(ErrExited, pid, "the process has ended while it was attached to")
	case !errors.As(err, &r) && ctx.Err() == nil:
		err = fmt.Errorf("attach %d: %w", pid, err)
	}
	s.files.Close()
	return nil, err
}

// awaitThreadEnd waits until a thread of our own has ended, and with it whatever
// it traced has been let go.
func awaitThreadEnd(tid int) {
	for range 1000 {
		if unix.Tgkill(unix.Getpid(), tid, 0) != nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// snapshot is a picture while it is taken.
type snapshot struct {
	tracer tracer
	files  *files
	memory memory
	maps   []procmaps.Mapping
	taken  time.Time

	pacMask uint64 // of code addresses; 0 where there is none
}

// take reads what must be of one moment. All threads are stopped.
func (s *snapshot) take() error {
	hookStopped()
	room, masked := make([]byte, maxRegisterSet), false
	leader := 0 // a thread to read the address space by: the main one may have ended
	for _, x := range s.tracer.tracees {
		switch x.state {
		case stopped:
			x.readRegisters(room)
			if !masked && x.state == stopped { // all threads have one mask
				masked, s.pacMask = true, readPACMask(x.tid, room)
			}
		case failed:
			s.blockedRegisters(x)
		}
		if leader == 0 && (x.state == stopped || x.state == failed) {
			leader = x.tid
		}
	}
	if leader == 0 {
		return ErrExited
	}
	if err := s.files.openAll(leader); err != nil {
		return err
	}
	text, err := s.files.readMaps(leader)
	if err != nil {
		return err
	}
	if s.maps, err = procmaps.Parse(text); err != nil {
		return err
	}
	if len(s.maps) == 0 {
		return ErrExited
	}
	s.copyStacks(leader)
	return nil
}

// readRegisters reads the registers of a stopped thread.
func (x *tracee) readRegisters(room []byte) {
	err := readRegisters(x.tid, &x.regs, room)
	pc, sp := x.regs.Value[hostArch.PC], x.regs.Value[hostArch.SP]
	switch {
	case errors.Is(err, unix.ESRCH):
		x.state = gone // killed
	case errors.Is(err, errShortRegisters):
		x.err = &refusal{Err32Bit, fmt.Sprintf("thread %d: %v", x.tid, err)}
	case err != nil:
		x.err = fmt.Errorf("thread %d: read registers: %w", x.tid, err)
	case pc == 0 && sp == 0:
		x.err = &refusal{ErrNoUserContext, fmt.Sprintf("thread %d is a worker of the kernel's (io_uring, vhost): it has no user stack", x.tid)}
		x.regs = arch.Registers{}
	}
}

// blockedRegisters finds out PC and SP of a thread that could not be stopped,
// which the kernel tells of one that is blocked (proc_pid_syscall(5)).
func (s *snapshot) blockedRegisters(x *tracee) {
	text, err := s.tracer.proc.readFile(taskFile(x.tid, "syscall"))
	if err != nil {
		return
	}
	f := strings.Fields(string(text)) // "NUMBER [ARGS] SP PC", or "running"
	if len(f) < 3 {
		return
	}
	sp, err1 := strconv.ParseUint(f[len(f)-2], 0, 64)
	pc, err2 := strconv.ParseUint(f[len(f)-1], 0, 64)
	if err1 == nil && err2 == nil && sp != 0 {
		x.regs.Set(hostArch.SP, sp)
		x.regs.Set(hostArch.PC, pc)
	}
}

// copyStacks copies the used part of every thread's stack, the stacks that were
// interrupted by handlers on alternate stacks, and the vDSO, which has no file.
func (s *snapshot) copyStacks(leader int) {
	var sps []uint64
	for _, x := range s.tracer.tracees {
		if sp, ok := x.regs.Get(hostArch.SP); ok && x.state != gone {
			sps = append(sps, sp)
		}
	}
	var want []span
	for _, m := range s.maps {
		if m.Path == "[vdso]" {
			want = append(want, span{m.Lo, m.Hi})
		}
	}
	left := uint64(copyLimit)
	for range maxSwitches {
		for _, sp := range sps {
			if w, ok := stackSpan(s.maps, sp, uint64(hostArch.RedZone)); ok {
				want = append(want, w)
			}
		}
		parts := s.memory.missing(want)
		fit(parts, left)
		blocks, n := s.files.copyMemory(leader, parts)
		s.memory.add(blocks)
		left -= n

		outer := sps[:0]
		for _, sp := range sps {
			if v, ok := interruptedSP(hostArch, sp, s.memory.copied(sp)); ok {
				outer = append(outer, v)
			}
		}
		if sps, want = outer, want[:0]; len(sps) == 0 {
			return
		}
	}
}

// target makes the result, after the process has been let go.
func (s *snapshot) target() (*Target, error) {
	t := &Target{PID: s.tracer.proc.pid, Exe: s.files.exePath, arch: hostArch.WithPACMask(s.pacMask), memory: &s.memory, files: s.files}
	for _, x := range s.tracer.tracees {
		t.Pause = max(t.Pause, x.held)
		if x.state != gone {
			t.threads = append(t.threads, &Thread{Err: x.err, Held: x.held, id: x.tid, name: x.name, regs: x.regs})
		}
	}
	slices.SortFunc(t.threads, func(a, b *Thread) int {
		if a.id == t.PID || b.id == t.PID {
			return btoi(b.id == t.PID) - btoi(a.id == t.PID)
		}
		return a.id - b.id
	})
	s.memory.live = &pages{pid: t.PID, fetch: s.files.fetch}
	s.files.memory = &s.memory
	t.modules = s.files.modules(s.maps)
	t.maps, t.taken = s.maps, s.taken
	return t, nil
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// readMaps reads the address space's mappings, in as few calls as the kernel allows.
func (f *files) readMaps(tid int) ([]byte, error) {
	file, err := f.proc.openat(taskFile(tid, "maps"), unix.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	b := bytes.NewBuffer(f.mapsRoom)
	if _, err := b.ReadFrom(file); err != nil {
		return nil, fmt.Errorf("read maps: %w", err)
	}
	return b.Bytes(), nil
}
