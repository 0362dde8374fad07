package language

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/count"
)

// Decorated is a stack with what the languages say of it.
type Decorated struct {
	// At has what stands at each physical frame, by level.
	At map[int]*Place
	// Threads are what the languages know of the thread.
	Threads []Told
	// Warnings say what was wrong.
	Warnings []string

	said   []answer // of each run time
	places []Place  // room for more
}

// answer is what a run time has answered.
type answer struct {
	decoration *Decoration
	err        error
}

// Told is what one language knows of a thread.
type Told struct {
	Language string
	Thread
}

// Place is what stands at one physical frame.
type Place struct {
	Frames []Placed // in its place, or outside of it if it is not Hidden
	Hidden bool     // the physical frame is the run time's own
	Name   string   // another name for the physical frame; "" for none
	By     string   // the language that hides or names it
}

// Placed is a frame of a language in its place.
type Placed struct {
	Frame
	Language string
	Depth    int    // from 1 on, the innermost at the physical frame; for IDs
	Holds    []Lock // locks of [Thread.Holds] that this frame has
}

// Named is a run time and its language.
type Named struct {
	Language string
	Runtime
}

// Decorate asks the run times of a process for what they say of a stack, and checks it. It returns
// nil if they say nothing.
func Decorate(s *Stack, runtimes []Named) *Decorated {
	var d *Decorated
	at := index{stack: s}
	for i, r := range runtimes {
		said, err := ask(r, s)
		if said == nil && err == nil {
			continue
		}
		if d == nil {
			d = &Decorated{said: make([]answer, len(runtimes))}
		}
		d.said[i] = answer{said, err}
		if said != nil {
			d.add(&at, r.Language, said)
			if said.Early != "" {
				d.warn(r.Language, s, said.Early)
			}
		}
		if err != nil {
			d.warn(r.Language, s, err.Error())
		}
	}
	return d
}

// ask has one run time decorate a stack. A decorator that fails costs its own frames.
func ask(r Named, s *Stack) (d *Decoration, err error) {
	defer func() {
		if x := recover(); x != nil {
			d, err = nil, fmt.Errorf("the decorator has failed: %v", x)
		}
	}()
	return r.Decorate(s)
}

func (d *Decorated) warn(language string, s *Stack, text string) {
	text = cut(text, mostText)
	d.Warnings = append(d.Warnings, fmt.Sprintf("thread %d: %s: %s", s.Thread.ID(), language, text))
}

// place returns the place at a level.
func (d *Decorated) place(level int, language string) *Place {
	p := d.At[level]
	if p == nil {
		if len(d.places) == 0 {
			d.places = make([]Place, min(len(d.At)+8, 64))
		}
		p, d.places = &d.places[0], d.places[1:]
		d.At[level] = p
	}
	if p.By == "" {
		p.By = language
	}
	return p
}

// NoPlace is in the warning of frames whose anchors are in no physical frame.
const NoPlace = "belong to no place in the stack, and stand behind it"

// mostFrames bounds the frames that languages add to one stack.
const mostFrames = 1 << 17

func (d *Decorated) add(at *index, language string, said *Decoration) {
	s, left := at.stack, mostFrames
	for _, p := range d.At {
		left -= len(p.Frames)
	}
	said.bound()
	if d.At == nil {
		d.At = make(map[int]*Place, min(len(said.Groups)+len(said.Own)+len(said.Names), len(s.Frames)))
	}
	total := 0
	for i := range said.Groups {
		total += len(said.Groups[i].Frames)
	}
	room := make([]Placed, min(total, left)) // there may be a hundred thousand: they are made at once
	var behind []Placed
	level := 0 // of the next frame, among the frames of the language
	for i := range said.Groups {
		g := &said.Groups[i]
		tooMany := len(g.Frames) > left
		n := min(len(g.Frames), left)
		frames := room[:n:n]
		room, left = room[n:], left-n
		for j := range frames {
			frames[j] = Placed{Frame: g.Frames[j], Language: language, Holds: said.Thread.heldAt(level)}
			frames[j].bound()
			level++
		}
		if physical, ok := at.find(&g.Anchor); ok {
			p := d.place(physical, language)
			p.add(frames)
			p.Hidden = p.Hidden || !g.Anchor.Beside && replaceable(s.Frames[physical])
		} else {
			behind = append(behind, frames...)
		}
		if tooMany {
			d.warn(language, s, "there are more than 2^17 frames, and the outer ones are left out")
			break
		}
	}
	if len(behind) > 0 && len(s.Frames) > 0 {
		d.place(len(s.Frames)-1, language).add(behind)
		d.warn(language, s, count.Of(len(behind), "frame")+" "+NoPlace)
	}
	for _, level := range said.Own {
		if level >= 0 && level < len(s.Frames) && replaceable(s.Frames[level]) {
			d.place(level, language).Hidden = true
		}
	}
	for level, name := range said.Names {
		if level >= 0 && level < len(s.Frames) {
			p := d.place(level, language)
			p.Name, p.By = name, language
		}
	}
	d.Threads = append(d.Threads, Told{language, said.Thread})
}

// replaceable reports whether a frame may be a run time's own: it is a function, which may lead to
// another stack.
func replaceable(f *frame.Frame) bool {
	return f.Type() == frame.Normal || f.Type() == frame.OtherStack
}

// add adds frames of a language, the innermost first.
func (p *Place) add(frames []Placed) {
	for i := range frames {
		frames[i].Depth = len(p.Frames) + i + 1
	}
	if p.Frames == nil {
		p.Frames = frames // there may be a hundred thousand: they need no copy
	} else {
		p.Frames = append(p.Frames, frames...)
	}
}

// heldAt returns the locks that the frame of the language at a level holds.
func (t *Thread) heldAt(level int) (list []Lock) {
	for i := range t.Holds {
		if t.Holds[i].Level == level {
			list = append(list, t.Holds[i])
		}
	}
	return list
}

// index finds the physical frames to which anchors lead.
type index struct {
	stack *Stack
	byCFA []extent // in the order of their CFAs; nil if none was looked for yet
}

// extent is the part of a stack that a physical frame takes: [sp, cfa).
type extent struct {
	sp, cfa uint64
	level   int
}

// find returns the level of the physical frame to which an anchor leads.
func (x *index) find(a *Anchor) (level int, ok bool) {
	frames := x.stack.Frames
	if a.Address == 0 {
		if a.Level < 0 || a.Level >= len(frames) {
			return 0, false
		}
		cfa, _ := frames[a.Level].CFA()
		return a.Level, frames[a.Level].PC() == a.PC && cfa == a.CFA
	}
	if x.byCFA == nil {
		x.byCFA = make([]extent, 0, len(frames))
		for _, f := range frames {
			cfa, ok := f.CFA()
			sp := f.Register(x.stack.Arch.SP)
			if ok && sp.Known() && sp.Bits < cfa {
				x.byCFA = append(x.byCFA, extent{sp.Bits, cfa, f.Level})
			}
		}
		// Frames may be on several stacks, whose addresses are in any order.
		slices.SortFunc(x.byCFA, func(a, b extent) int { return cmp.Compare(a.cfa, b.cfa) })
	}
	i := sort.Search(len(x.byCFA), func(i int) bool { return x.byCFA[i].cfa > a.Address })
	if i == len(x.byCFA) || x.byCFA[i].sp > a.Address {
		return 0, false
	}
	return x.byCFA[i].level, true
}
