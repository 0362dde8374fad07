package language

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// Bounds of what [Save] keeps of one stack: the text, in bytes, and its commas, for a comma may
// stand for a whole frame.
const (
	mostSaved  = 4 << 20
	mostCommas = 1 << 18
)

// errSaved says that a saved text is larger than any that [Save] makes.
var errSaved = fmt.Errorf("what languages said of the stack has more than %d bytes or %d parts", mostSaved, mostCommas)

// said is what one run time has said of a stack. Levels of physical frames are meant where their
// PCs are the same.
type said struct {
	Language   string      `json:"language"`
	Decoration *Decoration `json:"decoration,omitempty"` // nil for nothing
	PCs        []levelPC   `json:"pcs,omitempty"`        // of the levels in Own and Names
	Error      string      `json:"error,omitempty"`
}

type levelPC struct {
	Level int    `json:"level"`
	PC    uint64 `json:"pc"`
}

// Save returns what run times have said of a stack, as text for [Restore]. Run times that have
// nothing to say are in it, too. It leaves out variables if the text would be too large for them,
// and fails if it still is.
func Save(s *Stack, runtimes []Named, d *Decorated) ([]byte, error) {
	list := []said{}
	for i, r := range runtimes {
		x := said{Language: r.Language}
		if d != nil && d.said[i].decoration != nil {
			x.Decoration = d.said[i].decoration
			for _, level := range x.Decoration.levels() {
				if level >= 0 && level < len(s.Frames) {
					x.PCs = append(x.PCs, levelPC{level, s.Frames[level].PC()})
				}
			}
		}
		if d != nil && d.said[i].err != nil {
			x.Error = d.said[i].err.Error()
		}
		list = append(list, x)
	}
	text, err := json.Marshal(list)
	if err != nil || !tooLarge(text) {
		return text, err
	}
	for i := range list {
		list[i].Decoration = list[i].Decoration.withoutVariables()
	}
	if text, err = json.Marshal(list); err == nil && tooLarge(text) {
		err = errSaved
	}
	return text, err
}

func tooLarge(text []byte) bool {
	return len(text) > mostSaved || bytes.Count(text, []byte(",")) > mostCommas
}

// levels returns the levels in Own and Names, ascending.
func (d *Decoration) levels() []int {
	list := slices.Clone(d.Own)
	for level := range d.Names {
		list = append(list, level)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// withoutVariables returns a copy of d that has no arguments and local variables.
func (d *Decoration) withoutVariables() *Decoration {
	if d == nil {
		return nil
	}
	c := *d
	c.Groups = slices.Clone(d.Groups)
	for i := range c.Groups {
		g := &c.Groups[i]
		g.Frames = slices.Clone(g.Frames)
		for j := range g.Frames {
			g.Frames[j].Args, g.Frames[j].Locals = nil, nil
		}
	}
	return &c
}

// Restore returns the run times that [Save] has written of one stack. They decorate that stack
// alone, as often as they are asked.
func Restore(text []byte) ([]Named, error) {
	if tooLarge(text) {
		return nil, errSaved
	}
	var list []said
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("what languages said of the stack is broken: %w", err)
	}
	var runtimes []Named
	for i := range list[:min(len(list), mostRuntimes)] {
		runtimes = append(runtimes, Named{list[i].Language, &list[i]})
	}
	return runtimes, nil
}

// Decorate implements [Runtime]. Stacks may be walked otherwise where they are restored, so levels
// whose PC is another one are left out. [Decorate] checks the anchors.
func (x *said) Decorate(s *Stack) (*Decoration, error) {
	var err error
	if x.Error != "" {
		err = errors.New(x.Error)
	}
	if x.Decoration == nil {
		return nil, err
	}
	d := x.Decoration
	if !s.Locals {
		d = d.withoutVariables()
	}
	c := *d
	same := map[int]bool{}
	for _, p := range x.PCs {
		if p.Level >= 0 && p.Level < len(s.Frames) && s.Frames[p.Level].PC() == p.PC {
			same[p.Level] = true
		}
	}
	c.Own, c.Names = nil, map[int]string{}
	for _, level := range d.Own {
		if same[level] {
			c.Own = append(c.Own, level)
		}
	}
	for level, name := range d.Names {
		if same[level] {
			c.Names[level] = name
		}
	}
	return &c, err
}
