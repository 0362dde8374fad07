//go:build linux

package guesttest

import (
	"maps"
	"testing"
)

// withVG is arm64 with the length of its scalable vectors among the registers that are
// compared.
var withVG = func() *Processor {
	p := *ARM64
	p.Registers = maps.Clone(p.Registers)
	p.Registers[46] = "vg"
	return &p
}()

// vectors is a guest with scalable vectors on the stack. gdb 13 knows no mask for signed return
// addresses. qemu 11.1 describes registers as long as the longest vectors of streaming mode (SME),
// and gdb 18 writes that length into core files.
func vectors(quadwords string, flags ...string) func(*testing.T) *Guest {
	build := bare(withVG, "sve.c", append([]string{"-O2", "-march=armv8-a+sve"}, flags...)...)
	return func(t *testing.T) *Guest {
		g := build(t)
		g.CPU = "max,pauth=off,sme=off,sve-max-vq=" + quadwords + ",sve-default-vector-length=-1"
		return g
	}
}

var vectorSubjects = []subject{
	{"no frame pointer, 32 bytes", vectors("2", "-fomit-frame-pointer"), tables, false},
	{"frame pointer, 256 bytes", vectors("16", "-fno-omit-frame-pointer"), tables, false},
}

// TestVectors compares frames whose CFA is at a distance that only VG gives with gdb's, through the
// stub and from the core files that gdb writes, up to main.
func TestVectors(t *testing.T) {
	for _, s := range vectorSubjects {
		t.Run(s.name, func(t *testing.T) {
			s.run(t, func(c *checker) {
				toMain := []order{{nil, toMain}, {[]string{"sigtramp", "dwarf"}, toMain}}
				whole := c.orders
				stops, cores := 0, 0
				c.Each(t, true, func(stop *Stop) {
					c.orders = whole
					c.check(stop, fromStub)
					if stops++; stop.Core != "" {
						c.orders = toMain
						c.check(stop, fromCore)
						cores++
					}
				})
				if stops != 3 || cores < 2 {
					t.Errorf("%d stops, %d cores", stops, cores)
				}
			})
		})
	}
}
