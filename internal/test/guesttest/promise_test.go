//go:build linux

package guesttest

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestPromiseSteps steps through functions of programs that promise frame pointers in their
// SFrame sections, and have no FDE there. Leaves of arm64 keep no frame all the same, and a
// frame record does not tell the CFA.
func TestPromiseSteps(t *testing.T) {
	for variant, s := range []struct{ name, flag string }{
		{"leaves", "-mno-omit-leaf-frame-pointer"}, {"branch protection", "-mbranch-protection=pac-ret+leaf"},
	} {
		t.Run(s.name, func(t *testing.T) {
			gdbtest.Share(t, variant)
			t.Parallel()
			g := bare(ARM64, "steps.c", "-O2", "-Wa,--gsframe", s.flag)(t)
			steps := g.Steps(t, gdbtest.Functions(t, g.Path, "step_"))
			promised := gdbtest.PromiseFP(t, g.Path)
			stripped := filepath.Join(t.TempDir(), "stripped")
			if out, err := exec.Command(gdbtest.Tool(t, g.Triple+"-strip"), "-o", stripped, promised).CombinedOutput(); err != nil {
				t.Fatalf("strip: %v: %s", err, out)
			}
			bare := g.without(t, promised, ".eh_frame", ".eh_frame_hdr")
			stepAll(t, g, steps, view{promised, []walk{{nil, false, 100}}}, view{stripped, []walk{{nil, false, 100}}}, view{bare, []walk{{nil, true, 100}}})
		})
	}
}
