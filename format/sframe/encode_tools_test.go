package sframe

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestEncodeReadByBinutils: this machine's objdump reads the encoded sections. They are all
// fixtures of the ABIs of V1, converted to the version that objdump understands.
func TestEncodeReadByBinutils(t *testing.T) {
	for _, tool := range []string{"gcc", "objcopy", "objdump"} {
		gdbtest.Tool(t, tool)
	}
	dir := t.TempDir()
	run := func(name string, args ...string) []byte {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", cmd, err, out)
		}
		return out
	}
	run("gcc", "-c", "-x", "c", os.DevNull, "-o", "empty.o")
	dump := func(data []byte) (text []byte, ok bool) {
		if err := os.WriteFile(filepath.Join(dir, "section"), data, 0o644); err != nil {
			t.Fatal(err)
		}
		run("objcopy", "--add-section", ".sframe=section", "empty.o", "with.o")
		cmd := exec.Command("objdump", "--sframe=.sframe", "with.o") // fails on other versions
		cmd.Dir = dir
		text, _ = cmd.Output()
		_, text, ok = bytes.Cut(text, []byte("Header :"))
		// parseGolden takes the address from the section's line of readelf.
		return append([]byte(" .sframe PROGBITS 0000000000000000 \n"), text...), ok && bytes.Contains(text, []byte("func idx"))
	}
	var understood [V3 + 1]int
	sections, relative := 0, 0
	for _, fx := range fixtures {
		if fx.abi == S390X { // 2.40 to 2.44 do not know it
			continue
		}
		sections++
		src, _ := openFixture(t, fx.name)
		c := contents(t, src)
		for v := V1; v <= V3; v++ {
			out, _ := c.Convert(v)
			data := encode(t, out, 0)
			text, ok := dump(data)
			if !ok {
				if v == V2 && out.Flags&FDEFuncStartPCRel != 0 {
					relative++ // 2.44, the first with V2, does not know this flag
				}
				continue
			}
			understood[v]++
			t.Run(fx.name+" in "+v.String(), func(t *testing.T) { sameSection(t, mustOpen(t, data, 0), parseGolden(t, text)) })
		}
	}
	if understood[V1]+understood[V2]+understood[V3] == 0 {
		t.Error("objdump understood no section")
	}
	for v, n := range understood {
		if n != 0 && n != sections && (Version(v) != V2 || n+relative != sections) {
			t.Errorf("objdump understood %d of %d sections of %v", n, sections, Version(v))
		}
	}
}
