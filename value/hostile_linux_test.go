package value_test

import (
	"context"
	"encoding/binary"
	"regexp"
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/logical"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/live"
	"github.com/sfwalk/sfwalk/value"
	"github.com/sfwalk/sfwalk/value/printers"
)

// twisted is memory of which some words are others, always the same for a seed: lengths and heights
// without end, pointers to anywhere and to each other.
type twisted struct {
	target.Memory
	seed uint64
	one  uint64 // of how many words one is another
	at   []uint64
}

func (m *twisted) ReadMemory(addr uint64, p []byte) (int, error) {
	n, err := m.Memory.ReadMemory(addr, p)
	for i := int(-addr & 7); i+8 <= n; i += 8 {
		word := addr + uint64(i)
		h := (word ^ m.seed) * 0x9e3779b97f4a7c15
		h ^= h >> 29
		h *= 0xbf58476d1ce4e5b9
		h ^= h >> 32
		if h%m.one != 0 {
			continue
		}
		x := []uint64{0, 1, 1 << 20, 1 << 40, 1<<63 - 1, 1 << 63, ^uint64(0), m.at[h>>8%uint64(len(m.at))], word, m.at[h>>16%uint64(len(m.at))]}[h>>40%10]
		binary.LittleEndian.PutUint64(p[i:], x)
	}
	return n, err
}

// TestHostileContainers shows the values of Rust, Go and C++ with libc++ of a process whose memory
// has been overwritten here and there. They cost no more than their bounds.
func TestHostileContainers(t *testing.T) {
	gdbtest.NeedAMD64(t)
	for _, name := range []string{"go", "rust", "libc++"} {
		t.Run(name, func(t *testing.T) {
			var program string
			switch name {
			case "go":
				program = gdbtest.Build(t, "gomorevalues", "-gcflags=all=-N -l")
			case "libc++":
				gdbtest.File(t, "/usr/include/c++/v1")
				program = gdbtest.Compile(t, gdbtest.Testdata(t, "progs", "containers.cc"), gdbtest.Tool(t, "clang++"), "-stdlib=libc++", "-g", "-O0", "-std=c++20", "-w", "-pthread")
			default:
				program = gdbtest.Compile(t, gdbtest.Testdata(t, "progs", "morevalues.rs"), gdbtest.Tool(t, "rustc"), "--edition=2021", "-g", "-Copt-level=0")
			}
			p, err := live.Attach(context.Background(), gdbtest.Start(t, program).PID, live.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			hostile(t, p)
		})
	}
}

// ownFunction are the functions of the programs whose values are shown.
var ownFunction = regexp.MustCompile(`^(main\.|morevalues::|(strings|sequences|maps|wrappers)\b)`)

func hostile(t *testing.T, p target.Target) {
	threads, err := p.Threads()
	if err != nil {
		t.Fatal(err)
	}
	symbols := symbol.New(symbol.Options{})
	defer symbols.Close()
	reader := value.NewReader(p, symbols, printers.All())
	view := logical.New(p, symbols)
	shown := 0
	for _, th := range threads {
		stack, err := frame.New(p, th, sniffer.Table(p.Arch()))
		if err != nil {
			t.Fatal(err)
		}
		for f, err := range view.All(stack) {
			if err != nil {
				break
			}
			if !ownFunction.MatchString(f.Function) {
				continue
			}
			m := &twisted{Memory: target.MemoryOf(p, th)}
			in, err := reader.Frame(&f, m.Memory)
			if err != nil {
				t.Fatal(err)
			}
			for i := range in.Locals { // where its values are, and where they point to
				x := in.Locals[i].Value()
				if n, err := x.Uint(); err == nil {
					m.at = append(m.at, n, x.Addr)
				}
			}
			if len(m.at) == 0 {
				continue
			}
			for m.seed = range 12 {
				m.one = 2 + 5*(m.seed%3)
				in, err := reader.Frame(&f, m)
				if err != nil {
					t.Fatal(err)
				}
				for i := range in.Locals {
					bounds.Hold(t, 128<<20, func() {
						for _, raw := range []bool{false, true} {
							pr := value.Printer{Raw: raw, MaxText: 64 << 10}
							if len(pr.Local(&in.Locals[i])) > 0 {
								shown++
							}
						}
					})
				}
			}
		}
	}
	if shown < 500 {
		t.Errorf("%d values", shown)
	}
}
