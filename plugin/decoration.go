package plugin

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/plugin/protocol"
	"github.com/sfwalk/sfwalk/trad"
)

// alone is a decorator as a sniffer that claims no frame.
type alone struct{ Decorator }

// ServeDecorator serves a decorator, as [Serve] does a sniffer. The plug-in claims no frame.
func ServeDecorator(d Decorator) { Serve(alone{d}) }

// Describe describes the decorator as one that claims no code.
func (a alone) Describe() Description {
	d := a.Decorator.Describe()
	d.Claims = &Claims{}
	return d
}

// Begin implements [Sniffer].
func (a alone) Begin(*Target) (Session, error) {
	return nil, errors.New("it decorates stacks, and unwinds no frame")
}

// find answers a Begin for the stacks of a run time.
func (x *session) find() *protocol.Ready {
	d, ok := x.sniffer.(Decorator)
	if !ok {
		return &protocol.Ready{NoRunTime: true}
	}
	var err error
	x.runtime, err = d.Find(x.query.Target)
	switch {
	case errors.Is(err, ErrNoRuntime) || err == nil && x.runtime == nil:
		x.runtime = nil
		return &protocol.Ready{NoRunTime: true}
	case err != nil:
		x.runtime = nil
		return &protocol.Ready{Declines: orUnsaid(err.Error())}
	}
	return &protocol.Ready{}
}

// decorate answers a stack, and has the host send its further pages. It sends all pages of the
// decoration but the last, which it returns.
func (x *session) decorate(m *protocol.Stack) (*protocol.FromPlugin, error) {
	if x.runtime == nil {
		return decorationPage(&protocol.Decoration{Number: m.Number}), nil
	}
	s := &Stack{Target: x.query.Target, Thread: int(m.Thread), Locals: m.Locals}
	for {
		for _, f := range m.Frames {
			s.Frames = append(s.Frames, stackFrame(f))
		}
		s.Whole = m.Whole
		if !m.More {
			break
		}
		reply, err := s.Target.ask(&protocol.FromPlugin{Message: &protocol.FromPlugin_GoOn{GoOn: &protocol.Continue{}}})
		if err != nil {
			return nil, err
		}
		if m = reply.GetStack(); m == nil {
			return nil, fmt.Errorf("the host answers %T where a page of a stack was wanted", reply.Message)
		}
	}
	d, err := x.runtime.Decorate(s)
	pages := d.pages(s, m.Number)
	if err != nil {
		pages[len(pages)-1].Fails = orUnsaid(err.Error())
	}
	messages := make([]*protocol.FromPlugin, len(pages))
	for i, page := range pages {
		messages[i] = decorationPage(page)
	}
	return s.Target.sendPages(messages)
}

// sendPages sends all pages but the last, which it returns.
func (t *Target) sendPages(pages []*protocol.FromPlugin) (last *protocol.FromPlugin, err error) {
	for _, page := range pages[:len(pages)-1] {
		reply, err := t.ask(page)
		if err != nil {
			return nil, err
		}
		if reply.GetGoOn() == nil {
			return nil, fmt.Errorf("the host answers %T where the next page was to be sent", reply.Message)
		}
	}
	return pages[len(pages)-1], nil
}

func orUnsaid(why string) string {
	if why == "" {
		return "it does not say why"
	}
	return why
}

func decorationPage(m *protocol.Decoration) *protocol.FromPlugin {
	return &protocol.FromPlugin{Message: &protocol.FromPlugin_Decoration{Decoration: m}}
}

func stackFrame(m *protocol.StackFrame) StackFrame {
	f := StackFrame{PC: m.Pc, AddressInBlock: m.Block, CFA: m.Cfa, SP: m.Sp, Signal: m.Type == protocol.FrameType_SIGNAL}
	for i, r := range m.Registers[:min(len(m.Registers), len(m.Values))] {
		if r < arch.MaxReg {
			f.Registers.Set(trad.Reg(r), m.Values[i])
		}
	}
	return f
}

// A page of a decoration has about as many bytes, and frames, at most: a message has 2 MiB.
const (
	pageBytes  = 256 << 10
	pageFrames = 4096
)

// pager makes the pages of one decoration.
type pager struct {
	number        uint64
	list          []*protocol.Decoration // at least one
	bytes, frames int                    // on the last page, about
}

// page returns the page that takes something more, of a size in bytes.
func (p *pager) page(size int) *protocol.Decoration {
	full := p.frames > 0 && (p.bytes+size > pageBytes || p.frames >= pageFrames)
	if full {
		p.list[len(p.list)-1].More = true
	}
	if full || len(p.list) == 0 {
		p.list = append(p.list, &protocol.Decoration{Number: p.number})
		p.bytes, p.frames = 0, 0
	}
	p.bytes += size
	p.frames++
	return p.list[len(p.list)-1]
}

// pages returns a decoration as messages. A nil decoration is an empty one.
func (d *Decoration) pages(s *Stack, number uint64) []*protocol.Decoration {
	p := &pager{number: number}
	if d == nil {
		p.page(0)
		return p.list
	}
	for i := range d.Groups {
		var group *protocol.Group
		var on *protocol.Decoration // the page that has group
		for j := range d.Groups[i].Frames {
			f, size := d.Groups[i].Frames[j].message()
			if page := p.page(size); page != on { // the group begins, or goes on on the next page
				on, group = page, d.Groups[i].message(s)
				page.Groups = append(page.Groups, group)
			}
			group.Frames = append(group.Frames, f)
		}
	}
	for _, level := range d.Own {
		if level >= 0 && level < len(s.Frames) {
			page := p.page(8)
			page.Own = append(page.Own, uint32(level))
		}
	}
	for _, level := range slices.Sorted(maps.Keys(d.Names)) {
		if level >= 0 && level < len(s.Frames) {
			name := text(d.Names[level])
			page := p.page(16 + len(name))
			page.Names = append(page.Names, &protocol.LevelName{Level: uint32(level), Name: name})
		}
	}
	t, size := d.Thread.message()
	last := p.page(size)
	last.Thread, last.Early = t, text(d.Early)
	return p.list
}

func (g *Group) message(s *Stack) *protocol.Group {
	m := &protocol.Group{Address: g.Anchor.Address, Beside: g.Anchor.Beside}
	if level := g.Anchor.Level; m.Address == 0 && level >= 0 && level < len(s.Frames) {
		m.Level, m.Pc, m.Cfa = uint32(level), s.Frames[level].PC, s.Frames[level].CFA
	}
	return m
}

// message returns a frame, and how many bytes it takes, about.
func (f *LanguageFrame) message() (m *protocol.LanguageFrame, size int) {
	m = &protocol.LanguageFrame{
		Function: text(f.Function), File: text(f.File), Line: bounded(f.Line), Kind: text(f.Kind), Place: f.Place, MovedOn: f.MovedOn, Guess: f.Guess,
	}
	size = 64 + len(m.Function) + len(m.File) + len(m.Kind)
	variables := func(list []Variable) (to []*protocol.Variable) {
		for _, v := range list[:min(len(list), protocol.MaxVariables)] {
			x := &protocol.Variable{Name: text(v.Name), Type: text(v.Type), Value: text(v.Value)}
			size += 16 + len(x.Name) + len(x.Type) + len(x.Value)
			to = append(to, x)
		}
		return to
	}
	m.Args, m.Locals = variables(f.Args), variables(f.Locals)
	return m, size
}

// message returns the facts, and how many bytes they take, about.
func (t *ThreadFacts) message() (m *protocol.LanguageThread, size int) {
	m = &protocol.LanguageThread{Name: text(t.Name), State: text(t.State), Exception: text(t.Exception)}
	size = 64 + len(m.Name) + len(m.State) + len(m.Exception)
	m.Waits, size = lockMessages(t.Waits, size)
	m.Holds, size = lockMessages(t.Holds, size)
	return m, size
}

// lockMessages returns locks, and size with the bytes that they take, about.
func lockMessages(list []Lock, size int) (to []*protocol.Lock, _ int) {
	for _, l := range list[:min(len(list), protocol.MaxLocks)] {
		x := &protocol.Lock{Kind: text(l.Kind), Name: text(l.Name), Address: l.Address, Owner: int32(l.Owner), Frame: bounded(l.Frame), Timed: l.Timed}
		size += 32 + len(x.Kind) + len(x.Name)
		to = append(to, x)
	}
	return to, size
}

// text returns as much of a text as a message takes. gRPC refuses text that is no UTF-8.
func text(s string) string {
	return strings.ToValidUTF8(s[:min(len(s), protocol.MaxText)], "\ufffd")
}
