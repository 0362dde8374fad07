package stub_test

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch/abi"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/inferior/stub"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/target/remote"
	"github.com/sfwalk/sfwalk/trad"
)

//go:embed testdata/runs.py
var runsPy string

var (
	schar = &abi.Type{Kind: abi.Integer, Size: 1, Signed: true}
	pair  = &abi.Type{Kind: abi.Struct, Size: 16, Align: 8, Members: []abi.Member{{Type: long}, {Type: long, Offset: 8}}}
	large = &abi.Type{Kind: abi.Struct, Size: 72, Align: 8, Members: []abi.Member{{Type: &abi.Type{Kind: abi.Array, Size: 72, Elem: long, Count: 9}}}}
)

var resultTypes = map[string]*abi.Type{"long": long, "double": double, "schar": schar, "pair": pair, "large": large}

// commands are gdb's, but for 'to', which runs to a function. Where finish is given a type, the
// value is compared.
var commands = strings.Split(`to leaf
finish 0 long
finish 0 long
finish 0 long
to mean
finish 0 double
to both
finish 0 pair
to many
finish 0 large
to small
finish 0 schar
nexti
nexti
nexti
to catcher
finish 0 long
to raises
finish 0 long
finish 0 long
to calls_all
`+strings.Repeat("nexti\n", 70)+`to leaf
finish 2
to mean
return 0 double 6.5
to both
to small
return 0 schar -3
to raises
to leaf`, "\n")

// handled runs out of a signal handler. gdb 16 fails there, but on amd64.
var handled = strings.Split(`finish 4
return 0 long 9
finish 0
finish 2 long`, "\n")

// registers and stack after a command, and the value of finish.
type after struct {
	PC     string
	SP     int64 // how far in from main's
	Value  []float64
	Result uint64
}

// What gdb does in one run of a program, we do in another.
func TestRunsAsGDB(t *testing.T) {
	for _, processor := range processors {
		t.Run(processor, func(t *testing.T) {
			t.Parallel()
			p := buildProgram(t, processor, "frames.c")
			commands := commands
			if processor == "amd64" {
				commands = append(slices.Clone(commands), handled...)
			}
			script := gdbtest.StartScript(t, "gdb-multiarch", runsPy, map[string]any{
				"names": map[string]string{}, "stub": strings.TrimPrefix(p.serve(t), "unix:"), "commands": commands,
				"types": map[string]string{"long": "long", "double": "double", "schar": "signed char"},
			}, p.path)
			run := p.runner(t)
			values := 0
			for i, command := range commands {
				var want after
				record := script.Next(t)
				if err := json.Unmarshal(record, &want); err != nil {
					t.Fatal(err)
				}
				got := run.execute(t, command)
				if want.Value == nil || len(got.Value) == 0 {
					got.Value = want.Value // gdb does not know where a result in memory is on some processors
				}
				values += len(want.Value)
				if got.PC != want.PC || got.SP != want.SP || got.Result != want.Result || !slices.Equal(got.Value, want.Value) {
					t.Fatalf("command %d, %s: got %+v, gdb has %+v", i, command, got, want)
				}
			}
			script.Next(t)
			if values < 9 {
				t.Errorf("only %d values were compared", values)
			}
		})
	}
}

// runs is a program whose main thread a Runner runs.
type runs struct {
	p      *program
	held   *stub.Process
	thread inferior.Thread
	*inferior.Runner
	base uint64 // SP in main
}

func (p *program) runner(t *testing.T) *runs {
	held := dial(t, p.serve(t), remote.Options{})
	x := &runs{p: p, held: held, thread: p.to(t, held, "main")}
	x.Runner = inferior.NewRunner(held, x.thread, sniffer.Table(held.Arch()))
	x.base = x.register(t, held.Arch().SP)
	return x
}

func (x *runs) register(t *testing.T, r trad.Reg) uint64 {
	t.Helper()
	b, err := inferior.RegisterBytes(x.thread, r, 8)
	if err != nil {
		t.Fatal(err)
	}
	return x.held.Arch().Order.Uint64(b)
}

// frame returns a frame of the thread's stack.
func (x *runs) frame(t *testing.T, level int) *frame.Frame {
	t.Helper()
	f, err := x.Frame(level)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (x *runs) execute(t *testing.T, command string) (a after) {
	t.Helper()
	words := strings.Fields(command)
	var run inferior.Run
	var err error
	want := inferior.Returned
	switch words[0] {
	case "to":
		x.to(t, words[1])
		want = run.End
	case "finish":
		level, _ := strconv.Atoi(words[1])
		run, err = x.UntilReturn(t.Context(), x.frame(t, level).ID())
	case "nexti":
		run, err = x.StepOver(t.Context())
		want = inferior.Arrived
	case "return":
		level, _ := strconv.Atoi(words[1])
		typ := resultTypes[words[2]]
		value, _ := strconv.ParseFloat(words[3], 64)
		b := make([]byte, 8)
		switch order := x.held.Arch().Order; {
		case typ == double:
			order.PutUint64(b, math.Float64bits(value))
		case typ == schar:
			b = []byte{byte(int(value))}
		default:
			order.PutUint64(b, uint64(int64(value)))
		}
		err = x.Return(x.frame(t, level), &abi.Func{Result: typ}, b)
		want = run.End
	}
	if err != nil || run.End != want && (words[0] != "nexti" || run.End != inferior.Returned) {
		t.Fatalf("%s: %+v, %v", command, run, err)
	}
	if words[0] == "finish" && len(words) > 2 {
		a.Value = x.value(t, resultTypes[words[2]])
	} else {
		a.Value = []float64{}
	}
	a.PC, a.SP = fmt.Sprintf("%x", x.register(t, x.held.Arch().PC)), int64(x.base-x.register(t, x.held.Arch().SP))
	a.Result = variable(t, x.held, x.p.symbols["result"])
	return a
}

// to runs to a function. Signals are delivered.
func (x *runs) to(t *testing.T, function string) {
	t.Helper()
	at := x.p.symbols[function]
	if err := x.held.SetBreakpoint(at); err != nil {
		t.Fatal(err)
	}
	r := inferior.Resume{}
	e := resume(t, x.held, r)
	for ; e.Kind == inferior.Signalled; e = resume(t, x.held, r) {
		r = inferior.Resume{Thread: e.Thread, Signal: e.Signal.Number}
	}
	if e.Kind != inferior.Breakpoint || e.TID != x.thread.ID() || x.register(t, x.held.Arch().PC) != at {
		t.Fatalf("event %+v, want the breakpoint at %s, %#x", e, function, at)
	}
	if err := x.held.ClearBreakpoint(at); err != nil {
		t.Fatal(err)
	}
}

// value returns the numbers of what a function has returned; none if that is not known.
func (x *runs) value(t *testing.T, typ *abi.Type) (list []float64) {
	b, err := x.Result(&abi.Func{Result: typ})
	if err != nil {
		if typ != large || x.p.processor == "amd64" {
			t.Error(err)
		}
		return nil
	}
	if typ == schar {
		return []float64{float64(int8(b[0]))}
	}
	for ; len(b) > 0; b = b[8:] {
		v := x.held.Arch().Order.Uint64(b)
		if typ == double {
			list = append(list, math.Float64frombits(v))
		} else {
			list = append(list, float64(int64(v)))
		}
	}
	return list
}

// A run out of a signal handler ends at the trampoline, and one out of that where the signal came.
func TestHandler(t *testing.T) {
	for _, processor := range processors {
		t.Run(processor, func(t *testing.T) {
			t.Parallel()
			x := buildProgram(t, processor, "frames.c").runner(t)
			x.to(t, "raises")
			raises := x.frame(t, 0).ID()
			x.to(t, "handler")
			x.to(t, "leaf")
			handler := x.frame(t, 4)
			if at, _ := handler.Function(); at != x.p.symbols["handler"] {
				t.Fatalf("frame 4 is %v", handler)
			}
			interrupted := x.frame(t, 6)
			if run, err := x.UntilReturn(t.Context(), handler.ID()); err != nil || run.End != inferior.Returned {
				t.Fatalf("handler: %+v, %v", run, err)
			}
			trampoline := x.frame(t, 0)
			if trampoline.Type() != frame.SigTramp {
				t.Fatalf("the handler has returned to %v, of type %v", trampoline, trampoline.Type())
			}
			if run, err := x.UntilReturn(t.Context(), trampoline.ID()); err != nil || run.End != inferior.Returned {
				t.Fatalf("trampoline: %+v, %v", run, err)
			}
			if now := x.frame(t, 0); now.PC() != interrupted.PC() || !now.ID().Equal(interrupted.ID()) {
				t.Errorf("the trampoline has returned to %v, want %v", now, interrupted)
			}
			if run, err := x.UntilReturn(t.Context(), raises); err != nil || run.End != inferior.Returned {
				t.Fatalf("raises: %+v, %v", run, err)
			}
			if got := x.value(t, long); got[0] != 6 {
				t.Errorf("raises has returned %v, want 6", got)
			}
		})
	}
}

// A frame that longjmp has ended is not waited for; one further out is.
func TestLeft(t *testing.T) {
	for _, processor := range processors {
		t.Run(processor, func(t *testing.T) {
			t.Parallel()
			x := buildProgram(t, processor, "frames.c").runner(t)
			x.to(t, "leaver")
			x.to(t, "jumper")
			leaver, catcher := x.frame(t, 1).ID(), x.frame(t, 2)
			if run, err := x.UntilReturn(t.Context(), leaver); err != nil || run.End != inferior.Left {
				t.Fatalf("leaver: %+v, %v", run, err)
			}
			if now := x.frame(t, 0); !now.ID().Equal(catcher.ID()) {
				t.Errorf("frame 0 is %v, want catcher's %v", now.ID(), catcher.ID())
			}
			x.to(t, "jumper") // of the next round
			if run, err := x.UntilReturn(t.Context(), x.frame(t, 2).ID()); err != nil || run.End != inferior.Returned {
				t.Fatalf("catcher: %+v, %v", run, err)
			}
			if got := x.value(t, long); got[0] != -3 {
				t.Errorf("catcher has returned %v, want -3", got)
			}
			if _, err := x.UntilReturn(t.Context(), leaver); err == nil || !strings.Contains(err.Error(), "no frame") {
				t.Errorf("a frame that is no more: %v", err)
			}
		})
	}
}
