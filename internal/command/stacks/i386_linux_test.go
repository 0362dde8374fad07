package stacks_test

import (
	"context"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/sniffers"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/target/live"
)

// plain386 are the flags of an ordinary optimized build for 32-bit x86, which has no SFrame.
var plain386 = []string{"-g", "-O2", "-fomit-frame-pointer"}

func with(flags []string, more ...string) []string { return append(more, flags...) }

// targets386 are the programs of 32-bit x86 whose stacks are compared with gdb's.
var targets386 = []struct {
	name  string
	src   string
	flags []string
	args  []string
}{
	{name: "plain", src: "chain.c", flags: plain386},
	{name: "O0", src: "chain.c", flags: []string{"-g", "-O0"}},
	{name: "O1", src: "chain.c", flags: []string{"-g", "-O1"}},
	{name: "O3", src: "chain.c", flags: []string{"-g", "-O3"}},
	{name: "no PIE", src: "chain.c", flags: with(plain386, "-no-pie", "-fno-pie")},
	{name: "frame pointers", src: "chain.c", flags: []string{"-g", "-O2", "-fno-omit-frame-pointer"}},
	{name: "no debug information", src: "chain.c", flags: []string{"-O2", "-fomit-frame-pointer"}},
	{name: "static, stripped", src: "chain.c", flags: []string{"-O2", "-fomit-frame-pointer", "-static", "-s"}},
	{name: "static-pie, stripped", src: "chain.c", flags: []string{"-O2", "-fomit-frame-pointer", "-static-pie", "-s"}},
	{name: "static, no .eh_frame_hdr", src: "chain.c", flags: []string{"-O2", "-g", "-static", "-Wl,--no-eh-frame-hdr"}},
	{name: "handler on the normal stack", src: "sighandler.c", flags: plain386, args: []string{"normal", "fault"}},
	{name: "handler on an alternate stack", src: "sighandler.c", flags: plain386, args: []string{"alt", "fault"}},
	{name: "handler, middle of a function", src: "sighandler.c", flags: plain386, args: []string{"alt", "middle"}},
	{name: "handler, asynchronous", src: "sighandler.c", flags: plain386, args: []string{"alt", "async"}},
	{name: "handler, raised", src: "sighandler.c", flags: plain386, args: []string{"normal", "raise"}},
	{name: "handler in a handler", src: "sighandler.c", flags: plain386, args: []string{"alt", "nested"}},
	{name: "handler with siginfo", src: "sighandler.c", flags: plain386, args: []string{"normal", "fault", "siginfo"}},
	{name: "handler with siginfo, alternate stack", src: "sighandler.c", flags: plain386, args: []string{"alt", "nested", "siginfo"}},
	{name: "handler without restorer", src: "sighandler.c", flags: plain386, args: []string{"normal", "fault", "vdso"}},
	{name: "handler without restorer, alternate stack", src: "sighandler.c", flags: plain386, args: []string{"alt", "middle", "vdso"}},
	{name: "handler with siginfo, without restorer", src: "sighandler.c", flags: plain386, args: []string{"alt", "nested", "siginfo", "vdso"}},
	{name: "handler, static and stripped", src: "sighandler.c", flags: []string{"-O2", "-fomit-frame-pointer", "-static", "-s"}, args: []string{"alt", "raise"}},
	{name: "frames above 64 KiB", src: "bigframe.c", flags: plain386},
	{name: "alloca, realigned, DRAP", src: "realign.c", flags: with(plain386, "-mavx2")},
	{name: "tail calls", src: "tailcall.c", flags: plain386},
	{name: "noreturn", src: "noreturn.c", flags: with(plain386, "-falign-functions=1", "-fno-toplevel-reorder", "-fno-reorder-functions")},
	{name: "inlined calls", src: "inline.c", flags: plain386},
	{name: "200 threads", src: "threads.c", flags: plain386},
	{name: "C++ in libstdc++", src: "cxxwait.cc", flags: plain386},
	{name: "recursion", src: "recurse.c", flags: plain386, args: []string{"20000"}},
	{name: "call of NULL", src: "nullcall.c", flags: plain386},
}

// TestGDB386 is TestGDB for processes of 32-bit x86. Both walkers must come to the same frames,
// too.
func TestGDB386(t *testing.T) {
	for i, tt := range targets386 {
		t.Run(tt.name, func(t *testing.T) {
			gdbtest.Share(t, i)
			p := gdbtest.Start(t, gdbtest.Build386(t, tt.src, tt.flags...), tt.args...)
			commandtest.CompareAll(t, commandtest.Take(t, p.PID, &report.Flags{Explain: true}), gdbtest.Backtrace(t, p.PID))
			walkersAgree(t, p.PID)
		})
	}
}

// TestAddresses386: addresses have as many digits as in gdb's backtrace.
func TestAddresses386(t *testing.T) {
	p := gdbtest.Start(t, gdbtest.Build386(t, "chain.c", plain386...))
	pid := strconv.Itoa(p.PID)
	gdb, err := exec.Command(gdbtest.Tool(t, "gdb"), "-nx", "-batch", "-p", pid, "-ex", "bt").Output()
	if err != nil {
		t.Fatal(err)
	}
	address := regexp.MustCompile(`(?m)^#\d+ +(0x[0-9a-f]+) in `)
	want := address.FindAllStringSubmatch(string(gdb), -1)
	text, _, err := commandtest.Run("attach", pid)
	if err != nil || len(want) < 4 {
		t.Fatalf("%v\n%s", err, gdb)
	}
	for _, m := range want {
		if !strings.Contains(text, " "+m[1]+" in ") {
			t.Errorf("no frame is at %s:\n%s", m[1], text)
		}
	}
}

// walkersAgree walks all stacks of a process by both walkers, with each sniffer alone and in the
// default order.
func walkersAgree(t *testing.T, pid int) {
	t.Helper()
	process, err := live.Attach(context.Background(), pid, live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer process.Close()
	threads, err := process.Threads()
	if err != nil {
		t.Fatal(err)
	}
	for _, names := range [][]string{nil, {"dwarf"}, {"prologue"}, {"fp-guess"}} {
		table := (&report.Flags{Choice: sniffers.Choice{Order: names}}).Table(process.Arch(), false, nil)
		for _, th := range threads[:min(len(threads), 20)] {
			if err := walktest.New(process.Modules(), table).Check(process, th); err != nil {
				t.Errorf("thread %d, sniffers %q: %v", th.ID(), names, err)
			}
		}
	}
}
