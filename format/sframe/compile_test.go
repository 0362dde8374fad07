package sframe

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestThisToolchain has this machine's gcc, as and ld write a section, and its objdump read it,
// whatever their versions.
func TestThisToolchain(t *testing.T) {
	triplet, ra := "x86_64-linux-gnu", "rip"
	if runtime.GOARCH == "arm64" {
		triplet, ra = "aarch64-linux-gnu", "x30"
	}
	for _, tool := range []string{"sh", triplet + "-gcc", triplet + "-as", triplet + "-ld", triplet + "-objcopy", triplet + "-objdump", triplet + "-readelf"} {
		gdbtest.Tool(t, tool)
	}
	gdbtest.Assembler(t, triplet+"-as")
	dir := t.TempDir()
	script, err := filepath.Abs("testdata/make.sh")
	if err != nil {
		t.Fatal(err)
	}
	variants := map[string][]string{
		"plain":         nil,
		"frame-pointer": {"-fno-omit-frame-pointer"},
		"stack-clash":   {"-fstack-clash-protection", "-fstack-protector-all"},
	}
	if triplet == "x86_64-linux-gnu" {
		variants["drap"] = []string{"-mavx2", "-mstackrealign"}
		variants["cet"] = []string{"-fcf-protection=full", "-fno-plt"}
	} else {
		variants["pauth"] = []string{"-mbranch-protection=standard"}
	}
	for name, flags := range variants {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command("sh", append([]string{script, name, triplet, "--gsframe", ra}, flags...)...)
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("make.sh: %v\n%s", err, out)
			}
			data, err := os.ReadFile(filepath.Join(dir, name+".sframe"))
			if err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(filepath.Join(dir, name+".dump"))
			if err != nil {
				t.Fatal(err)
			}
			g := parseGolden(t, text)
			if len(g.fdes) < 25 {
				t.Errorf("only %d functions", len(g.fdes))
			}
			sameSection(t, mustOpen(t, bytes.Clone(data), g.addr), g)
		})
	}
}
