package native_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch/abi"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/inferior/native"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/sniffer/dummy"
)

// A thread on an alternate stack calls a function if there is room. Inward of that stack is a heap,
// which could be written. Without XSAVE, a signal frame has 1 KiB, with AVX-512 4.
func TestAlternateStack(t *testing.T) {
	for size, why := range map[string]string{"65536": "", "9216": "of its alternate stack are left"} {
		p := start(t, "alt", size)
		p.Rest(t)
		held := p.attach(t, native.Options{})
		c, err := inferior.NewCaller(held, held.Inferiors()[0])
		switch {
		case why != "" && (err == nil || !strings.Contains(err.Error(), why)):
			t.Errorf("%s bytes: %v, want an error with %q", size, err, why)
		case why == "" && err != nil:
			t.Errorf("%s bytes: %v", size, err)
		case why == "":
			two := abi.Value{Type: long, Bytes: []byte{2, 0, 0, 0, 0, 0, 0, 0}}
			b, err := c.Call(t.Context(), p.symbols["add"], &abi.Func{Result: long, Params: []*abi.Type{long, long}}, []abi.Value{two, two})
			if err != nil || b[0] != 4 {
				t.Errorf("%s bytes: %x, %v", size, b, err)
			}
		}
		held.Close()
	}
}

// A function that returns to the stack disturbs no code. A stack that is looked at meanwhile goes
// on through the call.
func TestOnStack(t *testing.T) {
	p := start(t, "read")
	p.Rest(t)
	held := p.attach(t, native.Options{})
	th := held.Inferiors()[0]
	c, err := inferior.NewCaller(held, th)
	if err != nil {
		t.Fatal(err)
	}
	c.OnStack, c.Dummies = true, &dummy.Frames{}
	var types []frame.Type
	c.Stopped = func(inferior.Event) {
		table := sniffer.Table(held.Arch())
		table.Prepend(dummy.New(c.Dummies))
		s, err := frame.New(held, th, table)
		if err != nil {
			t.Error(err)
			return
		}
		for f, err := range s.All() {
			if err != nil {
				t.Error(err)
				return
			}
			types = append(types, f.Type())
		}
		sameCode(t, p)
	}
	for i := range 3 {
		if _, err := c.Call(t.Context(), p.symbols["add"], &abi.Func{Result: long, Unprototyped: true}, nil); err != nil {
			t.Errorf("add: %v", err)
		}
		var undone *inferior.CallError
		if _, err := c.Call(t.Context(), p.symbols["crash"], &abi.Func{Result: long}, nil); !errors.As(err, &undone) || undone.Event.Signal.Address != 8 {
			t.Errorf("crash: %v", err)
		}
		if len(types) < 4*(i+1) || types[len(types)*i/(i+1)+1] != frame.Dummy {
			t.Errorf("types of frames: %v", types)
		}
	}
	if err := held.Close(); err != nil {
		t.Error(err)
	}
	if n := p.value(t, "calls"); n != 6 {
		t.Errorf("the program has counted %d calls, want 6", n)
	}
}
