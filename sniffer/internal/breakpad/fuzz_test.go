package breakpad

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/i386"
	format "github.com/sfwalk/sfwalk/format/breakpad"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/symbolstore"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/memtest"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// opened is the sniffer with a symbol file that is open already.
type opened struct {
	Sniffer
	symbols *symbolstore.Symbols
}

func (o *opened) Sniff(q *frame.Query) (trad.Row, frame.Answer) {
	if q.Module == nil {
		return trad.Row{}, noModule
	}
	return o.claim(q, o.symbols)
}

// Where the parts of the process are.
const (
	codeAt  = 0x400000
	stackAt = 0x100000
)

// crashed is a process of 32-bit x86 with one module and one thread, of which the stack is known.
type crashed struct {
	memtest.Flat
	modules *target.Modules
	pc, fp  uint64
}

func (*crashed) Arch() *arch.Arch                    { return i386.Arch }
func (c *crashed) Memory() target.Memory             { return c.Flat }
func (c *crashed) Threads() ([]target.Thread, error) { return []target.Thread{c}, nil }
func (c *crashed) Modules() *target.Modules          { return c.modules }
func (*crashed) Close() error                        { return nil }
func (*crashed) ID() int                             { return 1 }
func (*crashed) Name() string                        { return "" }

func (c *crashed) Registers(r *arch.Registers) error {
	r.Set(i386.Arch.PC, c.pc)
	r.Set(i386.Arch.SP, stackAt)
	r.Set(i386.Arch.FP, c.fp)
	return nil
}

// FuzzWin walks any stack of 32-bit x86 by any symbol file.
func FuzzWin(f *testing.F) {
	const module = "MODULE windows x86 111111111111111111111111111111111 app.pdb\n"
	words := binary.LittleEndian.AppendUint32(make([]byte, 12), codeAt+0x20)
	f.Add("STACK WIN 4 0 40 3 0 4 4 8 0 1 $T0 .raSearch = $eip $T0 ^ = $esp $T0 4 + = $20 $T0 8 - ^ =\n", append(words, 0, 0, 0, 0), uint16(8), uint16(0))
	f.Add("FUNC 0 100 8 f\nSTACK WIN 0 0 40 0 0 4 8 10 0 0 1\nSTACK WIN 4 20 10 0 0 0 0 0 0 1 $T0 $ebp = $eip $T0 4 + ^ = $ebp $T0 ^ = $esp $T0 8 + =\n", append(words, words...), uint16(0), uint16(4))
	f.Add("PUBLIC 0 4 p\nSTACK CFI INIT 0 100 .cfa: $esp 4 + $eip: .cfa 4 - ^\nSTACK CFI 4 .cfa: $ebp 8 + $ebp: .cfa 8 - ^\n", append(words, words...), uint16(2), uint16(8))
	f.Fuzz(func(t *testing.T, records string, stack []byte, pc, fp uint16) {
		text := module + records
		bounds.Hold(t, 32<<20+256*(len(text)+len(stack)), func() {
			file, err := format.New(bytes.NewReader([]byte(text)), int64(len(text)))
			if err != nil {
				return
			}
			m := target.NewModule("app", []target.Mapping{{Lo: codeAt, Hi: codeAt + 0x10000, Exec: true}}, nil)
			m.Identity = &target.Identity{Base: codeAt}
			c := &crashed{memtest.Flat{Lo: stackAt, Data: stack}, target.NewModules([]*target.Module{m}, nil), codeAt + uint64(pc), stackAt + uint64(fp)}
			sniffer := &opened{Sniffer{Dir: "/nonexistent"}, &symbolstore.Symbols{File: file, Base: codeAt}}
			s, err := frame.New(c, c, frame.NewTable(i386.Arch, sniffer))
			if err != nil {
				t.Fatal(err)
			}
			s.Limit = 16
			for f := range s.All() {
				if f == nil {
					break
				}
				if row := f.Row(); f.Sniffer() != "" && !row.Contains(f.AddressInBlock()) && !row.Contains(f.PC()) {
					t.Errorf("%v: %+v", f, row)
				}
			}
		})
	})
}
