package stub_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/arch/abi"
	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/inferior/stub"
	"github.com/sfwalk/sfwalk/target/remote"
)

var (
	long   = &abi.Type{Kind: abi.Integer, Size: 8, Signed: true}
	double = &abi.Type{Kind: abi.Float, Size: 8}
)

func number(p *stub.Process, typ *abi.Type, bits uint64) abi.Value {
	b := make([]byte, 8)
	p.Arch().Order.PutUint64(b, bits)
	return abi.Value{Type: typ, Bytes: b}
}

// A thread calls functions, and then is what it was: all its registers, and the program runs to its
// end.
func TestCalls(t *testing.T) {
	for _, processor := range slices.Concat(processors, models) {
		t.Run(processor, func(t *testing.T) {
			t.Parallel()
			p := build(t, processor)
			held := dial(t, p.serve(t), remote.Options{})
			th := p.to(t, held, "main")
			before, err := th.(*stub.Thread).State()
			if err != nil {
				t.Fatal(err)
			}
			c, err := inferior.NewCaller(held, th)
			if err != nil {
				t.Fatal(err)
			}
			call := func(function string, result *abi.Type, args ...abi.Value) ([]byte, error) {
				f := &abi.Func{Result: result}
				for _, a := range args {
					f.Params = append(f.Params, a.Type)
				}
				return c.Call(t.Context(), p.symbols[function], f, args)
			}
			order := held.Arch().Order
			for i := range int64(4) {
				c.Alone, c.OnStack = i == 1, i == 2
				b, err := call("add", long, number(held, long, 40), number(held, long, uint64(-i)))
				if err != nil || int64(order.Uint64(b)) != 40-i {
					t.Errorf("add(40, %d): %x, %v", -i, b, err)
				}
			}
			b, err := call("half", double, number(held, double, math.Float64bits(3)))
			if err != nil || math.Float64frombits(order.Uint64(b)) != 1.5 {
				t.Errorf("half(3): %x, %v", b, err)
			}
			c.OnStack = true
			if b, err := call("half", double, number(held, double, math.Float64bits(5))); err != nil || math.Float64frombits(order.Uint64(b)) != 2.5 {
				t.Errorf("half(5), back on the stack: %x, %v", b, err)
			}
			var undone *inferior.CallError
			if _, err := call("crash", long); !errors.As(err, &undone) || undone.Event.Signal.Number != 11 {
				t.Errorf("crash(), back on the stack: %v", err)
			}
			c.OnStack = false
			if _, err := call("crash", long); !errors.As(err, &undone) || undone.Event.Signal.Number != 11 || undone.Event.TID != th.ID() {
				t.Errorf("crash(): %v", err)
			}
			if _, err := call("aborts", long); !errors.As(err, &undone) || undone.Event.Signal.Number != 6 {
				t.Errorf("aborts(): %v", err)
			}
			if got := variable(t, held, p.symbols["calls"]); got != 8 {
				t.Errorf("the program has counted %d calls, want 8", got)
			}
			after, err := th.(*stub.Thread).State()
			if err != nil {
				t.Fatal(err)
			}
			if !before.Equal(after) {
				t.Error("registers are not as they were before the calls")
			}
			if _, err := call("exits", long); !errors.As(err, &undone) || undone.Event.Kind != inferior.Exited || undone.Event.Status != 3 {
				t.Errorf("exits(): %v", err)
			}
			if err := held.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A process of 32-bit x86 calls functions, too, and says what has ended one. It returns
// floating-point numbers in the x87's registers.
func TestCalls386(t *testing.T) {
	p := build(t, "386")
	held := dial(t, p.serve(t), remote.Options{})
	th := p.to(t, held, "main")
	c, err := inferior.NewCaller(held, th)
	if err != nil {
		t.Fatal(err)
	}
	word := &abi.Type{Kind: abi.Integer, Size: 4, Signed: true}
	args := []abi.Value{{Type: word, Bytes: []byte{40, 0, 0, 0}}, {Type: word, Bytes: []byte{0xfe, 0xff, 0xff, 0xff}}}
	b, err := c.Call(t.Context(), p.symbols["add"], &abi.Func{Result: word, Params: []*abi.Type{word, word}}, args)
	if err != nil || !slices.Equal(b, []byte{38, 0, 0, 0}) {
		t.Errorf("add(40, -2): %x, %v", b, err)
	}
	b, err = c.Call(t.Context(), p.symbols["half"], &abi.Func{Result: double, Params: []*abi.Type{double}}, []abi.Value{number(held, double, math.Float64bits(3))})
	if err != nil || math.Float64frombits(held.Arch().Order.Uint64(b)) != 1.5 {
		t.Errorf("half(3): %x, %v", b, err)
	}
	var undone *inferior.CallError
	_, err = c.Call(t.Context(), p.symbols["crash"], &abi.Func{Result: word}, nil)
	if !errors.As(err, &undone) || undone.Event.TID != th.ID() {
		t.Fatalf("crash(): %v", err)
	}
	if s := undone.Event.Signal; s.Number != 11 || s.Own || !s.HasAddress || s.Address != 8 {
		t.Errorf("crash(), which reads at 8: %+v", s)
	}
}

func variable(t *testing.T, p *stub.Process, addr uint64) uint64 {
	t.Helper()
	b := make([]byte, 8)
	if _, err := p.Memory().ReadMemory(addr, b); err != nil {
		t.Fatal(err)
	}
	return p.Arch().Order.Uint64(b)
}
