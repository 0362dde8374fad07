package plugin_test

import (
	"github.com/sfwalk/sfwalk/plugin"
	"github.com/sfwalk/sfwalk/trad"
)

// fibers knows one piece of code: whatever is at 0x7000 has called by a pointer that lies at SP.
type fibers struct{}

func (fibers) Describe() plugin.Description {
	return plugin.Description{Name: "fibers", Version: "1.0", Architectures: []string{"amd64"}}
}

func (fibers) Begin(*plugin.Target) (plugin.Session, error) {
	return plugin.SessionFunc(func(q *plugin.Query) plugin.Answer {
		if q.PC < 0x7000 || q.PC >= 0x7020 {
			return plugin.Decline("no code of a fiber")
		}
		return plugin.Claim(trad.Row{
			Lo: 0x7000, Len: 0x20,
			CFA: trad.Rule{Kind: trad.InReg, Reg: 7, Off: 8}, // rsp+8
			RA:  trad.Rule{Kind: trad.Saved, Off: -8},
			FP:  trad.Rule{Kind: trad.Same},
		})
	}), nil
}

// A sniffer that is a program of its own: main serves it, and 'sfwalk attach --plugin PATH PID'
// uses it.
func ExampleServe() {
	plugin.Serve(fibers{})
}
