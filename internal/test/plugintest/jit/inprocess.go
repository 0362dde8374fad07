package jit

import (
	"fmt"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/plugin"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// InProcess is what [Sniffer] knows of a process of internal/bench/programs/jit.c, as a sniffer
// that is no plug-in.
type InProcess struct {
	Functions []plugin.Range // the machine code
	code      []piece
	sp        trad.Reg
}

// NewInProcess looks for the machine code in a process.
func NewInProcess(t target.Target) (*InProcess, error) {
	at := map[string]uint64{}
	for _, m := range t.Modules().All() {
		im, bias, err := m.Image()
		if err != nil {
			continue
		}
		file, err := im.Standard()
		if err != nil {
			continue
		}
		symbols, err := file.Symbols()
		if err != nil {
			continue
		}
		for _, s := range symbols {
			at[s.Name] = s.Value + bias
		}
	}
	a := t.Arch()
	word := func(addr uint64) uint64 {
		var p [8]byte
		t.Memory().ReadMemory(addr, p[:])
		return a.Order.Uint64(p[:])
	}
	n := word(at["jit_count"])
	if n == 0 || n > 1<<20 {
		return nil, fmt.Errorf("the process has %d functions of machine code", n)
	}
	s := &InProcess{code: code[a.Name], sp: a.SP}
	for i := range n {
		entry := at["jit_regions"] + 16*i
		s.Functions = append(s.Functions, plugin.Range{Lo: word(entry), Hi: word(entry + 8)})
	}
	return s, nil
}

// Name implements [frame.Sniffer].
func (*InProcess) Name() string { return "in-process" }

// Sniff implements [frame.Sniffer].
func (s *InProcess) Sniff(q *frame.Query) (trad.Row, frame.Answer) {
	x := session{code: s.code, functions: s.Functions}
	i, p := x.find(q.AddressInBlock)
	if p == nil {
		return trad.Row{}, "not a function of the JIT"
	}
	return x.row(i, p, s.sp), frame.Claimed
}
