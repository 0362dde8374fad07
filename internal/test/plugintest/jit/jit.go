// Package jit is a well-made sniffer for the machine code of internal/bench/programs/jit.c; the
// process says where that is. [Sniffer] is the plug-in. [InProcess] is the same as a part of the
// host, to compare.
package jit

import (
	"fmt"
	"sort"

	"github.com/sfwalk/sfwalk/plugin"
	"github.com/sfwalk/sfwalk/plugin/protocol"
	"github.com/sfwalk/sfwalk/trad"
)

// Sniffer is the plug-in.
type Sniffer struct {
	Ahead bool // also give rows of other code, so that the host need not ask
	Once  bool // claim frame for frame, as if no row held for another
	Read  bool // request memory before each answer
}

// Describe implements [plugin.Sniffer].
func (Sniffer) Describe() plugin.Description {
	return plugin.Description{
		Name: "jit", Version: "1.0", Architectures: []string{"amd64", "arm64", "s390x"},
		Claims: &plugin.Claims{OutsideModules: true},
	}
}

// Begin implements [plugin.Sniffer].
func (x Sniffer) Begin(t *plugin.Target) (plugin.Session, error) {
	var at [2]uint64
	for i, name := range []string{"jit_count", "jit_regions"} {
		found, err := t.Lookup(name, "jit*")
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("the process has no %s", name)
		}
		at[i] = found[0].Lo
	}
	n, err := t.Word(at[0])
	if err != nil {
		return nil, err
	}
	if n > 1<<20 {
		return nil, fmt.Errorf("the process has %d functions", n)
	}
	s := &session{Sniffer: x, code: code[t.Arch]}
	table := make([]byte, 16*n)
	for rest, from := table, at[1]; len(rest) > 0; {
		size := min(len(rest), protocol.MaxRead)
		if _, err := t.ReadMemory(from, rest[:size]); err != nil {
			return nil, err
		}
		rest, from = rest[size:], from+uint64(size)
	}
	for ; len(table) > 0; table = table[16:] {
		s.functions = append(s.functions, plugin.Range{Lo: t.Order.Uint64(table), Hi: t.Order.Uint64(table[8:])})
	}
	return s, nil
}

// piece is some instructions of the machine code, and the row that holds for them.
type piece struct {
	lo, hi uint64 // from the function's beginning
	sp     int32  // from SP to the CFA
	call   bool   // the function makes calls here, with PREVIOUS's PC on the stack
	row    func(sp trad.Reg, cfa int32) trad.Row
}

// saved makes the row of a function that has saved registers.
func saved(ra int32, same bool, regs ...trad.RegRule) func(trad.Reg, int32) trad.Row {
	return func(sp trad.Reg, cfa int32) trad.Row {
		row := trad.Row{
			CFA: trad.Rule{Kind: trad.InReg, Reg: sp, Off: cfa},
			RA:  trad.Rule{Kind: trad.Saved, Off: ra}, FP: trad.Rule{Kind: trad.Same},
			Others: &trad.OtherRules{Regs: regs, Default: trad.Same},
		}
		if same {
			row.RA = trad.Rule{Kind: trad.Same}
		}
		return row
	}
}

func at(r trad.Reg, off int32) trad.RegRule {
	return trad.RegRule{Reg: r, Rule: trad.Rule{Kind: trad.Saved, Off: off}}
}

// code is the machine code of jit.c, by its instructions.
var code = map[string][]piece{
	"amd64": {
		{0, 1, 8, false, saved(-8, false)},
		{1, 5, 16, false, saved(-8, false, at(3, -16))},
		{5, 14, 48, true, saved(-8, false, at(3, -16))},
		{14, 15, 16, false, saved(-8, false, at(3, -16))},
		{15, 16, 8, false, saved(-8, false)},
	},
	"arm64": {
		{0, 4, 0, false, saved(0, true)},
		{4, 8, 48, false, saved(0, true)},
		{8, 20, 48, true, saved(-24, false, at(19, -32))},
		{20, 24, 48, false, saved(0, true)},
		{24, 28, 0, false, saved(0, true)},
	},
	"s390x": {
		{0, 6, 160, false, saved(0, true)},
		{6, 10, 160, false, saved(-48, false, at(13, -56))},
		{10, 22, 320, true, saved(-48, false, at(13, -56))},
		{22, 24, 160, false, saved(0, true)},
	},
}

type session struct {
	Sniffer
	code      []piece
	functions []plugin.Range // ascending
}

// Sniff implements [plugin.Session].
func (s *session) Sniff(q *plugin.Query) plugin.Answer {
	if s.Read {
		var p [64]byte
		q.Target.ReadMemory(q.PC, p[:])
	}
	i, p := s.find(q.AddressInBlock)
	if p == nil {
		return plugin.Decline("not a function of the JIT")
	}
	row := s.row(i, p, q.Target.SP)
	if s.Once {
		row.Flags |= trad.Once
	}
	answer := plugin.Claim(row)
	answer.Symbols = []plugin.Symbol{s.symbol(i)}
	if s.Ahead {
		s.tellAhead(&answer, i, q.Target.SP)
	}
	return answer
}

// find returns the function that an address is in, and the piece of it.
func (s *session) find(at uint64) (int, *piece) {
	i := sort.Search(len(s.functions), func(i int) bool { return s.functions[i].Hi > at })
	if i == len(s.functions) || at < s.functions[i].Lo {
		return 0, nil
	}
	for k := range s.code {
		if off := at - s.functions[i].Lo; off < s.code[k].hi {
			return i, &s.code[k]
		}
	}
	return 0, nil
}

// tellAhead adds what is to say of the functions behind the i-th, where they call.
func (s *session) tellAhead(answer *plugin.Answer, i int, sp trad.Reg) {
	for k := 1; k < min(len(s.functions), protocol.MaxMore); k++ {
		n := (i + k) % len(s.functions)
		for i := range s.code {
			if p := &s.code[i]; p.call {
				answer.More = append(answer.More, s.row(n, p, sp))
			}
		}
		answer.Symbols = append(answer.Symbols, s.symbol(n))
	}
}

func (s *session) row(i int, p *piece, sp trad.Reg) trad.Row {
	row := p.row(sp, p.sp)
	row.Lo, row.Len = s.functions[i].Lo+p.lo, uint32(p.hi-p.lo)
	return row
}

func (s *session) symbol(i int) plugin.Symbol {
	return plugin.Symbol{Range: s.functions[i], Function: fmt.Sprintf("jitted%d", i), File: "jitted.js", Line: i + 1}
}
