//go:build linux

package walk

import (
	"fmt"
	"time"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/sniffer"
)

// rows are the two lists of sniffers: SFrame before DWARF, which the C library needs, and DWARF
// without SFrame.
var rows = []struct {
	name     string
	sniffers []string
}{
	{"SFrame", sniffer.Names()},
	{"DWARF", []string{"sigtramp", "dwarf"}},
}

// newTable returns a table of sniffers by name.
func newTable(a *arch.Arch, names []string) (*frame.Table, error) {
	list, err := sniffer.ByName(names...)
	return frame.NewTable(a, list...), err
}

// A walker walks a capture with frame.Walker.
type walker struct {
	c    *Capture
	w    *frame.Walker
	regs arch.Registers
	pcs  []uint64
}

// most is how many frames a walker has room for.
const most = 1 << 16

func newWalker(c *Capture, table *frame.Table) (*walker, error) {
	w := &walker{c: c, w: frame.NewWalker(c.modules, table), regs: c.registers, pcs: make([]uint64, most)}
	n, stop := w.w.Walk(&w.regs, c, w.pcs)
	if stop != frame.Outermost {
		return nil, fmt.Errorf("walk: %v after %d frames", stop, n)
	}
	return w, nil
}

func (w *walker) warm() int {
	n, _ := w.w.Walk(&w.regs, w.c, w.pcs)
	return n
}

func (w *walker) cold() int {
	w.w.Reset()
	return w.warm()
}

// A stacker walks a capture with frame.Stack.
type stacker struct {
	c         *Capture
	table     *frame.Table
	stack     *frame.Stack
	registers bool // all of them are asked of each frame
	cold      bool // with an empty cache of rows for each walk
	all       arch.Registers
}

func (s *stacker) walk() int {
	if s.cold {
		s.table.Reset()
	}
	var err error
	if s.stack == nil {
		s.stack, err = frame.New(s.c, s.c, s.table)
	} else {
		err = s.stack.Reset(s.c, s.c)
	}
	if err != nil {
		return 0
	}
	n := 0
	for f, err := s.stack.Frame(0); f != nil && err == nil; f, err = f.Prev() {
		if s.registers {
			f.Registers(&s.all)
		}
		n++
	}
	return n
}

// nsPerFrame times walks for some milliseconds, as the peers do: it reads the clock once in 2,000
// frames or more.
func nsPerFrame(walk func() int) (float64, error) {
	frames := walk()
	if frames == 0 {
		return 0, fmt.Errorf("no frames")
	}
	batch := 2000/frames + 1
	walks := 0
	start := time.Now()
	for time.Since(start) < 5*time.Millisecond {
		for range batch {
			walk()
		}
		walks += batch
	}
	return float64(time.Since(start).Nanoseconds()) / float64(walks*frames), nil
}
