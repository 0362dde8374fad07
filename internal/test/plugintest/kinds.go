//go:build linux

package plugintest

import (
	"github.com/sfwalk/sfwalk/plugin"
	"github.com/sfwalk/sfwalk/trad"
)

// Kinds are the flags with which the plug-in "kinds" claims frames, by level modulo their number.
var Kinds = []trad.Flags{0, trad.Inline, trad.TailCall, trad.Dummy, trad.Injected, trad.OtherStack, trad.Signal}

// kinds unwinds the frames of testdata/progs/recurse.c, built with frame pointers. It says that
// they are of all kinds there are, every second one by a frame with its level as the special
// address, else by a row.
type kinds struct{}

func init() { modes["kinds"] = func() { plugin.Serve(kinds{}) } }

func (kinds) Describe() plugin.Description {
	return plugin.Description{Name: "kinds", Version: "1", Before: "sigtramp", Claims: &plugin.Claims{Modules: []string{"recurse*"}}}
}

func (kinds) Begin(t *plugin.Target) (plugin.Session, error) {
	return plugin.SessionFunc(func(q *plugin.Query) plugin.Answer {
		f, ok, err := t.SymbolAt(q.PC)
		if err != nil || !ok || f.Function != "even" && f.Function != "odd" {
			return plugin.Answer{Why: "neither even nor odd", Once: true}
		}
		flags := Kinds[q.Level%len(Kinds)]
		fp, _ := q.Registers.Get(t.FP)
		if q.Level%2 == 0 {
			return plugin.Claim(trad.Row{
				Lo: q.AddressInBlock, Len: 1, Flags: trad.Once | flags,
				CFA: trad.Rule{Kind: trad.InReg, Reg: t.FP, Off: 16},
				RA:  trad.Rule{Kind: trad.Saved, Off: -8}, FP: trad.Rule{Kind: trad.Saved, Off: -16},
			})
		}
		return plugin.Answer{Frame: &plugin.Frame{
			CFA: fp + 16, Flags: flags, Special: uint64(q.Level), HasSpecial: true,
			Registers: map[trad.Reg]plugin.Value{t.PC: {InMemory: true, Bits: fp + 8}, t.FP: {InMemory: true, Bits: fp}},
		}}
	}), nil
}
