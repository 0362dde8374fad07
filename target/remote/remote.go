package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/linkmap"
	"github.com/sfwalk/sfwalk/internal/sysroot"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// DefaultTimeout bounds the time that Dial, and each exchange after it, waits for one answer of the
// stub.
const DefaultTimeout = 5 * time.Second

// Options configure a connection. The zero Options serves well for a stub that describes itself.
type Options struct {
	// Exe is the program's file on this machine. If it is "", the file is looked for at the
	// program's path.
	Exe string
	// Sysroot is the folder that has the target's files by their paths; "" means this machine's own
	// root.
	Sysroot string
	// Timeout bounds the time that each answer may take; 0 means [DefaultTimeout].
	Timeout time.Duration
	// Limit bounds the time from Dial on; 0 means no bound. Exchanges after that fail with
	// [ErrLimit], but Close still lets the target go.
	Limit time.Duration
	// ThreadLimit bounds the time that the stub may take for reads of one thread's
	// [Thread.StackMemory]; 0 means no bound. Reads after that fail with [ErrLimit].
	ThreadLimit time.Duration
	// Arch is the target's architecture. If it is nil, the stub's description decides, or else Exe.
	Arch *arch.Arch
	// Resume makes Close let the target go on even if Dial found it stopped.
	Resume bool
	// Control asks the stub to tell of everything by which a debugger that writes keeps a process
	// whole: forks, exec, threads that end. Exchanges go on when Dial's ctx has ended, and after
	// Limit.
	Control bool
}

// Target is a stopped process or machine that a stub controls. It is safe for concurrent use. It
// implements [target.Target].
type Target struct {
	PID int
	Exe string // the program's path as the stub tells it, or else Options.Exe

	// StopSignal is the number of the signal that stopped the target, as Linux numbers signals; 0
	// if none did. StopName is its name.
	StopSignal int
	StopName   string
	// Running says that the target ran when Dial connected. Close lets it go on then.
	Running bool

	s       *session
	arch    *arch.Arch
	layout  *layout
	threads []*Thread
	modules *target.Modules
	maps    []procmaps.Mapping // of files and code, that modules were made of; nil if the stub does not tell
	objects []linkmap.Object   // the same, where that is so
	memory  *memory
	files   *sysroot.Files

	threadLimit time.Duration

	mu   sync.Mutex
	regs map[*Thread]*arch.Registers
	noP  bool // the stub does not know the packet P
}

// Dial connects to a stub at HOST:PORT, tcp:HOST:PORT or unix:PATH, and stops the
// target if it runs. The caller closes the target. When ctx ends, so does every
// exchange; Close still lets the target go.
func Dial(ctx context.Context, addr string, o Options) (*Target, error) {
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	fail := func(err error) (*Target, error) { return nil, fmt.Errorf("remote %s: %w", addr, err) }
	network, place := "tcp", strings.TrimPrefix(addr, "tcp:")
	if path, ok := strings.CutPrefix(addr, "unix:"); ok {
		network, place = "unix", path
	} else if _, _, err := net.SplitHostPort(place); err != nil {
		return fail(errors.New("want HOST:PORT or unix:PATH"))
	}
	dialer := net.Dialer{Timeout: o.Timeout}
	conn, err := dialer.DialContext(ctx, network, place)
	if err != nil {
		var op *net.OpError
		if errors.As(err, &op) {
			err = op.Err
		}
		return fail(fmt.Errorf("cannot connect: %w", err))
	}
	t, err := connect(ctx, conn, addr, o)
	if err != nil {
		return fail(err)
	}
	return t, nil
}

// connect describes the target at the other end of a connection.
func connect(ctx context.Context, conn net.Conn, addr string, o Options) (*Target, error) {
	s := &session{addr: addr, link: newLink(ctx, conn, o.Timeout)}
	t := &Target{s: s, regs: map[*Thread]*arch.Registers{}, threadLimit: o.ThreadLimit}
	if t.s.link.limit = o.Limit; o.Limit > 0 {
		t.s.link.end = t.s.link.now().Add(o.Limit)
	}
	t.s.control = o.Control
	if err := t.start(o); err != nil {
		t.s.leave(t.Running, t.PID)
		return nil, err
	}
	if o.Control {
		t.s.link.ctx, t.s.link.limit = context.Background(), 0
	}
	return t, nil
}

// start describes the target.
func (t *Target) start(o Options) error {
	if err := t.s.start(); err != nil {
		return err
	}
	stopped, ran, err := t.s.stopped()
	t.Running = ran || o.Resume
	if err != nil {
		return err
	}
	t.PID = stopped.thread.pid
	if !ran && t.s.isMachine() {
		// An emulated machine stands still because we have connected.
		t.Running = true
	}
	t.StopSignal, t.StopName = t.s.linuxSignal(stopped.signal)
	if t.threads, err = t.s.listThreads(stopped); err != nil {
		return err
	}
	if t.PID == 0 {
		t.PID = t.threads[0].id.pid
	}
	if err := t.askLLDB(); err != nil {
		return err
	}
	for _, th := range t.threads {
		th.t = t
	}
	regs, err := t.describe(o)
	if err != nil {
		return err
	}
	if t.layout, err = newLayout(t.arch, regs); err != nil {
		return err
	}
	t.findMisplaced()
	if err := t.readMask(); err != nil {
		return err
	}
	t.memory = newMemory(t.s)
	return t.load(o)
}

// isMachine reports whether the stub belongs to a system emulator: only in that mode qemu answers
// this packet.
func (s *session) isMachine() bool {
	reply, err := s.exchange("qqemu.PhyMemMode")
	return err == nil && len(reply) == 1
}

// Arch returns the target's architecture. If the stub tells the target's address mask, Arch has
// that one.
func (t *Target) Arch() *arch.Arch { return t.arch }

// Memory returns the target's address space.
func (t *Target) Memory() target.Memory { return t.memory }

// Modules returns what is mapped, as far as the stub tells.
func (t *Target) Modules() *target.Modules { return t.modules }

// Threads returns the threads, each a [*Thread]. The one that stopped comes first. The error is
// always nil.
func (t *Target) Threads() ([]target.Thread, error) {
	list := make([]target.Thread, len(t.threads))
	for i, th := range t.threads {
		list[i] = th
	}
	return list, nil
}

// Warnings returns what the user should know about the answers so far, one sentence each.
func (t *Target) Warnings() []string {
	list := t.files.Warnings()
	t.s.mu.Lock()
	if errors.Is(t.s.link.broken, ErrLimit) {
		list = append(list, fmt.Sprintf("%v: what was not read by then is missing", t.s.link.broken))
	}
	t.s.mu.Unlock()
	t.memory.mu.Lock()
	defer t.memory.mu.Unlock()
	for _, th := range t.threads {
		if th.over {
			list = append(list, fmt.Sprintf("thread %d: %v: it is not shown to its end", th.ID(), th.overtime()))
		}
	}
	return list
}

// Close closes the connection. If the target ran when Dial connected, it goes on. Else it stays
// stopped if the stub leaves it so without a debugger: gdbserver does, qemu's user emulation lets
// it go on.
func (t *Target) Close() error {
	t.files.Close()
	return t.s.leave(t.Running, t.PID)
}

// registers reads a thread's registers, and keeps them until the target runs.
func (t *Target) registers(th *Thread, to *arch.Registers) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.regs[th]
	if r == nil {
		r = &arch.Registers{}
		if err := t.readRegisters(th, r); err != nil {
			return fmt.Errorf("registers of thread %d: %w", th.ID(), err)
		}
		t.regs[th] = r
	}
	*to = *r
	return nil
}

// readRegisters asks for all registers at once. It asks one by one for registers that this answer
// lacks.
func (t *Target) readRegisters(th *Thread, r *arch.Registers) error {
	general, err := t.general(th)
	if err != nil {
		return err
	}
	for _, p := range t.layout.get(t.arch, general, r) {
		reply, err := t.s.exchange(fmt.Sprintf("p%x", p.num))
		if err != nil {
			return err
		}
		if len(reply) == 2*p.bytes {
			if v, ok := value(t.arch, reply); ok {
				r.Set(p.reg, v)
			}
		}
	}
	return nil
}

// general selects a thread and returns the stub's answer to g, which is kept until the target runs.
func (t *Target) general(th *Thread) ([]byte, error) {
	if err := t.s.selectThread(th.id.text); err != nil {
		return nil, err
	}
	if th.general != nil {
		return th.general, nil
	}
	reply, err := t.s.exchange("g")
	if err != nil {
		return nil, err
	}
	if len(reply) == 0 || reply[0] == 'E' {
		return nil, fmt.Errorf("the stub answers %q", short(reply))
	}
	th.general = reply
	return reply, nil
}

// readMask asks which bits of a code address hold a pointer authentication code.
func (t *Target) readMask() error {
	for _, num := range t.layout.mask {
		if err := t.s.selectThread(t.threads[0].id.text); err != nil {
			return err
		}
		reply, err := t.s.exchange(fmt.Sprintf("p%x", num))
		if err != nil {
			return err
		}
		if mask, ok := value(t.arch, reply); ok {
			t.arch = t.arch.WithPACMask(mask)
		}
	}
	return nil
}
