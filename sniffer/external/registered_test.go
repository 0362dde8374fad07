package external_test

import (
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/plugin/protocol"
	"github.com/sfwalk/sfwalk/sniffer/external"
	"github.com/sfwalk/sfwalk/target"
)

// A plug-in sees code that a process has registered with debuggers as code outside of files. So a
// row may be for several objects.
func TestRegistered(t *testing.T) {
	modules := target.NewModules(nil, []target.Mapping{{Lo: 0x1000, Hi: 0x3000, Exec: true}})
	modules.Register(func() target.Registered {
		return target.Registered{Objects: []*target.Module{
			target.NewRegistered("[jit 0x1]", []target.Mapping{{Lo: 0x1000, Hi: 0x1800}}, nil),
			target.NewRegistered("[jit 0x2]", []target.Mapping{{Lo: 0x1800, Hi: 0x2000}}, nil),
		}}
	})
	answer := &protocol.Answer{Row: &protocol.Row{
		Lo: 0x1000, Hi: 0x2000,
		Cfa: &protocol.Rule{Kind: protocol.Rule_IN_REGISTER, Register: uint32(amd64.Arch.FP), Offset: 16},
		Ra:  &protocol.Rule{Kind: protocol.Rule_SAVED, Offset: -8},
	}}
	question := &protocol.Question{Pc: 0x1900, Block: 0x1900}
	if err := external.Check(answer, question, amd64.Arch, nil, modules); err != nil {
		t.Error(err)
	}
}
