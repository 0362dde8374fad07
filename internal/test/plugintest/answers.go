//go:build linux

package plugintest

import (
	"errors"
	"math"
	"strings"
	"time"

	"github.com/sfwalk/sfwalk/plugin/protocol"
)

// Escapes is text that changes a terminal's state.
const Escapes = "\x1b]0;owned\a\x1b[2J\x1b[31mred\r\n\x00\u009b31m\u202e\xff"

// descriptions that are wrong, or odd.
var descriptions = map[string]func(*protocol.Description){
	"no-name":       func(d *protocol.Description) { d.Name = "" },
	"name-builtin":  func(d *protocol.Description) { d.Name = "sframe" },
	"name-spaces":   func(d *protocol.Description) { d.Name = "my sniffer" },
	"name-escapes":  func(d *protocol.Description) { d.Name = "a\x1b[31m" },
	"name-long":     func(d *protocol.Description) { d.Name = strings.Repeat("a", protocol.MaxName+1) },
	"name-huge":     func(d *protocol.Description) { d.Name = strings.Repeat("a", 10<<20) },
	"version-odd":   func(d *protocol.Description) { d.Version = "1\x1b]0;owned\a\x1b[31m\r\n\u009b2" },
	"version-huge":  func(d *protocol.Description) { d.Version = strings.Repeat("1", 10<<20) },
	"before-nobody": func(d *protocol.Description) { d.Before = "no-such-sniffer" },
	"before-odd":    func(d *protocol.Description) { d.Before = "\x1b[31m" },
	"arch-unknown":  func(d *protocol.Description) { d.Architectures = []string{"pdp11"} },
	"pattern":       func(d *protocol.Description) { d.Claims = &protocol.Claims{Modules: []string{"lib[a-"}} },
	"patterns":      func(d *protocol.Description) { d.Claims = &protocol.Claims{Modules: make([]string, 100_000)} },
	"needs": func(d *protocol.Description) {
		d.Needs = &protocol.Needs{Stack: math.MaxUint32, CodeAfter: math.MaxUint32}
	},
}

// begins that are wrong. Those that hang and crash are in init.
var begins = map[string]func(stream, *protocol.Begin) error{
	"answer": func(s stream, b *protocol.Begin) error { return answer(s, &protocol.Answer{Declines: "who asks?"}) },
	"empty":  func(s stream, b *protocol.Begin) error { return s.Send(&protocol.FromPlugin{}) },
	"twice": func(s stream, b *protocol.Begin) error {
		return errors.Join(ready(s, &protocol.Ready{}), ready(s, &protocol.Ready{}))
	},
	"declines": func(s stream, b *protocol.Begin) error {
		return ready(s, &protocol.Ready{Declines: "not this one" + strings.ToValidUTF8(Escapes, "")})
	},
	"huge": func(s stream, b *protocol.Begin) error {
		return ready(s, &protocol.Ready{Declines: strings.Repeat("x", 10<<20)})
	},
	"never-many": func(s stream, b *protocol.Begin) error { return ready(s, &protocol.Ready{Never: ranges(1_000_000)}) },
	"never-backward": func(s stream, b *protocol.Begin) error {
		return ready(s, &protocol.Ready{Never: []*protocol.Range{{Lo: 9, Hi: 1}}})
	},
	"reads": func(s stream, b *protocol.Begin) error {
		for {
			if err := read(s, &protocol.Range{Lo: 0x1000, Hi: 0x1008}); err != nil {
				return err
			}
		}
	},
}

// hoards returns an answer with many long symbols, for other code each time.
func hoards(symbols, length int) func(stream, *protocol.Question) error {
	name := strings.Repeat("x", length)
	return func(s stream, q *protocol.Question) error {
		a := &protocol.Answer{Number: q.Number, Declines: "not this one", DeclinesOnce: true}
		for i := range symbols {
			at := q.Number<<20 + uint64(i)<<4
			a.Symbols = append(a.Symbols, &protocol.Symbol{Lo: at, Hi: at + 16, Function: name, File: name[:min(length, 4096)]})
		}
		return answer(s, a)
	}
}

// sniffs are wrong ways to answer.
var sniffs = map[string]func(stream, *protocol.Question) error{
	"error-huge": func(stream, *protocol.Question) error { return errors.New(strings.Repeat("x", 12<<20)) },
	"hoards":     hoards(protocol.MaxMore, 4096),
	"hoards-cut": hoards(1, 1<<20),
	"ready":      func(s stream, q *protocol.Question) error { return ready(s, &protocol.Ready{}) },
	"empty":      func(s stream, q *protocol.Question) error { return s.Send(&protocol.FromPlugin{}) },
	"number": func(s stream, q *protocol.Question) error {
		return answer(s, &protocol.Answer{Number: q.Number + 1, Declines: "?"})
	},
	"twice": func(s stream, q *protocol.Question) error {
		a := &protocol.Answer{Number: q.Number, Declines: "not this one"}
		return errors.Join(answer(s, a), answer(s, a))
	},
	"slow": func(s stream, q *protocol.Question) error {
		time.Sleep(50 * time.Millisecond)
		return answer(s, &protocol.Answer{Number: q.Number, Declines: "after a while"})
	},
	"reads": func(s stream, q *protocol.Question) error {
		for {
			if err := read(s, &protocol.Range{Lo: q.Pc, Hi: q.Pc + 1}); err != nil {
				return err
			}
		}
	},
	"read-giant": func(s stream, q *protocol.Question) error { return reads(s, q, &protocol.Range{Lo: 0, Hi: 1 << 62}) },
	"read-most":  func(s stream, q *protocol.Question) error { return reads(s, q, &protocol.Range{Lo: 1, Hi: 0}) },
	"read-backward": func(s stream, q *protocol.Question) error {
		return reads(s, q, &protocol.Range{Lo: q.Pc, Hi: q.Pc - 8})
	},
	"read-many":  func(s stream, q *protocol.Question) error { return reads(s, q, ranges(100_000)...) },
	"read-empty": func(s stream, q *protocol.Question) error { return reads(s, q) },
	"read-nil":   func(s stream, q *protocol.Question) error { return reads(s, q, &protocol.Range{}) },
	"lists": func(s stream, q *protocol.Question) error {
		for {
			if err := s.Send(&protocol.FromPlugin{Message: &protocol.FromPlugin_List{List: &protocol.List{From: 1<<32 - 1}}}); err != nil {
				return err
			}
			if _, err := s.Recv(); err != nil {
				return err
			}
		}
	},
	"find-odd": func(s stream, q *protocol.Question) error {
		for _, find := range []*protocol.Find{{}, {Name: strings.Repeat("x", 1<<20)}, {Module: "[", Name: "main"}, {Address: math.MaxUint64}} {
			if err := s.Send(&protocol.FromPlugin{Message: &protocol.FromPlugin_Find{Find: find}}); err != nil {
				return err
			}
			if _, err := s.Recv(); err != nil {
				return err
			}
		}
		return answer(s, &protocol.Answer{Number: q.Number, Declines: "nothing found"})
	},
	"cycle":   again(func(level uint64) uint64 { return 0x7000_0000 + level%2<<16 }), // A, B, A
	"endless": again(func(level uint64) uint64 { return 0x7000_0000 + level<<16 }),
	"hops":    again(func(level uint64) uint64 { return 0x7000_0000_0000 - level<<16 }),
	"impatient": func(s stream, q *protocol.Question) error { // does not wait for the memory that it asks for
		for range 1000 {
			m := &protocol.Read{Ranges: []*protocol.Range{{Lo: q.Pc, Hi: q.Pc + 8}}}
			if err := s.Send(&protocol.FromPlugin{Message: &protocol.FromPlugin_Read{Read: m}}); err != nil {
				return err
			}
		}
		return answer(s, &protocol.Answer{Number: q.Number, Declines: "too many questions"})
	},
}

// again answers that PREVIOUS is at the same PC, on another stack, where the CFA is what
// cfa says of the level.
func again(cfa func(level uint64) uint64) func(stream, *protocol.Question) error {
	return func(s stream, q *protocol.Question) error {
		at := cfa(uint64(q.Level))
		return answer(s, &protocol.Answer{Number: q.Number, Frame: &protocol.Frame{
			Cfa: at, Type: protocol.FrameType_OTHER_STACK,
			Pc: &protocol.Rule{Kind: protocol.Rule_VALUE_IS, Address: q.Pc},
			Sp: &protocol.Rule{Kind: protocol.Rule_VALUE_IS, Address: at},
		}})
	}
}

// reads makes a request for memory that is not allowed, and declines.
func reads(s stream, q *protocol.Question, list ...*protocol.Range) error {
	if err := read(s, list...); err != nil {
		return err
	}
	return answer(s, &protocol.Answer{Number: q.Number, Declines: "it has read"})
}

func ranges(n int) []*protocol.Range {
	list := make([]*protocol.Range, n)
	for i := range list {
		list[i] = &protocol.Range{Lo: 0x10000 + uint64(i)*32, Hi: 0x10010 + uint64(i)*32}
	}
	return list
}

// Claim returns an answer that is right in form: a row, of THIS frame alone, with a CFA
// a word above SP and the return address below it, for the question's own address.
func Claim(q *protocol.Question) *protocol.Answer {
	sp := uint32(7)
	for _, r := range q.Registers { // arm64 and s390x have these, amd64 has neither
		switch r {
		case 31:
			sp = 31
		case 65:
			sp = 15
		}
	}
	return &protocol.Answer{Number: q.Number, Row: &protocol.Row{
		Lo: q.Block, Hi: q.Block + 1,
		Cfa: &protocol.Rule{Kind: protocol.Rule_IN_REGISTER, Register: sp, Offset: 48},
		Ra:  &protocol.Rule{Kind: protocol.Rule_SAVED, Offset: -8},
		Fp:  &protocol.Rule{Kind: protocol.Rule_SAME},
	}}
}

type spoil = func(*protocol.Question, *protocol.Answer)

// onRow makes a spoil of the answer's row.
func onRow(f func(row *protocol.Row, block uint64)) spoil {
	return func(q *protocol.Question, a *protocol.Answer) { f(a.Row, q.Block) }
}

// onFrame makes a spoil of an answer that is a frame, right in form.
func onFrame(f func(*protocol.Frame)) spoil {
	return func(q *protocol.Question, a *protocol.Answer) {
		sp := q.Stack.GetAddress()
		a.Row, a.Frame = nil, &protocol.Frame{Cfa: sp + 48, Pc: &protocol.Rule{Kind: protocol.Rule_SAVED_AT_IS, Address: sp + 40}}
		f(a.Frame)
	}
}

// declining makes a spoil of an answer that declines.
func declining(f func(a *protocol.Answer, block uint64)) spoil {
	return func(q *protocol.Question, a *protocol.Answer) {
		a.Row, a.Declines = nil, "not this one"
		f(a, q.Block)
	}
}

// answers are the ways to spoil an answer of [Claim].
var answers = map[string]spoil{
	"elsewhere":     onRow(func(r *protocol.Row, at uint64) { r.Lo, r.Hi = at+0x100, at+0x200 }),
	"beyond":        onRow(func(r *protocol.Row, at uint64) { r.Lo, r.Hi = at-0x10000000, at+0x10000000 }),
	"backward":      onRow(func(r *protocol.Row, at uint64) { r.Lo, r.Hi = at+8, at-8 }),
	"empty":         onRow(func(r *protocol.Row, at uint64) { r.Hi = r.Lo }),
	"long":          onRow(func(r *protocol.Row, at uint64) { r.Hi = r.Lo + 1<<40 }),
	"everything":    onRow(func(r *protocol.Row, at uint64) { r.Lo, r.Hi = 0, math.MaxUint64 }),
	"cfa-inward":    onRow(func(r *protocol.Row, at uint64) { r.Cfa.Offset = -64 }),
	"cfa-far-in":    onRow(func(r *protocol.Row, at uint64) { r.Cfa.Offset = math.MinInt32 }),
	"ra-inward":     onRow(func(r *protocol.Row, at uint64) { r.Cfa.Offset, r.Ra.Offset = 0, -8 }),
	"cfa-far-out":   onRow(func(r *protocol.Row, at uint64) { r.Cfa.Offset = math.MaxInt32 }),
	"cfa-none":      onRow(func(r *protocol.Row, at uint64) { r.Cfa = nil }),
	"cfa-same":      onRow(func(r *protocol.Row, at uint64) { r.Cfa.Kind = protocol.Rule_SAME }),
	"cfa-saved":     onRow(func(r *protocol.Row, at uint64) { r.Cfa.Kind = protocol.Rule_SAVED }),
	"cfa-undefined": onRow(func(r *protocol.Row, at uint64) { r.Cfa.Kind = protocol.Rule_UNDEFINED }),
	"cfa-is": onRow(func(r *protocol.Row, at uint64) {
		r.Cfa = &protocol.Rule{Kind: protocol.Rule_VALUE_IS, Address: 0x1000}
	}),
	"cfa-5000":    onRow(func(r *protocol.Row, at uint64) { r.Cfa.Register = 5000 }),
	"cfa-kind-99": onRow(func(r *protocol.Row, at uint64) { r.Cfa.Kind = 99 }),
	"ra-kind-99":  onRow(func(r *protocol.Row, at uint64) { r.Ra.Kind = -1 }),
	"ra-none":     onRow(func(r *protocol.Row, at uint64) { r.Ra = nil }),
	"ra-is":       onRow(func(r *protocol.Row, at uint64) { r.Ra = &protocol.Rule{Kind: protocol.Rule_VALUE_IS, Address: at} }),
	"ra-5000": onRow(func(r *protocol.Row, at uint64) {
		r.Ra = &protocol.Rule{Kind: protocol.Rule_IN_REGISTER, Register: 5000}
	}),
	"ra-max": onRow(func(r *protocol.Row, at uint64) {
		r.Ra = &protocol.Rule{Kind: protocol.Rule_SAVED_AT, Register: math.MaxUint32}
	}),
	"type-77":    onRow(func(r *protocol.Row, at uint64) { r.Type = 77 }),
	"kind-dummy": onRow(func(r *protocol.Row, at uint64) { r.Kind = protocol.FrameKind_DUMMY }),
	"kind-inline": onFrame(func(f *protocol.Frame) {
		f.Type, f.Kind = protocol.FrameType_SIGNAL, protocol.FrameKind_INLINE
	}),
	"outermost-ra": onRow(func(r *protocol.Row, at uint64) { r.Outermost = true }),
	"other-5000":   onRow(func(r *protocol.Row, at uint64) { r.Others = registerRules(5000) }),
	"other-65536":  onRow(func(r *protocol.Row, at uint64) { r.Others = registerRules(65536 + 3) }), // 3, if cut to 16 bits
	"other-twice":  onRow(func(r *protocol.Row, at uint64) { r.Others = registerRules(3, 3) }),
	"other-empty":  onRow(func(r *protocol.Row, at uint64) { r.Others = []*protocol.RegisterRule{{Register: 3}} }),
	"others-many":  onRow(func(r *protocol.Row, at uint64) { r.Others = registerRules(make([]uint32, 200_000)...) }),

	"frame-inward":  onFrame(func(f *protocol.Frame) { f.Cfa -= 128 }),
	"frame-zero":    onFrame(func(f *protocol.Frame) { f.Cfa = 0 }),
	"frame-max":     onFrame(func(f *protocol.Frame) { f.Cfa = math.MaxUint64 }),
	"frame-no-pc":   onFrame(func(f *protocol.Frame) { f.Pc = nil }),
	"frame-pc-same": onFrame(func(f *protocol.Frame) { f.Pc = &protocol.Rule{Kind: protocol.Rule_SAME} }),
	"frame-pc-kind": onFrame(func(f *protocol.Frame) { f.Pc = &protocol.Rule{Kind: protocol.Rule_SAVED, Offset: -8} }),
	"frame-other":   onFrame(func(f *protocol.Frame) { f.Others = registerRules(math.MaxUint32) }),
	"frame-sp-in":   onFrame(func(f *protocol.Frame) { f.Sp = &protocol.Rule{Kind: protocol.Rule_VALUE_IS, Address: 8} }),
	"both": func(q *protocol.Question, a *protocol.Answer) {
		row := a.Row
		onFrame(func(*protocol.Frame) {})(q, a)
		a.Row = row
	},
	"claims-declines": func(q *protocol.Question, a *protocol.Answer) {
		a.Declines = "and yet it does not know"
	},
	"neither": func(q *protocol.Question, a *protocol.Answer) { a.Row = nil },
	"own-never": func(q *protocol.Question, a *protocol.Answer) {
		a.Never = []*protocol.Range{{Lo: a.Row.Lo, Hi: a.Row.Hi}}
	},
	"never-odd":  declining(func(a *protocol.Answer, at uint64) { a.Never = []*protocol.Range{{Lo: 9, Hi: 1}} }),
	"never-many": declining(func(a *protocol.Answer, at uint64) { a.Never = ranges(1_000_000) }),
	"rows-many": declining(func(a *protocol.Answer, at uint64) {
		for i := range uint64(1_000_000) {
			a.Rows = append(a.Rows, &protocol.Row{Lo: i * 16, Hi: i*16 + 8})
		}
	}),
	"rows-nowhere": declining(func(a *protocol.Answer, at uint64) {
		a.Rows = []*protocol.Row{Claim(&protocol.Question{Block: 0x1000}).Row}
	}),
	"rows-empty": declining(func(a *protocol.Answer, at uint64) { a.Rows = []*protocol.Row{{}} }),
	"symbol-back": declining(func(a *protocol.Answer, at uint64) {
		a.Symbols = []*protocol.Symbol{{Lo: at + 8, Hi: at - 8, Function: "f"}}
	}),
	"symbol-wide": declining(func(a *protocol.Answer, at uint64) {
		a.Symbols = []*protocol.Symbol{{Lo: 0, Hi: math.MaxUint64, Function: "everything"}}
	}),
	"symbol-huge": declining(func(a *protocol.Answer, at uint64) {
		a.Symbols = []*protocol.Symbol{{Lo: at, Hi: at + 1, Function: strings.Repeat("f", 10<<20)}}
	}),
	"symbol-escapes": declining(func(a *protocol.Answer, at uint64) {
		text := strings.ToValidUTF8(Escapes, "")
		a.Symbols = []*protocol.Symbol{{Lo: at, Hi: at + 1, Function: text, File: text}}
	}),
	"declines-escapes": declining(func(a *protocol.Answer, at uint64) { a.Declines = strings.ToValidUTF8(Escapes, "") }),
	"declines-huge":    declining(func(a *protocol.Answer, at uint64) { a.Declines = strings.Repeat("x", 20<<20) }),
	"declines-often": func() spoil {
		n := 0
		return declining(func(a *protocol.Answer, at uint64) { // a new text each time
			n++
			a.Declines = strings.Repeat("y", 3000) + string(rune('a'+n%26)) + strings.Repeat("z", n%1000)
		})
	}(),
	"name-escapes": func(q *protocol.Question, a *protocol.Answer) {
		text := strings.ToValidUTF8(Escapes, "")
		a.Row.Once, a.Name = true, &protocol.Symbol{Lo: q.Block, Hi: q.Block + 1, Function: text, File: text}
	},
}

func registerRules(numbers ...uint32) (list []*protocol.RegisterRule) {
	for _, n := range numbers {
		list = append(list, &protocol.RegisterRule{Register: n, Rule: &protocol.Rule{Kind: protocol.Rule_SAME}})
	}
	return list
}
