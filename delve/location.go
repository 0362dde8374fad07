//go:build linux && (amd64 || arm64)

package delve

import (
	"strings"

	"github.com/go-delve/delve/pkg/proc"
	"github.com/go-delve/delve/service/api"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/printable"
	"github.com/sfwalk/sfwalk/symbol"
)

// cPrefix is Delve's prefix of the names of functions that are not Go's.
const cPrefix = "C."

func isC(fn *proc.Function) bool { return fn != nil && strings.HasPrefix(fn.Name, cPrefix) }

// signalName is GDB's name for a signal trampoline.
const signalName = "<signal handler called>"

// Delve's file and line for code without lines.
const (
	noFile = "?"
	noLine = -1
)

// Name is a sniffer's name for a frame, or for the frame's code.
type Name struct {
	FrameOnly bool // the name is for one frame; else it is for code that no file names
	Function  string
	Start     uint64 // run-time address; 0 if not known
	File      string // "" if not known
	Line      int    // from 1; 0 if not known
}

// named gives the physical frame f the name that [Target.Name] has for it. list ends with f; the
// calls inlined in it come before.
func (k *delveStack) named(f *frame.Frame, list []Frame) []Frame {
	if k.t.Name == nil || k.t.IsGo(block(f)) {
		return list
	}
	name, ok := k.t.Name(f)
	last := &list[len(list)-1]
	if !ok || !name.FrameOnly && last.Function != nil {
		return list
	}
	if name.FrameOnly {
		last = &list[0]
		*last = list[len(list)-1]
		list = list[:1]
	}
	last.Function = &api.Function{Name_: printable.Escape(name.Function), Value: name.Start}
	last.File, last.Line = noFile, noLine
	if name.File != "" && name.Line > 0 {
		last.File, last.Line = printable.Escape(name.File), name.Line
	}
	return list
}

// located returns the calls inlined in f, and f, by the engine's own symbols. It is for code that
// Delve does not know, or has no lines for.
func (k *delveStack) located(f *frame.Frame) []Frame {
	cfa, fp := k.offsets(f)
	fn := k.t.Proc.BinInfo().PCToFunc(block(f))
	at := k.t.view.AppendOwn(nil, 0, f)
	list := make([]Frame, len(at))
	for i := range list {
		list[i] = Frame{
			Stackframe: api.Stackframe{
				Location:           k.t.location(f.PC(), block(f), &at[i].Location, f.Type() == frame.SigTramp),
				FrameOffset:        cfa,
				FramePointerOffset: fp,
				Defers:             []api.Defer{},
			},
			Physical: f, Inlined: at[i].Inline, subject: k.subject, logical: at[i],
		}
	}
	if fn == nil {
		return list
	}
	// Lines of Go code are also in its function table, which Delve reads.
	last := &list[len(list)-1]
	last.Function = api.ConvertFunction(fn)
	if last.Line == noLine {
		if file, line, _ := k.t.Proc.BinInfo().PCToLine(block(f)); file != "" {
			last.File, last.Line = file, line
		}
	}
	last.Location = shown(last.Location)
	return list
}

// jumped returns the frames that left by a tail call after f had called them. Their places on the
// stack are NEXT's. Delve does not know such frames.
func (k *delveStack) jumped(f *frame.Frame) (list []Frame) {
	for _, x := range k.t.view.AppendTailCalls(nil, 0, f) {
		cfa, fp := k.offsets(x.Physical)
		list = append(list, Frame{
			Stackframe: api.Stackframe{
				Location:           k.t.location(x.PC, x.AddressInBlock, &x.Location, false),
				FrameOffset:        cfa,
				FramePointerOffset: fp,
				Defers:             []api.Defer{},
			},
			Physical: x.Physical, TailCall: true, subject: k.subject, logical: x,
		})
	}
	return list
}

// shown returns l, a location that Delve has read, with control characters in its names escaped.
func shown(l api.Location) api.Location {
	l.File = printable.Escape(l.File)
	if l.Function != nil {
		l.Function.Name_ = printable.Escape(l.Function.Name_)
	}
	return l
}

// location converts at, the symbols at the address block, which was looked up for pc. Clients
// print locations on terminals, so control characters are escaped. signal says that pc is in a
// signal trampoline.
func (t *Target) location(pc, block uint64, at *symbol.Location, signal bool) api.Location {
	fn := t.Proc.BinInfo().PCToFunc(block)
	l := api.Location{PC: pc, File: noFile, Line: noLine}
	if at.File != "" && at.Line > 0 {
		l.File, l.Line = printable.Escape(at.File), at.Line
	}
	switch {
	case signal && fn == nil:
		l.Function = &api.Function{Name_: signalName}
		return l
	case at.Function == "":
		return l
	}
	l.Function = &api.Function{Name_: printable.Escape(at.Function), Value: at.Start}
	if at.Entry != 0 {
		l.Function.Value = at.Entry
	}
	if !t.IsGo(block) {
		l.Function.Name_ = cPrefix + l.Function.Name_
	} else if fn != nil {
		l.Function.Optimized = fn.Optimized()
	}
	return l
}
