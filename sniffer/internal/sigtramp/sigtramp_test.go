package sigtramp

import (
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/arch/arm64"
	"github.com/sfwalk/sfwalk/arch/s390x"
	"github.com/sfwalk/sfwalk/frame"
)

// The code that a query reads around PC contains the whole trampoline, wherever PC is in it.
func TestReach(t *testing.T) {
	for _, a := range []*arch.Arch{amd64.Arch, arm64.Arch, s390x.Arch} {
		for _, tramp := range a.Trampolines {
			for _, pc := range tramp.PCs {
				if pc > frame.CodeBefore || len(tramp.Code)-pc > frame.CodeBehind {
					t.Errorf("%s: % x at %d", a.Name, tramp.Code, pc)
				}
			}
		}
	}
}
