package gostack

import (
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/trad"
)

// machines are the processors, by their names.
var machines = map[string]*machine{"amd64": x86}

var x86 = &machine{
	decode: decodeX86,
	regs:   int(scratch) + 1,
	sp:     amd64.RSP, fp: amd64.RBP, ra: amd64.RIP, pushed: 8,
	kept:          []trad.Reg{amd64.RBX, amd64.R12, amd64.R13, amd64.R14, amd64.R15},
	gosave:        []trad.Reg{amd64.R9},
	inTail:        none,
	g:             none,
	threadPointer: amd64.FSBase,
	frames:        framesAMD64,
}

func init() {
	for _, m := range machines {
		m.rest = &trad.Rest{Unlisted: trad.Same}
		for _, r := range m.kept {
			m.rest.Regs = append(m.rest.Regs, trad.RegRule{Reg: r, Rule: trad.Rule{Kind: trad.Undefined}})
		}
	}
}
