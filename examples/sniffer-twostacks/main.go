// Sniffer-twostacks unwinds call_on of twostacks.c.
package main

import (
	"errors"

	"github.com/sfwalk/sfwalk/plugin"
	"github.com/sfwalk/sfwalk/trad"
)

type sniffer struct{}

// Describe describes the sniffer, and the code where it can claim frames at all.
func (sniffer) Describe() plugin.Description {
	return plugin.Description{
		Name: "twostacks", Version: "1.0", Architectures: []string{"amd64"},
		Claims: &plugin.Claims{Modules: []string{"twostacks*"}},
	}
}

// Begin is called for each process. Facts that it finds need not be looked up later.
func (sniffer) Begin(t *plugin.Target) (plugin.Session, error) {
	found, err := t.Lookup("call_on", "twostacks*")
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, errors.New("the program has no call_on")
	}
	start := found[0].Lo
	rows := []trad.Row{
		row(start, 0, 13, trad.Rule{Kind: trad.InReg, Reg: t.SP, Off: 8}),
		row(start, 13, 20, trad.Rule{Kind: trad.SavedAt, Reg: t.SP, Off: 8}),
		row(start, 20, 24, trad.Rule{Kind: trad.InReg, Reg: t.SP}),
	}
	return plugin.SessionFunc(func(q *plugin.Query) plugin.Answer {
		for _, r := range rows {
			if q.AddressInBlock >= r.Lo && q.AddressInBlock-r.Lo < uint64(r.Len) {
				return plugin.Claim(r)
			}
		}
		return plugin.Decline("not in call_on")
	}), nil
}

// row says how to unwind call_on between two offsets: the CFA is given, the return address is below
// it, and all other registers are unchanged.
func row(start, lo, hi uint64, cfa trad.Rule) trad.Row {
	r := trad.Row{
		Lo: start + lo, Len: uint32(hi - lo), CFA: cfa,
		RA:     trad.Rule{Kind: trad.Saved, Off: -8},
		FP:     trad.Rule{Kind: trad.Same},
		Others: &trad.OtherRules{Default: trad.Same},
	}
	if cfa.Kind == trad.SavedAt {
		r.Flags = trad.OtherStack
	}
	return r
}

func main() { plugin.Serve(sniffer{}) }
