package bash

import (
	"slices"
	"strconv"

	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/structs"
)

// Decorate implements [language.Runtime].
func (r *runtime) Decorate(s *language.Stack) (*language.Decoration, error) {
	p := r.placesOf(s)
	if p.outer < 0 {
		return nil, nil
	}
	m := structs.New(s.Arch, s.Memory, &r.pages)
	defer m.Free()
	calls, err := r.calls(m)
	if err != nil {
		return nil, err
	}
	line := int(m.Int(r.line, 4))
	if err := m.Err(); err != nil {
		return nil, err
	}
	frames := framesOf(calls, line)
	d := &language.Decoration{Own: p.own, Groups: p.groups(s, frames)}
	if !s.Whole {
		d.Early = "the stack is not whole: where its functions stand is not known"
	}
	if !s.FramesAlone {
		d.Thread.State = r.state(m, s, p)
	}
	return d, nil
}

// main is what bash calls the script itself.
const main = "main"

// framesOf returns the frames of calls, the outermost first, which is the script. line is the one
// that runs.
func framesOf(calls []call, line int) (frames []language.Frame) {
	if len(calls) == 0 || calls[0].name != main || calls[0].from != "0" {
		calls = slices.Insert(calls, 0, call{name: main, from: "0"}) // it was not given as a file
	}
	for i, c := range calls {
		f := language.Frame{Function: c.name, File: c.file, Place: c.at}
		switch {
		case c.file == "": // the line is of use to nobody
		case i+1 < len(calls) && calls[i+1].from != "":
			f.Line, _ = strconv.Atoi(calls[i+1].from)
		case c.from != "":
			f.Line = line
		}
		f.Line = max(f.Line, 0)
		frames = append(frames, f)
	}
	return frames
}
