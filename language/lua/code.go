package lua

import (
	"fmt"
	"slices"
	"strings"
)

// operation is what an instruction does, by its number.
type operation struct {
	name  string // "GETTABLE"
	sets  bool   // it changes the register A
	event string // the metamethod that it may call, "index"; "" for none
}

// events are the metamethods that instructions may call, beside the ones of which the instruction
// has the name.
var events = map[string]string{
	"SELF": "index", "GETTABUP": "index", "GETTABLE": "index", "GETI": "index", "GETFIELD": "index",
	"SETTABUP": "newindex", "SETTABLE": "newindex", "SETI": "newindex", "SETFIELD": "newindex",
	"LTI": "lt", "GTI": "lt", "LEI": "le", "GEI": "le", "CLOSE": "close", "RETURN": "close",
}

// arithmetic are the metamethods of operators, in the order of their numbers from 5.4 on.
var arithmetic = strings.Fields("add sub mul mod pow div idiv band bor bxor shl shr unm bnot lt le")

// operationsOf returns the operations of a release, by layouts/code.txt.
func operationsOf(release string) (list []operation, err error) {
	text, err := layouts.ReadFile("layouts/code.txt")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] != release {
			continue
		}
		for _, word := range words[1:] {
			name, sets := strings.CutSuffix(word, "*")
			o := operation{name: name, sets: sets, event: events[name]}
			if own := strings.ToLower(name); o.event == "" && (slices.Contains(arithmetic, own) || slices.Contains([]string{"len", "concat", "eq"}, own)) {
				o.event = own
			}
			if o.event == "close" && release < "5.4" {
				o.event = ""
			}
			list = append(list, o)
		}
		return list, nil
	}
	return nil, fmt.Errorf("the instructions of Lua %s are not known", release)
}

// instruction is one of a function of Lua.
type instruction struct {
	operation
	l    *layout
	bits uint64
}

func (l *layout) decode(bits uint64) instruction {
	in := instruction{l: l, bits: bits}
	if n := in.part(0, l.CodeOpBits); n < uint64(len(l.ops)) {
		in.operation = l.ops[n]
	}
	return in
}

func (in instruction) part(at, bits uint64) uint64 { return in.bits >> at & (1<<bits - 1) }

func (in instruction) a() uint64  { return in.part(in.l.CodeA, in.l.CodeABits) }
func (in instruction) b() uint64  { return in.part(in.l.CodeB, in.l.CodeBBits) }
func (in instruction) c() uint64  { return in.part(in.l.CodeC, in.l.CodeCBits) }
func (in instruction) bx() uint64 { return in.part(in.l.CodeBx, in.l.CodeBxBits) }
func (in instruction) ax() uint64 { return in.part(in.l.CodeAx, in.l.CodeAxBits) }

// jump returns how far an instruction jumps, from the next one on.
func (in instruction) jump() int {
	return int(in.part(in.l.CodeJump, in.l.CodeJumpBits)) - int(in.l.CodeJumpZero)
}
