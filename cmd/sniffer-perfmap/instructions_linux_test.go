//go:build linux && amd64

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/plugin"
	"github.com/sfwalk/sfwalk/target/procmaps"
	"github.com/sfwalk/sfwalk/trad"
)

// At every instruction of running JavaScript, a row gives the address to which the present call
// returns, the frame pointer there, and the other registers that it mentions. They equal the values
// that the processor's own calls and returns show. The same is true of the caller.
func TestEveryInstruction(t *testing.T) {
	gdbtest.NeedAMD64(t)
	t.Chdir(t.TempDir()) // V8 leaves a log
	p := gdbtest.StartRunning(t, gdbtest.Tool(t, "node"), "--perf-basic-prof", "--interpreted-frames-native-stack", filepath.Join(source, "testdata", "busy.js"))
	name := fmt.Sprintf("/tmp/perf-%d.map", p.PID)
	t.Cleanup(func() { os.Remove(name) })
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	l := &listing{path: name, file: f, format: func() format { return &perfMap{} }}
	if err := l.update(firstReading); err != nil {
		t.Fatal(err)
	}
	x := &stepped{t: t, said: map[uint64]plugin.Answer{}, right: map[string]int{}}
	x.session = session{reader: readAMD64, listings: []*listing{l}, modules: modulesOf(t, p.PID), memo: new(memo)}
	enough, most := 8000, 1_000_000
	if os.Getenv("SFWALK_SOAK") != "" {
		enough, most = 1_000_000, 50_000_000
	}
	trace(t, p.PID, most, func(now *tracer) bool { // part of it may be in the garbage collector
		x.see(now)
		return x.right["frame 0"] < enough
	})

	if x.right["frame 0"] < enough || x.right["caller"] < enough/10 || x.declined > enough/10 {
		t.Errorf("%v rows were right, %d times there was none", x.right, x.declined)
	}
	t.Logf("%v rows were right, %d times there was none; %d rows for ranges", x.right, x.declined, len(x.rows))
}

// stepped compares answers with a thread that is stepped.
type stepped struct {
	t        *testing.T
	session  session
	rows     []plugin.Answer // answers with rows for ranges
	said     map[uint64]plugin.Answer
	right    map[string]int // by whether it was frame 0
	declined int
}

func (s *stepped) see(x *tracer) {
	s.session.memory = x
	n := len(x.calls)
	if n == 0 || x.throwing {
		return
	}
	top := x.calls[n-1]
	s.check("frame 0", x, x.regs.Rip, x.calls)
	if n > 1 && x.regs.Rsp == top.raAt { // the function has just been called
		s.check("caller", x.caller(top), top.ra-1, x.calls[:n-1])
	}
}

// check checks the row for block, to which the last of calls has led.
func (s *stepped) check(what string, x *tracer, block uint64, calls []activation) {
	a := s.ask(x, block)
	switch {
	case a.Why == unlisted:
		return
	case a.Row == nil:
		s.declined++
		return
	}
	ra, fp, others, err := prev(*a.Row, x)
	n := len(calls)
	want := calls[n-1]
	if formOf(readAMD64, a.Symbols[0].Function) == calledTwice {
		if n == 1 {
			return
		}
		caller := calls[n-2]
		if ra != want.ra {
			want = caller // the builtin stands for its caller
		} else if saved, _ := x.Word(fp); saved == want.fp {
			if at, _ := x.Word(fp + 8); at == caller.ra {
				want.fp = fp // the caller's frame is set up
			}
		}
	}
	caller := tracer{regs: want.regs}
	for r, v := range others {
		if at, _ := caller.Register(r); v != at {
			s.t.Errorf("%s at %#x in %s: register %d is %#x, not %#x", what, block, a.Symbols[0].Function, r, at, v)
		}
		s.right["others"]++
	}
	if err == nil && ra == want.ra && fp == want.fp {
		s.right[what]++
		return
	}
	s.t.Errorf("%s at %#x in %s: %s says the caller is at %#x with rbp %#x (%v); it is at %#x with %#x",
		what, block, a.Symbols[0].Function, a.Row.Format(amd64.Arch.RegName), ra, fp, err, want.ra, want.fp)
}

// ask asks like the host: once for the range of each row.
func (s *stepped) ask(x *tracer, block uint64) plugin.Answer {
	if a, ok := s.said[block]; ok {
		return a
	}
	for _, a := range s.rows {
		if a.Row.Contains(block) {
			return a
		}
	}
	q := &plugin.Query{PC: x.regs.Rip, AddressInBlock: block, Registers: x.all()}
	for i := range s.session.modules {
		if _, ok := around(&s.session.modules[i], block); ok {
			q.Module = &s.session.modules[i]
		}
	}
	a := s.session.Sniff(q)
	s.said[block] = a
	if a.Row != nil && a.Row.Flags&trad.Once == 0 {
		s.rows = append(s.rows, a)
	}
	return a
}

// modulesOf returns a process's mapped files, as the host describes them.
func modulesOf(t *testing.T, pid int) (list []plugin.Module) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		t.Fatal(err)
	}
	maps, err := procmaps.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range procmaps.Files(maps) {
		m := plugin.Module{Path: f.Path}
		for _, x := range f.Mappings {
			m.Mappings = append(m.Mappings, plugin.Mapping{Range: plugin.Range{Lo: x.Lo, Hi: x.Hi}, Offset: x.Offset, Exec: x.Exec})
		}
		list = append(list, m)
	}
	return list
}
