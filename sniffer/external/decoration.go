package external

import (
	"errors"
	"math"

	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/plugin/protocol"
)

// decorated is a decoration of which pages are added one after the other, each checked.
type decorated struct {
	decoration *language.Decoration // nil if the thread has nothing of the language
	fails      error                // what the plug-in says has failed; nil for nothing

	physical int // frames
	locals   bool
	frames   int // of the language
	size     int // bytes of texts, about
}

func (d *decorated) limits(s *language.Stack) { d.physical, d.locals = len(s.Frames), s.Locals }

// add checks a page and adds it. The error, which wraps ErrNonsense, says what is wrong with it.
func (d *decorated) add(m *protocol.Decoration) error {
	if len(m.Groups)+len(m.Own)+len(m.Names) > 0 || m.Early != "" || m.Thread.String() != "" {
		if d.decoration == nil {
			d.decoration = &language.Decoration{}
		}
	}
	for _, g := range m.Groups {
		if err := d.group(g); err != nil {
			return err
		}
	}
	for _, level := range m.Own {
		if err := d.level(level); err != nil {
			return err
		}
		d.decoration.Own = append(d.decoration.Own, int(level))
	}
	for _, x := range m.Names {
		if err := d.level(x.GetLevel()); err != nil {
			return err
		}
		if d.decoration.Names == nil {
			d.decoration.Names = map[int]string{}
		}
		d.decoration.Names[int(x.GetLevel())] = d.text(x.GetName())
	}
	if len(m.Thread.GetWaits()) > protocol.MaxLocks || len(m.Thread.GetHolds()) > protocol.MaxLocks {
		return nonsense("a thread that waits for %d locks and holds %d: at most %d of each", len(m.Thread.Waits), len(m.Thread.Holds), protocol.MaxLocks)
	}
	if t := m.Thread; t != nil && d.decoration != nil {
		d.decoration.Thread = language.Thread{
			Name: d.text(t.Name), State: d.text(t.State), Exception: d.text(t.Exception), Waits: d.locks(t.Waits), Holds: d.locks(t.Holds),
		}
	}
	if m.Early != "" {
		d.decoration.Early = d.text(m.Early)
	}
	if m.Fails != "" {
		d.fails = errors.New(d.text(m.Fails))
	}
	switch x := d.decoration; {
	case d.size > protocol.MaxDecoration:
		return nonsense("texts of more than %d bytes", protocol.MaxDecoration)
	case x != nil && (len(x.Own) > protocol.MaxDecorated || len(x.Names) > protocol.MaxDecorated):
		return nonsense("a decoration with %d levels of its own and %d names: at most %d of each", len(x.Own), len(x.Names), protocol.MaxDecorated)
	}
	return nil
}

// text makes a text fit to be shown, and counts it.
func (d *decorated) text(s string) string {
	s = clean(s, protocol.MaxText)
	d.size += len(s)
	return s
}

func (d *decorated) level(n uint32) error {
	if int64(n) >= int64(d.physical) {
		return nonsense("the physical frame %d of a stack that has %d", n, d.physical)
	}
	return nil
}

// group adds a group. Whether its anchor is right is for [language.Decorate] to say.
func (d *decorated) group(m *protocol.Group) error {
	if len(m.GetFrames()) == 0 {
		return nonsense("a group without frames")
	}
	if d.frames += len(m.Frames); d.frames > protocol.MaxDecorated {
		return nonsense("more than %d frames on one stack", protocol.MaxDecorated)
	}
	g := language.Group{Anchor: language.Anchor{Address: m.Address, Beside: m.Beside}}
	if m.Address == 0 {
		if err := d.level(m.Level); err != nil {
			return err
		}
		g.Anchor.Level, g.Anchor.PC, g.Anchor.CFA = int(m.Level), m.Pc, m.Cfa
	}
	for _, f := range m.Frames {
		x, err := d.frame(f)
		if err != nil {
			return err
		}
		g.Frames = append(g.Frames, x)
	}
	d.decoration.Groups = append(d.decoration.Groups, g)
	return nil
}

func (d *decorated) frame(f *protocol.LanguageFrame) (x language.Frame, err error) {
	if f.GetFunction() == "" {
		return x, nonsense("a frame of the language without the name of its function")
	}
	if len(f.Args) > protocol.MaxVariables || len(f.Locals) > protocol.MaxVariables {
		return x, nonsense("a frame with %d arguments and %d local variables: at most %d of each", len(f.Args), len(f.Locals), protocol.MaxVariables)
	}
	x = language.Frame{
		Function: d.text(f.Function), File: d.text(f.File), Line: int(min(f.Line, math.MaxInt32)), Kind: d.text(f.Kind), Place: f.Place,
		MovedOn: f.MovedOn, Guess: f.Guess,
	}
	if d.locals {
		x.Args, x.Locals = d.variables(f.Args), d.variables(f.Locals)
	}
	if d.size > protocol.MaxDecoration {
		return x, nonsense("texts of more than %d bytes", protocol.MaxDecoration)
	}
	return x, nil
}

func (d *decorated) variables(list []*protocol.Variable) (to []language.Variable) {
	const each = 16 // bytes that a variable counts beside its texts
	for _, v := range list {
		d.size += each
		to = append(to, language.Variable{Name: d.text(v.GetName()), Type: d.text(v.GetType()), Value: d.text(v.GetValue())})
	}
	return to
}

func (d *decorated) locks(list []*protocol.Lock) (to []language.Lock) {
	for _, l := range list {
		to = append(to, language.Lock{
			Kind: d.text(l.GetKind()), Name: d.text(l.GetName()), Address: l.GetAddress(), Owner: int(max(l.GetOwner(), 0)),
			Level: int(min(int64(l.GetFrame()), math.MaxInt32)) - 1, Timed: l.GetTimed(),
		})
	}
	return to
}
