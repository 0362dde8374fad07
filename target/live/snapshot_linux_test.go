package live

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target"
)

var _ target.Target = (*Target)(nil)

// Registers are the same as gdb reads afterwards of the same blocked process.
func TestRegistersAsGDB(t *testing.T) {
	p := gdbtest.Start(t, build(t, "idle.c"), "3")
	target := attachBy(t, p.PID, Options{Timeout: patience, Values: true})
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
