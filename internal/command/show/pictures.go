package show

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/picture"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/jit"
)

// drawing turns stacks into a picture's.
type drawing struct {
	stacks  picture.Stacks
	modules map[*target.Module]*picture.Module
	equal   map[picture.Module]*picture.Module
	room    []picture.Place
	pid     int    // of the process; 0 if there is one alone
	root    string // the process, around its stacks; "" if there is one alone
}

func newDrawing() *drawing {
	return &drawing{stacks: picture.Stacks{Types: []picture.Type{{Name: "threads", Unit: "count"}}, Time: time.Now()}, modules: map[*target.Module]*picture.Module{}, equal: map[picture.Module]*picture.Module{}}
}

// add adds a thread's stack.
func (d *drawing) add(s report.Source, x *report.Walked) {
	d.room = d.room[:0]
	for i := range x.Frames {
		f := &x.Frames[i]
		p := picture.Place{Function: f.Function, NameFrom: f.NameFrom, File: f.File, Line: f.Line, Address: f.Block, Inlined: i+1 < len(x.Frames) && x.Frames[i+1].Over}
		switch {
		case f.Type == frame.SigTramp.String():
			p.Function = "<signal handler called>"
		case f.Function == "" && f.Module != "":
			p.Name = fmt.Sprintf("%s+%#x", filepath.Base(f.Module), f.InFile)
		}
		switch m := s.Modules().Find(f.Block); {
		case f.Type == report.Language:
			p.Code = picture.LanguageCode
		case m != nil:
			p.Module, p.Code = d.module(m, f), codeOf(m)
		case f.Function != "": // by who has made it
			p.Code = picture.MadeCode
		}
		d.room = append(d.room, p)
	}
	t := &x.Thread
	sample := picture.Sample{Values: []int64{1}, Numbers: []picture.Number{{Key: "tid", Value: int64(t.TID)}}}
	if d.pid != 0 {
		sample.Root = d.root
	}
	if g := t.Goroutine; g != nil {
		sample.Numbers = []picture.Number{{Key: "goroutine", Value: int64(g.Number)}}
		sample.Texts = append(sample.Texts, picture.Text{Key: "state", Value: g.State(false)})
		if g.Runtime != "" {
			sample.Texts = append(sample.Texts, picture.Text{Key: "runtime", Value: g.Runtime})
		}
		for _, l := range g.Labels {
			sample.Texts = append(sample.Texts, picture.Text(l))
		}
	}
	if d.pid != 0 {
		sample.Numbers = append(sample.Numbers, picture.Number{Key: "pid", Value: int64(d.pid)})
	}
	if t.Name != "" {
		sample.Texts = append(sample.Texts, picture.Text{Key: "thread", Value: t.Name})
	}
	for i := range t.Languages {
		if told := &t.Languages[i]; told.Name != "" {
			sample.Texts = append(sample.Texts, picture.Text{Key: told.Language + " thread", Value: told.Name})
		}
	}
	d.stacks.Add(d.room, sample)
}

// codeOf returns whose code a module is.
func codeOf(m *target.Module) picture.Code {
	switch {
	case m.Registered() || jit.IsDump(m.Path):
		return picture.MadeCode
	case m.IsProgram():
		return picture.OwnCode
	}
	return picture.LibraryCode
}

// module returns the module m of a picture.
func (d *drawing) module(m *target.Module, f *report.Frame) *picture.Module {
	x, ok := d.modules[m]
	if !ok {
		made := picture.Module{Path: m.Path, BuildID: f.BuildID, Lo: m.Lo(), Hi: m.Hi()}
		if len(m.Mappings) > 0 {
			made.Offset = m.Mappings[0].Offset
		}
		if x, ok = d.equal[made]; !ok { // the same one of another round
			x = &made
			d.equal[made] = x
		}
		d.modules[m] = x
	}
	return x
}
