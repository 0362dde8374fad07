package live

import (
	"bytes"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/core"
)

// The registers of AVX-512 have the program's values, in the process and in its snapshot, and the
// program keeps them.
func TestAVX512(t *testing.T) {
	gdbtest.NeedFlag(t, "avx512bw")
	for _, test := range []struct {
		name  string
		build func(t testing.TB, src string, flags ...string) string
	}{{"amd64", gdbtest.Build}, {"386", gdbtest.Build386}} {
		t.Run(test.name, func(t *testing.T) {
			p := gdbtest.Start(t, test.build(t, "avx512.c", "-O1"))
			tg := attachBy(t, p.PID, Options{Timeout: patience, Values: true})
			s, err := tg.Snapshot()
			if err != nil {
				t.Fatal(err)
			}
			saved, err := s.Target(core.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer saved.Close()
			for _, from := range []target.Target{tg, saved} {
				threads, err := from.Threads()
				if err != nil || len(threads) != 1 {
					t.Fatal(len(threads), err)
				}
				for i := range from.Arch().WideRegs() {
					w := &from.Arch().WideRegs()[i]
					if w.Name[0] == 's' {
						continue
					}
					if b, err := target.ReadWide(threads[0].(target.WideThread), w); !bytes.Equal(b, gdbtest.AVX512(w.Name)) {
						t.Errorf("%T: %s is %x, %v; want %x", from, w.Name, b, err, gdbtest.AVX512(w.Name))
					}
				}
			}
			p.Stdin.Close()
			if said, err := p.Stdout.ReadString('\n'); said != "same\n" {
				t.Errorf("the program says of its registers: %q, %v", said, err)
			}
		})
	}
}
