//go:build linux && (amd64 || arm64)

package delve

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/go-delve/delve/service/api"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/printable"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/target"
)

// languages are the run times of languages in the process: an interpreter in a library that Go
// calls, or a program that is not Go's.
type languages struct {
	stale    bool             // the process may have run since they were looked for
	modules  []*target.Module // that were looked at
	runtimes []language.Named
	failed   []string // why run times cannot be read
	warned   []string // about stacks, since the process has stopped
}

// mostWarnings bounds the warnings about the stacks of one stop.
const mostWarnings = 8

// find returns the run times of languages. They are looked for once a stop, if the modules have
// changed, or a run time could not be read: it may just have begun.
func (l *languages) find(t *Target) []language.Named {
	modules := t.modules.All()
	if len(t.Decorators) == 0 || !l.stale {
		return l.runtimes
	}
	l.stale = false
	if l.failed == nil && slices.Equal(modules, l.modules) {
		return l.runtimes
	}
	l.modules, l.failed = slices.Clone(modules), nil
	var err error
	l.runtimes, err = language.Find(&language.Process{Arch: t.arch, Memory: t.seen, Modules: t.modules}, t.Decorators)
	if err != nil {
		l.failed = strings.Split(err.Error(), "\n")
	}
	return l.runtimes
}

// mostDecorated bounds the physical frames of a stack that languages decorate.
const mostDecorated = 1 << 16

// decorated returns what the languages say of the subject's stack; nil for nothing, and for a
// goroutine that no thread runs: C has no frames there.
func (s *subject) decorated(stack *frame.Stack, locals bool) *language.Decorated {
	if s.thread == nil {
		return nil
	}
	l := &s.t.languages
	runtimes := l.find(s.t)
	if len(runtimes) == 0 {
		return nil
	}
	in := language.Stack{Arch: s.t.arch, Thread: &thread{s.thread, s.t.arch}, Memory: s.t.seen, Locals: locals}
	for f, err := range stack.All() {
		if err != nil || len(in.Frames) == mostDecorated {
			in.Whole = false
			break
		}
		in.Frames, in.Whole = append(in.Frames, f), f.StopReason().Whole()
	}
	if len(in.Frames) == 0 {
		return nil
	}
	d := language.Decorate(&in, runtimes)
	if d != nil {
		for _, text := range d.Warnings {
			if len(l.warned) < mostWarnings && !slices.Contains(l.warned, text) {
				l.warned = append(l.warned, text)
			}
		}
	}
	return d
}

// decorate returns group, the frames that lie over the physical frame f, as the languages say it,
// and the frames of languages that stand in their place, or outside of them.
func (k *delveStack) decorate(f *frame.Frame, group []Frame) []Frame {
	if k.languages == nil {
		return group
	}
	place := k.languages.At[f.Level]
	if place == nil {
		return group
	}
	if last := &group[len(group)-1]; place.Name != "" {
		last.Function, last.File, last.Line = &api.Function{Name_: languageName(place.Name, place.By)}, noFile, noLine
	}
	if place.Hidden && !k.t.AllFrames {
		k.left += len(group)
		group = nil
	}
	cfa, fp := k.offsets(f)
	for i := range place.Frames {
		p := &place.Frames[i]
		x := Frame{
			Stackframe: api.Stackframe{
				Location:           api.Location{PC: f.PC(), File: noFile, Line: noLine, Function: &api.Function{Name_: languageName(p.Function, p.Language)}},
				FrameOffset:        cfa,
				FramePointerOffset: fp,
				Defers:             []api.Defer{},
			},
			Physical: f, Language: p, subject: k.subject,
		}
		if p.File != "" && p.Line > 0 {
			x.File, x.Line = printable.Escape(p.File), p.Line
		}
		group = append(group, x)
	}
	return group
}

// languageName returns the name of a function of a language, as sfwalk's texts have it.
func languageName(function, language string) string {
	return printable.Escape(function) + " [" + printable.Escape(language) + "]"
}

// ofLanguage returns the arguments and local variables of a frame of a language. They are read at
// the first call.
func (f *Frame) ofLanguage() (arguments, locals []language.Variable, err error) {
	if f.valued == nil {
		stack, err := f.subject.stack()
		if err != nil {
			return nil, nil, err
		}
		f.valued = &language.Placed{} // if the stack is another one now
		if d := f.subject.decorated(stack, true); d != nil {
			if at := d.At[f.Physical.Level]; at != nil && f.Language.Depth <= len(at.Frames) {
				f.valued = &at.Frames[f.Language.Depth-1]
			}
		}
	}
	v := f.valued
	if v.Function != f.Language.Function || v.Args == nil && v.Locals == nil {
		return nil, nil, fmt.Errorf("%s: a function of %s, of which nothing more is known: %w", f.Function.Name(), f.Language.Language, ErrNoVariables)
	}
	return v.Args, v.Locals, nil
}

// VariableOfLanguage returns an argument or a local variable of a frame of a language, by its name.
// The error wraps [ErrNoVariables] if there are none.
func (f *Frame) VariableOfLanguage(name string) (api.Variable, error) {
	if f.Language == nil {
		return api.Variable{}, fmt.Errorf("%s: no frame of a language: %w", f.Function.Name(), ErrNoVariables)
	}
	arguments, locals, err := f.ofLanguage()
	if err != nil {
		return api.Variable{}, err
	}
	for _, v := range slices.Concat(locals, arguments) {
		if v.Name == name {
			return convertedText(&v), nil
		}
	}
	return api.Variable{}, fmt.Errorf("%s: no variable %s: of %s, variables are read, and no expressions", f.Function.Name(), name, f.Language.Language)
}

// convertedTexts converts variables of languages to Delve's API.
func convertedTexts(list []language.Variable, flags api.VariableFlags) []api.Variable {
	out := make([]api.Variable, 0, len(list))
	for i := range list {
		a := convertedText(&list[i])
		a.Flags |= flags
		out = append(out, a)
	}
	return out
}

// convertedText converts a variable. Clients print the texts of numbers as they are.
func convertedText(v *language.Variable) api.Variable {
	typ := printable.Escape(v.Type)
	return api.Variable{
		Name: printable.Escape(v.Name), Type: typ, RealType: typ, Kind: reflect.Int, Value: printable.Escape(v.Value),
		Addr: nowhere, Flags: api.VariableFakeAddress,
	}
}
