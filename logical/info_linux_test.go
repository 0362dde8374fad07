package logical_test

import (
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/logical"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/sniffer/framebase"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/live"
)

var (
	frameText  = regexp.MustCompile(`frame at (0x[0-9a-f]+):`)
	pcText     = regexp.MustCompile(`(?:rip|pc) = (0x[0-9a-f]+)`)
	savedText  = regexp.MustCompile(`saved (?:rip|pc) = (0x[0-9a-f]+)`)
	calledText = regexp.MustCompile(`called by frame at (0x[0-9a-f]+)`)
	callerText = regexp.MustCompile(`caller of frame at (0x[0-9a-f]+)`)
	spText     = regexp.MustCompile(`Previous frame's sp ((?:is|at) 0x[0-9a-f]+)`)
	whereText  = regexp.MustCompile(`(?:rip|pc) = 0x[0-9a-f]+ in ([^\s;]+)`)
	langText   = regexp.MustCompile(`source language ([^.\n]+)\.\n`)
	intoText   = regexp.MustCompile(`inlined into frame (\d+)`)
	regText    = regexp.MustCompile(`(\w+) at (0x[0-9a-f]+)`)
)

// summary is what both debuggers tell of a frame.
func summary(at, pc, saved, called, caller, into, language, sp, function string, registers []string) string {
	return fmt.Sprint("at ", at, " pc ", pc, " saved ", saved, " called by ", called, " caller of ", caller, " inlined into ", into, " language ", language, " sp ", sp, " in ", function, " ", registers)
}

// gdbSummaries returns gdb's info frame of the first n physical frames.
func gdbSummaries(t *testing.T, pid, n int) (list []string) {
	args := []string{"-nx", "-batch", "-p", strconv.Itoa(pid)}
	for i := range n {
		args = append(args, "-ex", `echo \n@\n`, "-ex", "info frame level "+strconv.Itoa(i))
	}
	out, err := exec.Command(gdbtest.Tool(t, "gdb"), args...).CombinedOutput()
	if err != nil {
		t.Fatalf("gdb: %v: %s", err, out)
	}
	for _, text := range strings.Split(string(out), "\n@\n")[1:] {
		list = append(list, gdbSummary(text))
	}
	return list
}

// gdbSummary returns what an info frame of gdb's says.
func gdbSummary(text string) string {
	one := func(re *regexp.Regexp) string {
		if m := re.FindStringSubmatch(text); m != nil {
			return m[1]
		}
		return "-"
	}
	var registers []string
	if _, saved, ok := strings.Cut(text, "Saved registers:"); ok {
		for _, m := range regText.FindAllStringSubmatch(saved, -1) {
			switch {
			case strings.HasPrefix(m[1], "acr"), m[1] == "fpc": // of s390x; no call keeps them
				continue
			case m[1] == "pc", m[1] == "cpsr": // of arm64; gdb shows x30 alone, but for signals
				continue
			case m[1][0] == 'v': // arm64's d8 is the lower half of v8
				m[1] = "d" + m[1][1:]
			}
			registers = append(registers, m[1]+" "+m[2])
		}
	}
	slices.Sort(registers)
	function := one(whereText)
	if strings.Contains(text, "__restore_rt") {
		function = "-"
	}
	return summary(one(frameText), one(pcText), one(savedText), one(calledText), one(callerText), one(intoText), one(langText), one(spText), function, registers)
}

// What is known of each frame is what gdb's info frame shows, also of frames of signals and of
// inlined calls.
func TestInfo(t *testing.T) {
	gdbtest.NeedAMD64(t)
	for _, program := range []string{"chain.c", "inline.c", "sighandler.c normal middle", "sighandler.c alt middle", "sighandler.c normal fault"} {
		source, more, _ := strings.Cut(program, " ")
		for _, flags := range []string{"-g -O0", "-g -O1", "-g -O2", "-O0", "-O2"} {
			t.Run(program+" "+flags, func(t *testing.T) {
				if flags == "-g -O1" || flags == "-O0" {
					gdbtest.NeedSoak(t)
				}
				p := gdbtest.Start(t, gdbtest.Build(t, source, strings.Fields(flags)...), strings.Fields(more)...)
				var got []string
				inlined := 0
				each(t, p.PID, 0, func(f *logical.Frame, table *frame.Table, symbols *symbol.Symbolizer) bool {
					info := f.Info(table, symbols)
					got = append(got, ourSummary(info))
					if info.Type == frame.Inline {
						inlined++
					}
					return f.Function != "main" // gdb ends stacks there
				})
				want := gdbSummaries(t, p.PID, len(got)-1) // main's caller is none of gdb's frames
				if len(want) < 3 || source == "inline.c" && strings.HasPrefix(flags, "-g") && inlined < 4 {
					t.Fatalf("gdb has %d frames, %d calls are inlined", len(want), inlined)
				}
				for i := range want {
					if got[i] != want[i] {
						t.Errorf("frame %d:\n%s, gdb has\n%s", i, got[i], want[i])
					}
				}
			})
		}
	}
}

// The last frame of a stack with a limit has the PC to which it returns, and the registers that it
// has saved.
func TestInfoAtLimit(t *testing.T) {
	gdbtest.NeedAMD64(t)
	p := gdbtest.Start(t, gdbtest.Build(t, "chain.c", "-g", "-O2"))
	type found struct {
		saved, sp uint64
		registers []logical.SavedRegister
		stop      frame.StopReason
		called    bool
	}
	infos := func(limit int) (list []found) {
		each(t, p.PID, limit, func(f *logical.Frame, table *frame.Table, symbols *symbol.Symbolizer) bool {
			info := f.Info(table, symbols)
			if info.SavedPC == nil || info.PreviousSP == nil {
				t.Fatalf("limit %d, frame %d: %v", limit, f.Level, info)
			}
			list = append(list, found{*info.SavedPC, *info.PreviousSP, info.Saved, info.Stop, info.CalledBy != nil})
			return f.Function != "main"
		})
		return list
	}
	whole := infos(0) // TestInfo compares it with gdb's
	for limit := 1; limit < len(whole); limit++ {
		got := infos(limit)
		last := got[len(got)-1]
		if len(got) != limit || last.stop != frame.Limit || last.called {
			t.Errorf("limit %d: %d frames, the last is %+v", limit, len(got), last)
		}
		if want := whole[limit-1]; last.saved != want.saved || last.sp != want.sp || !slices.Equal(last.registers, want.registers) {
			t.Errorf("limit %d: %+v, without limit %+v", limit, last, want)
		}
	}
}

// each calls visit with the frames of a process's first thread, until it returns false.
func each(t *testing.T, pid, limit int, visit func(*logical.Frame, *frame.Table, *symbol.Symbolizer) bool) {
	t.Helper()
	tg, err := live.Attach(context.Background(), pid, live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	eachOf(t, tg, limit, visit)
}

// eachOf is each for any target.
func eachOf(t *testing.T, tg target.Target, limit int, visit func(*logical.Frame, *frame.Table, *symbol.Symbolizer) bool) {
	t.Helper()
	threads, err := tg.Threads()
	if err != nil {
		t.Fatal(err)
	}
	symbols := symbol.New(symbol.Options{})
	defer symbols.Close()
	table := sniffer.Table(tg.Arch())
	table.AppendBase(&framebase.Sniffer{Symbols: symbols})
	stack, err := frame.New(tg, threads[0], table)
	if err != nil {
		t.Fatal(err)
	}
	stack.Limit = limit
	for f, err := range logical.New(tg, symbols).All(stack) {
		if err != nil || !visit(&f, table, symbols) {
			return
		}
	}
}

func ourSummary(info logical.Info) string {
	addr := func(v *uint64) string {
		if v == nil {
			return "-"
		}
		return fmt.Sprintf("%#x", *v)
	}
	id := func(v *frame.ID) string {
		if v == nil {
			return "-"
		}
		return fmt.Sprintf("%#x", v.Stack)
	}
	into, language := "-", cmp.Or(info.Language, "-")
	if info.InlinedInto != nil {
		into = strconv.Itoa(*info.InlinedInto)
	}
	function := info.Places[0].Function
	if function == "" || info.Type == frame.SigTramp {
		function = "-"
	}
	var registers []string
	for _, s := range info.Saved {
		switch s.Name {
		case "eflags", "cs", "pc", "cpsr", "pstate": // gdb shows no such register, or only at times
			continue
		}
		if info.SavedSP != nil && s.Addr == *info.SavedSP {
			continue
		}
		registers = append(registers, fmt.Sprintf("%s %#x", s.Name, s.Addr))
	}
	slices.Sort(registers)
	sp := "-"
	if info.SavedSP != nil {
		sp = fmt.Sprintf("at %#x", *info.SavedSP)
	} else if info.PreviousSP != nil {
		sp = fmt.Sprintf("is %#x", *info.PreviousSP)
	}
	return summary(id(&info.ID), addr(&info.PC), addr(info.SavedPC), id(info.CalledBy), id(info.CallerOf), into, language, sp, function, registers)
}
