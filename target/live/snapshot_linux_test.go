package live

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/gdbtest"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

var _ target.Target = (*Target)(nil)

// Registers are the same as gdb reads afterwards of the same blocked process.
func TestRegistersAsGDB(t *testing.T) {
	p := gdbtest.Start(t, build(t, "idle.c"), "3")
	target := attach(t, p.PID)
	names := "" // gdb's "all" lacks some registers at times
	for _, info := range hostArch.Regs {
		names += " " + info.Name
	}
	out := output(t, exec.Command(gdbtest.Tool(t, "gdb"), "-nx", "-batch", "-iex", "set debuginfod enabled off",
		"-p", strconv.Itoa(p.PID), "-ex", "thread apply all info registers"+names))
	threads := regexp.MustCompile(`(?m)^Thread \d+ \(Thread 0x[0-9a-f]+ \(LWP (\d+)\)\)|^Thread \d+ .*LWP (\d+)`)
	// gdb prints floating-point registers as "{f = 0x0, u = 0x0, s = 0x0}" on arm64 and "0 (raw
	// 0x0000000000000000)" on s390x.
	value := regexp.MustCompile(`(?m)^([a-z0-9_]+) +(?:[^\n]*(?: u = |\(raw ))?(0x[0-9a-f]+)[ ,)]`)
	got := make(map[int]map[string]uint64)
	heads := threads.FindAllStringSubmatchIndex(out, -1)
	for i, h := range heads {
		end := len(out)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		m := threads.FindStringSubmatch(out[h[0]:end])
		tid, _ := strconv.Atoi(m[1] + m[2])
		if got[tid] == nil {
			got[tid] = make(map[string]uint64)
		}
		for _, v := range value.FindAllStringSubmatch(out[h[1]:end], -1) {
			got[tid][v[1]], _ = strconv.ParseUint(v[2], 0, 64)
		}
	}
	if len(got) != 4 {
		t.Fatalf("gdb shows %d threads:\n%s", len(got), out)
	}
	last := 0
	for i, th := range threadsOf(t, target) {
		r, want := registersOf(t, th), got[th.ID()]
		for _, info := range target.Arch().Regs {
			v, ok := r.Get(info.Num)
			if w, has := want[info.Name]; !has || !ok || v != w {
				t.Errorf("thread %d: %s = %#x (%v), gdb has %#x (%v)", th.ID(), info.Name, v, ok, w, has)
			}
		}
		if i == 0 && th.ID() != p.PID || th.ID() <= last {
			t.Errorf("thread %d comes after %d, the main one is %d", th.ID(), last, p.PID)
		}
		if last = th.ID(); th.Name() != "idle" {
			t.Errorf("thread %d is named %q", th.ID(), th.Name())
		}
	}
}

func TestMemory(t *testing.T) {
	p := start(t, "idle.c")
	addr := address(t, p)
	tg := attach(t, p.PID)
	mem := tg.Memory()
	var word [8]byte
	if _, err := mem.ReadMemory(addr, word[:]); err != nil || hostArch.Order.Uint64(word[:]) != 0x1122334455667788 {
		t.Errorf("word at %#x = %x, %v", addr, word, err)
	}
	// The kernel's own file has the same bytes at every readable address.
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", p.PID))
	if err != nil {
		t.Fatal(err)
	}
	maps, err := procmaps.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	direct, err := os.Open(fmt.Sprintf("/proc/%d/mem", p.PID))
	if err != nil {
		t.Fatal(err)
	}
	defer direct.Close()
	read := 0
	for _, m := range maps {
		if !m.Read || strings.HasPrefix(m.Path, "[v") && m.Path != "[vdso]" || m.Path == "[stack]" {
			continue
		}
		want := make([]byte, m.Hi-m.Lo)
		if n, err := direct.ReadAt(want, int64(m.Lo)); n != len(want) {
			t.Logf("%+v: %v", m, err)
			continue
		}
		got := make([]byte, len(want))
		if n, err := mem.ReadMemory(m.Lo, got); n != len(got) || err != nil || !bytes.Equal(got, want) {
			t.Errorf("%#x-%#x %s: %d bytes, %v", m.Lo, m.Hi, m.Path, n, err)
		}
		var wg sync.WaitGroup
		for start := range 3 { // small pieces, by several readers
			wg.Go(func() {
				var b [5]byte
				for at := 0; at+8 < len(want); at += 997 {
					if n, err := mem.ReadMemory(m.Lo+uint64(at+start), b[:]); n != 5 || err != nil || !bytes.Equal(b[:], want[at+start:at+start+5]) {
						t.Errorf("%#x: % x, %v", m.Lo+uint64(at+start), b, err)
						return
					}
				}
			})
		}
		wg.Wait()
		read += len(want)
	}
	if read < 1<<20 {
		t.Errorf("only %d bytes were compared", read)
	}

	for _, at := range []uint64{0, 8, 1 << 47, 1 << 63, ^uint64(0) - 3} {
		if n, err := mem.ReadMemory(at, word[:]); n != 0 || !errors.Is(err, target.ErrUnmapped) {
			t.Errorf("%d bytes at %#x, %v", n, at, err)
		}
	}
	// A read that runs into a gap gives the bytes before it.
	end := maps[len(maps)-1].Hi
	for _, m := range maps {
		if m.Path == "[stack]" {
			end = m.Hi
		}
	}
	for _, size := range []int{16, 100 << 10} {
		b := make([]byte, size)
		if n, err := mem.ReadMemory(end-10, b); n != 10 || !errors.Is(err, target.ErrUnmapped) {
			t.Errorf("%d bytes at the end of the stack: %d, %v", size, n, err)
		}
	}
}

// Once the process has ended, the copies still serve. The errors of other reads say why they fail.
func TestExited(t *testing.T) {
	p := start(t, "idle.c")
	addr := address(t, p)
	tg := attach(t, p.PID)
	sp, _ := registersOf(t, threadsOf(t, tg)[0]).Get(hostArch.SP)
	if err := p.Exit(t); err != nil {
		t.Fatal(err)
	}
	var word [8]byte
	if _, err := tg.Memory().ReadMemory(sp, word[:]); err != nil {
		t.Errorf("read the copied stack: %v", err)
	}
	_, err := tg.Memory().ReadMemory(addr, word[:])
	wantError(t, err, ErrExited, fmt.Sprintf("read memory of process %d at %#x: process has ended", p.PID, addr))
	if !errors.Is(err, target.ErrUnmapped) {
		t.Errorf("%v is not ErrUnmapped", err)
	}
	for _, m := range tg.Modules().All() { // also files and the vDSO
		if _, _, err := m.Image(); err != nil {
			t.Errorf("module after the process's end: %v", err)
		}
	}
	tg.Close()
	if _, err := tg.Memory().ReadMemory(addr, word[:]); !errors.Is(err, target.ErrUnmapped) {
		t.Errorf("read of a closed target: %v", err)
	}
}

// If a handler runs on an alternate stack, the interrupted stack is copied, too.
func TestAlternateStack(t *testing.T) {
	t.Run("siginfo", func(t *testing.T) { testAlternateStack(t, "siginfo") })
	t.Run("no siginfo", func(t *testing.T) { testAlternateStack(t) })
}

func testAlternateStack(t *testing.T, args ...string) {
	p := start(t, "altstack.c", args...)
	local := address(t, p)
	p.Rest(t) // until the handler blocks
	tg := attach(t, p.PID)
	th := threadsOf(t, tg)[1]
	sp, _ := registersOf(t, th).Get(hostArch.SP)
	if local-sp < 1<<20 {
		t.Fatalf("SP %#x is not on another stack than %#x", sp, local)
	}
	got := copied(tg.memory.(*memory), local)
	if len(got) < 8 || hostArch.Order.Uint64(got) != 0x5ca1ab1e0ddba11 {
		t.Fatalf("the interrupted function's local at %#x is not in the copies: % x", local, got[:min(len(got), 8)])
	}
}

// A thread in vfork is in uninterruptible sleep. The others are read, and for it the kernel tells
// PC and SP.
func TestUninterruptible(t *testing.T) {
	p := start(t, "vforks.c")
	gdbtest.Await(t, "the main thread waits for vfork", func() bool {
		return strings.HasPrefix(field(t, p.PID, p.PID, "State"), "D")
	})
	tg := attach(t, p.PID)
	threads := threadsOf(t, tg)
	if len(threads) != 2 || threads[1].Err != nil {
		t.Fatalf("threads: %+v", threads)
	}
	wantError(t, threads[0].Err, ErrNotStopped, fmt.Sprintf("thread %d cannot be stopped: it is in uninterruptible sleep (state D)", p.PID))
	r := registersOf(t, threads[0])
	pc, _ := r.Get(hostArch.PC)
	if m := tg.Modules().Find(pc); r.Known.Len() != 2 || m == nil {
		t.Errorf("PC of the main thread is %#x (%d registers)", pc, r.Known.Len())
	} else if lo, _, ok := m.Function(pc); !ok {
		t.Errorf("PC of the main thread, %#x, is in no function of %s", pc, m.Path)
	} else if im, bias, err := m.Image(); err != nil {
		t.Error(err)
	} else if s, _ := im.Symbols().Find(lo - bias); !strings.Contains(im.Symbols().Name(s), "vfork") {
		t.Errorf("the main thread is in %s, want vfork", im.Symbols().Name(s))
	}
	letGo(t, p.PID)
	if held := threads[1].Held; held > DefaultTimeout/2 {
		t.Errorf("the other thread was held for %v", held)
	}
	if err := p.Exit(t); err != nil {
		t.Fatal(err)
	}
}

// The main thread has ended; the process lives on in another.
func TestMainThreadEnded(t *testing.T) {
	p := start(t, "leader.c")
	tg := attach(t, p.PID)
	threads := threadsOf(t, tg)
	if len(threads) != 1 || threads[0].ID() == p.PID || threads[0].Err != nil {
		t.Fatalf("threads: %+v", threads)
	}
	r := registersOf(t, threads[0])
	if pc, _ := r.Get(hostArch.PC); !tg.Modules().IsCode(pc) {
		t.Errorf("PC %#x is not in code", pc)
	}
	var b [8]byte
	for _, m := range tg.Modules().All() {
		if _, _, err := m.Image(); err != nil {
			t.Error(err)
		}
		if _, err := tg.Memory().ReadMemory(m.Lo(), b[:]); err != nil {
			t.Error(err)
		}
	}
	if err := p.Exit(t); err != nil {
		t.Fatal(err)
	}
}

// Copies leave out the unmapped memory, and nothing else, however many there are.
func TestCopyMemory(t *testing.T) {
	p := start(t, "idle.c")
	tg := attach(t, p.PID)
	f := tg.files.(*files)
	text, err := f.proc.readFile("maps")
	if err != nil {
		t.Fatal(err)
	}
	maps, err := procmaps.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	there := func(addr uint64) bool {
		i, holds := procmaps.Find(maps, addr)
		return holds && maps[i].Read && !strings.HasPrefix(maps[i].Path, "[vv")
	}
	var parts []span
	for i, m := range maps {
		// These are around every end of a mapping, and many small pieces of one mapping.
		if m.Read && m.Hi-m.Lo > 1<<18 && len(parts) < 3000 {
			for at := m.Lo; at < m.Hi-0x1000; at += 512 {
				parts = append(parts, span{at, at + 24})
			}
		}
		if m.Hi>>47 == 0 && (i+1 == len(maps) || maps[i+1].Lo > m.Hi+0x4000) {
			parts = append(parts, span{m.Hi - 0x808, m.Hi + 0x2404})
		}
	}
	if len(parts) < 3000 {
		t.Fatalf("only %d parts", len(parts))
	}
	for _, way := range []string{"process_vm_readv", "mem"} {
		pid := p.PID
		if way == "mem" {
			pid = 1 << 30 // no such process: refused
		}
		blocks, _ := f.copyMemory(pid, slices.Clone(parts))
		var m memory
		m.add(blocks...)
		for _, s := range parts {
			for at := s.lo; at < s.hi; at++ {
				got := copied(&m, at)
				if (got != nil) != there(at) {
					t.Fatalf("%s: %#x of %#x-%#x is copied: %v, is mapped: %v", way, at, s.lo, s.hi, got != nil, there(at))
				}
				var b [1]byte
				if got != nil && at%97 == 0 {
					if _, err := f.mem.ReadAt(b[:], int64(at)); err != nil || b[0] != got[0] {
						t.Fatalf("%s: %#x is %#x, want %#x, %v", way, at, got[0], b[0], err)
					}
				}
			}
		}
	}
}

// Reads by process ID, used if /proc/PID/mem cannot be opened, give the same bytes.
func TestMemoryByID(t *testing.T) {
	p := start(t, "idle.c")
	addr := address(t, p)
	tg := attach(t, p.PID)
	f := tg.files.(*files)
	f.mem.Close()
	f.mem = nil
	var word [8]byte
	if _, err := tg.Memory().ReadMemory(addr, word[:]); err != nil || hostArch.Order.Uint64(word[:]) != 0x1122334455667788 {
		t.Errorf("word at %#x = %x, %v", addr, word, err)
	}
	if _, err := tg.Memory().ReadMemory(8, word[:]); !errors.Is(err, target.ErrUnmapped) || errors.Is(err, ErrExited) {
		t.Errorf("read at 8: %v", err)
	}
	p.Exit(t)
	if _, err := tg.Memory().ReadMemory(addr+1<<16, word[:]); !errors.Is(err, ErrExited) {
		t.Errorf("after the end: %v", err)
	}
}

func BenchmarkAttach(b *testing.B) {
	for _, threads := range []int{1, 200} {
		b.Run(fmt.Sprintf("threads=%d", threads), func(b *testing.B) {
			p := gdbtest.Start(b, build(b, "idle.c"), strconv.Itoa(threads-1))
			b.ReportAllocs()
			var total, longest time.Duration
			for b.Loop() {
				target, err := Attach(context.Background(), p.PID, Options{})
				if err != nil {
					b.Fatal(err)
				}
				total += target.Pause
				longest = max(longest, target.Pause)
				target.Close()
			}
			b.ReportMetric(float64(total.Microseconds())/float64(b.N), "pause-µs/op")
			b.ReportMetric(float64(longest.Microseconds()), "pause-max-µs")
		})
	}
}

func BenchmarkReadWord(b *testing.B) {
	p := gdbtest.Start(b, build(b, "idle.c"))
	tg := attach(b, p.PID)
	var r arch.Registers
	if err := threadsOf(b, tg)[0].Registers(&r); err != nil {
		b.Fatal(err)
	}
	for name, addr := range map[string]uint64{"stack": r.Value[hostArch.SP], "code": r.Value[hostArch.PC]} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var word [8]byte
			for b.Loop() {
				if _, err := tg.Memory().ReadMemory(addr, word[:]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Threads that nobody asked for are not stopped.
func TestOnlySomeThreads(t *testing.T) {
	eachWay(t, func(t *testing.T, opts Options) {
		p := start(t, "idle.c", "5")
		all := threadsOf(t, attach(t, p.PID))
		opts.Threads = []int{all[2].ID(), all[4].ID()}
		t.Cleanup(func() { hookStopped = func() {} })
		hookStopped = func() {
			for _, th := range all {
				// The kernel shows the state t for a thread that a tracer has stopped.
				if field(t, p.PID, th.ID(), "State")[0] == 't' && !slices.Contains(opts.Threads, th.ID()) {
					t.Errorf("thread %d is stopped", th.ID())
				}
			}
		}
		tg := attachBy(t, p.PID, opts)
		var got []int
		for _, th := range threadsOf(t, tg) {
			got = append(got, th.ID())
			if r := registersOf(t, th); th.Err != nil || !r.Known.Has(hostArch.PC) {
				t.Errorf("thread %d: %v", th.ID(), th.Err)
			}
		}
		if !slices.Equal(got, opts.Threads) {
			t.Errorf("threads %d, want %d", got, opts.Threads)
		}
		letGo(t, p.PID)
		opts.Threads = []int{all[1].ID(), 1}
		_, err := Attach(context.Background(), p.PID, opts)
		wantError(t, err, ErrNoThread, fmt.Sprintf("attach %d: thread 1: the process has no such thread", p.PID))
		letGo(t, p.PID)
	})
}
