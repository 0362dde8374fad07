package goruntime

import (
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
)

// A descriptor of a processor outside may have Go's rules, and no machine of package dataflow: then
// nobody can follow its code.
func TestNoMachine(t *testing.T) {
	for _, a := range []*arch.Arch{nil, {Name: "outside"}, {Name: "outside", Go: amd64.Arch.Go}} {
		if m := MachineOf(a); m != nil {
			t.Errorf("%+v", m)
		}
	}
	if MachineOf(amd64.Arch) == nil {
		t.Error("amd64 has no machine")
	}
}
