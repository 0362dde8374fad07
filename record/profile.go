package record

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/sfwalk/sfwalk/internal/perfmap"
	"github.com/sfwalk/sfwalk/perfevent"
	"github.com/sfwalk/sfwalk/picture"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
)

// Profile is what was recorded: stacks, and how often each was found.
type Profile struct {
	Event     perfevent.Event
	Frequency int
	Start     time.Time
	Duration  time.Duration
	Threads   []Thread
	Stats     Stats
	Kernel    bool // samples in the kernel's code are there, too

	tree   *tree
	owners map[*target.Module]int
}

// Process returns the process that a module was mapped in, so that its files can be found; 0 if m is of none.
func (p *Profile) Process(m *target.Module) (pid int) { return p.owners[m] }

// Picture names the frames, and returns the stacks as one picture.
func (p *Profile) Picture(symbols *symbol.Symbolizer) *picture.Stacks {
	n := namer{symbols: symbols, profile: p, modules: map[*target.Module]*picture.Module{}, alone: map[*target.Module]*target.Modules{}, maps: map[int32]*perfmap.Map{}}
	s := &picture.Stacks{Time: p.Start, Duration: p.Duration}
	s.Types = []picture.Type{{Name: "samples", Unit: "count"}}
	if p.Event.Unit != "nanoseconds" {
		s.Types = append(s.Types, picture.Type{Name: p.Event.Name, Unit: p.Event.Unit})
	} else {
		s.Types = append(s.Types, picture.Type{Name: "cpu", Unit: "nanoseconds"})
		s.PeriodType, s.Period = picture.Type{Name: "cpu", Unit: "nanoseconds"}, int64(time.Second)/int64(p.Frequency)
	}
	var inKernel []uint64
	for i := range p.tree.places {
		if p.tree.places[i].kind == placeKernel {
			inKernel = append(inKernel, p.tree.places[i].addr)
		}
	}
	n.kernel = kernelNames(inKernel)
	named := make([][]picture.Place, len(p.tree.places))
	processes := map[int]bool{}
	for _, t := range p.Threads {
		processes[t.PID] = true
	}
	var room []picture.Place
	for key, c := range p.tree.counts {
		room = room[:0]
		if key.cut {
			room = append(room, picture.Place{Name: "[inner frames are left out: there are too many different stacks]"})
		}
		for at := key.node; at != 0; at = p.tree.nodes[at].parent {
			id := p.tree.nodes[at].place
			if named[id] == nil {
				named[id] = n.name(&p.tree.places[id])
			}
			room = append(room, named[id]...)
		}
		t := p.Threads[key.thread]
		sample := picture.Sample{Values: []int64{int64(c.samples), int64(c.value)}, Numbers: []picture.Number{{Key: "tid", Value: int64(t.TID)}, {Key: "pid", Value: int64(t.PID)}}}
		if t.Name != "" {
			sample.Texts = []picture.Text{{Key: "thread", Value: t.Name}}
		}
		if len(processes) > 1 {
			sample.Root = fmt.Sprintf("%s [%d]", t.Process, t.PID)
		}
		s.Add(room, sample)
	}
	return s
}

// namer names places.
type namer struct {
	symbols *symbol.Symbolizer
	profile *Profile
	modules map[*target.Module]*picture.Module
	alone   map[*target.Module]*target.Modules
	kernel  map[uint64]string
	maps    map[int32]*perfmap.Map // of code that processes have made; nil where there is none
}

// compiled returns the name that a compiler at run time has given its code; "" if it has given none.
func (n *namer) compiled(pid int32, addr uint64) string {
	m, ok := n.maps[pid]
	if !ok {
		if f, err := openPerfMap(int(pid)); err == nil {
			if m, err = perfmap.Read(f); err != nil {
				m = nil
			}
			f.Close()
		}
		n.maps[pid] = m
	}
	if m == nil {
		return ""
	}
	return m.Name(addr)
}

// name returns the frames of a place: the calls that are inlined there, then the function.
func (n *namer) name(p *place) []picture.Place {
	switch {
	case p.kind == placeEnd:
		return []picture.Place{{Name: "[" + n.profile.tree.reasons[p.addr] + "]"}}
	case p.kind == placeKernel:
		return []picture.Place{{Function: n.kernel[p.addr], Name: fmt.Sprintf("[kernel] %#x", p.addr), Address: p.addr}}
	case p.module == nil:
		return []picture.Place{{Function: n.compiled(p.pid, p.addr), Name: fmt.Sprintf("%#x", p.addr), Address: p.addr}}
	}
	m := n.modules[p.module]
	if m == nil {
		m = &picture.Module{Path: p.module.Path, BuildID: p.module.BuildID(), Lo: p.module.Lo(), Hi: p.module.Hi()}
		if len(p.module.Mappings) > 0 {
			m.Offset = p.module.Mappings[0].Offset
		}
		n.modules[p.module] = m
		n.alone[p.module] = target.NewModules([]*target.Module{p.module}, nil)
	}
	var list []picture.Place
	for _, at := range n.symbols.Locate(n.alone[p.module], p.addr) {
		list = append(list, picture.Place{Function: at.Function, File: at.File, Line: at.Line, Address: p.addr, Module: m, Inlined: at.Inline})
	}
	if len(list) == 0 {
		list = []picture.Place{{Address: p.addr, Module: m}}
	}
	for i := range list {
		if list[i].Function == "" {
			list[i].Name = fmt.Sprintf("%s+%#x", filepath.Base(m.Path), p.addr-m.Lo+m.Offset)
		}
	}
	return list
}
