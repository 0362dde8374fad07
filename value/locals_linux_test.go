package value_test

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/valuetest"
	"github.com/sfwalk/sfwalk/logical"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/core"
	"github.com/sfwalk/sfwalk/target/live"
	"github.com/sfwalk/sfwalk/value"
	"github.com/sfwalk/sfwalk/value/printers"
)

// opened is a target that the caller closes.
type opened interface {
	target.Target
	Close() error
}

func openCore(t testing.TB, path string) opened {
	t.Helper()
	c, err := core.Open(path, core.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func attach(t testing.TB, pid int) opened {
	t.Helper()
	l, err := live.Attach(context.Background(), pid, live.Options{Values: true})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// eachFrame calls a function with the values in each frame of each thread, and closes the target.
func eachFrame(t testing.TB, tg opened, visit func(th target.Thread, f *logical.Frame, in *value.Frame)) {
	t.Helper()
	defer tg.Close()
	symbols := symbol.New(symbol.Options{Entries: true})
	defer symbols.Close()
	threads, err := tg.Threads()
	if err != nil {
		t.Fatal(err)
	}
	reader, view, table := value.NewReader(tg, symbols, printers.All()), logical.New(tg, symbols), sniffer.Table(tg.Arch())
	for _, th := range threads {
		stack, err := frame.New(tg, th, table)
		if err != nil {
			t.Fatal(err)
		}
		memory := target.MemoryOf(tg, th)
		for f, err := range view.All(stack) {
			if err != nil {
				break
			}
			in, err := reader.Frame(&f, memory)
			if err != nil {
				t.Errorf("#%d %s: %v", f.Level, f.Function, err)
			}
			visit(th, &f, &in)
			in.Release()
		}
	}
}

// locals returns the texts of all variables, and which of them are lost.
func locals(t testing.TB, tg opened, p *value.Printer) (threads []gdbtest.FullThread, lost map[valuetest.Lost]bool) {
	t.Helper()
	lost = make(map[valuetest.Lost]bool)
	var types [][]frame.Type
	eachFrame(t, tg, func(th target.Thread, f *logical.Frame, in *value.Frame) {
		if n := len(threads); n == 0 || threads[n-1].TID != th.ID() {
			threads, types = append(threads, gdbtest.FullThread{TID: th.ID()}), append(types, nil)
		}
		n := len(threads) - 1
		full := gdbtest.FullFrame{Level: f.Level, Function: f.Function, Place: f.File + ":" + strconv.Itoa(f.Line)}
		if in.Known {
			if !p.Raw {
				in.HideDictionary()
			}
			full.Args = p.Arguments(in)
			for i := range in.Locals {
				name, text, _ := strings.Cut(p.Local(&in.Locals[i]), " = ")
				full.Locals = append(full.Locals, gdbtest.FullLocal{Name: name, Text: text})
			}
			for _, v := range slices.Concat(in.Arguments, in.Locals) {
				name, at := p.Shown(&v)
				if strings.Contains(at.Why(), "not saved") {
					lost[valuetest.Lost{TID: th.ID(), Level: f.Level, Name: name}] = true
				}
				if strings.HasPrefix(name, valuetest.VLALength) && strings.HasSuffix(p.Local(&v), " = <not saved>") {
					lost[valuetest.Lost{TID: th.ID(), Level: f.Level, Name: valuetest.VLALength}] = true
				}
			}
		}
		threads[n].Frames, types[n] = append(threads[n].Frames, full), append(types[n], f.Type)
	})
	for i := range threads {
		loseFrames(&threads[i], types[i], lost)
	}
	return threads, lost
}

// loseFrames notes what is lost of frames that others are inlined into, or that have left by a
// jump.
func loseFrames(th *gdbtest.FullThread, types []frame.Type, lost map[valuetest.Lost]bool) {
	note := func(level int, name string) { lost[valuetest.Lost{TID: th.TID, Level: level, Name: name}] = true }
	tail := false // the function that further frames are inlined into has left by a jump
	for i, f := range slices.Backward(th.Frames) {
		if tail = types[i] == frame.TailCall || tail && types[i] == frame.Inline; !tail {
			continue
		}
		for _, v := range f.Arguments() {
			note(f.Level, valuetest.Jumped+v.Name)
			note(f.Level-1, valuetest.Jumped+v.Name+"@entry")
		}
	}
	inner := true // all frames so far are inlined calls
	for i, f := range th.Frames {
		if inner {
			note(f.Level, valuetest.InnermostCode)
		}
		if types[i] == frame.Inline {
			note(f.Level, valuetest.InlinedCall)
		}
		inner = inner && types[i] == frame.Inline
	}
}

// raw and pretty are how values are written where the terminal takes all characters.
var (
	raw    = &value.Printer{UTF8: true, Raw: true}
	pretty = &value.Printer{UTF8: true}
)

// localsAsGDB compares the variables of a program that waits, in a core file and live, with gdb's
// bt full. Only frames of functions that begin with own count.
func localsAsGDB(t *testing.T, program, own string, counts *valuetest.Tally, p *value.Printer, options ...gdbtest.FullOption) {
	t.Helper()
	t.Setenv("LC_ALL", "C.UTF-8") // for gdb
	counts.Constants = valuetest.ByteConstants(t, program)
	process := gdbtest.Start(t, program)
	dump := filepath.Join(t.TempDir(), "core")
	want := valuetest.Parse(t, gdbtest.Full(t, process.PID, dump, options...))
	for i := range want {
		for n := range want[i].Frames {
			if f := &want[i].Frames[n]; !strings.HasPrefix(f.Function, own) {
				f.Args, f.Locals = "", nil
			}
		}
	}
	for _, tg := range []opened{openCore(t, dump), attach(t, process.PID)} {
		got, lost := locals(t, tg, p)
		counts.Add(t, gdbtest.CompareFull(want, got), lost)
	}
}

// printed returns what an expression is in the frames of a function, as GDB's print writes it, or
// the error.
func printed(t testing.TB, tg opened, function, expression string, p *value.Printer) (texts []string) {
	t.Helper()
	eachFrame(t, tg, func(_ target.Thread, f *logical.Frame, in *value.Frame) {
		if f.Function != function && !strings.HasPrefix(f.Function, function+"(") {
			return
		}
		v, err := in.Evaluate(expression)
		if err != nil {
			texts = append(texts, err.Error())
			return
		}
		texts = append(texts, p.Print(&v))
	})
	return texts
}
