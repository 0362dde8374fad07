package value

import (
	gocontext "context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	syntax "github.com/sfwalk/sfwalk/internal/expression"
	"github.com/sfwalk/sfwalk/logical"
)

// Session evaluates expressions one after the other. Each may name the values of earlier ones: $1
// is the value of the first one, $ the last one, $$ the one before that, $$2 the one before $$.
type Session struct {
	// Caller makes the calls that expressions ask for. If it is nil, a call is an error.
	Caller Caller
	// Frames returns the frames of the thread, the innermost first. An expression is evaluated in
	// the first one that has all its names. Frames is asked only if an expression has names of
	// variables or types, or compares. It may be nil.
	Frames func() []*Frame
	// Notes says what was taken for granted for the last expression, one sentence each.
	Notes []string

	outside Frame // where expressions are evaluated that need no frame
	history []Value
}

// NewSession returns a Session. Expressions that need no frame are C.
func (r *Reader) NewSession() *Session {
	outside := Frame{in: r.about(&logical.Frame{}, &scopes{}, r.Memory), Language: "c"}
	return &Session{outside: outside}
}

// Evaluate evaluates an expression, as GDB's call does. It runs functions of the target, if the
// expression calls any. The error points at a character of the expression, or is one of the
// [Caller].
func (s *Session) Evaluate(ctx gocontext.Context, text string) (Value, error) {
	s.Notes = nil
	e, n, err := s.read(text)
	if err != nil {
		return Value{}, err
	}
	v, err := e.in(ctx, s).value(n)
	if err == nil {
		if memory := (*MemoryError)(nil); errors.As(v.Err(), &memory) { // reads the value: it stays as it is now
			err = e.because(n.At, memory)
		}
	}
	s.history = append(s.history, v)
	return v, err
}

// EvaluateIn evaluates an expression in the frame, as [Frame.Evaluate] does, but runs the functions
// that it calls. The session keeps no value of it.
func (s *Session) EvaluateIn(ctx gocontext.Context, f *Frame, text string) (Value, error) {
	e, n, err := f.parse(text)
	if err != nil {
		return Value{}, err
	}
	return e.in(ctx, s).value(n)
}

// in has calls of an expression made by a session.
func (e *evaluation) in(ctx gocontext.Context, s *Session) *evaluation {
	e.ctx, e.session = ctx, s
	return e
}

// read parses an expression, and finds the frame that it is evaluated in.
func (s *Session) read(text string) (*evaluation, *syntax.Node, error) {
	plain, err := syntax.Parse(text)
	outside := &evaluation{r: s.outside.in.r, f: &s.outside, c: s.outside.in, text: text, session: s}
	if err == nil && !outside.needsFrame(plain) {
		return outside, plain, nil
	}
	frames := []*Frame{&s.outside}
	if s.Frames != nil {
		frames = append(s.Frames(), frames...)
	}
	if f := s.frameOf(frames, text, plain); f != nil {
		frames = []*Frame{f}
	}
	e, n, wrong := frames[0].parse(text)
	if wrong != nil && err == nil { // C, in a frame of another language
		return e, plain, nil
	}
	return e, n, wrong
}

// frameOf returns the first frame that has all names of an expression; nil if none has. A frame in
// which a name that is not called is a variable comes before one in which it is a function: of C's
// library, perhaps. plain is the expression as C; nil if it is none.
func (s *Session) frameOf(frames []*Frame, text string, plain *syntax.Node) (best *Frame) {
	least := 0
	for _, f := range frames {
		e, n := &evaluation{r: f.in.r, f: f, c: f.in, text: text}, plain
		if plain == nil {
			var err error
			if e, n, err = f.parse(text); err != nil {
				continue
			}
		}
		e.session = s
		functions, ok := e.knows(n)
		if ok && (best == nil || functions < least) {
			best, least = f, functions
		}
		if ok && functions == 0 {
			break
		}
	}
	return best
}

// needsFrame reports whether an expression has names that may be variables or types: all names but
// functions that are called, values of the session and C's own types. What a comparison is depends
// on the frame's language.
func (e *evaluation) needsFrame(n *syntax.Node) bool {
	switch {
	case n == nil:
		return false
	case n.Kind == syntax.Name:
		_, ok := e.isEarlier(n)
		return !ok
	case n.Kind == syntax.Not, n.Kind == syntax.Binary && compares(n.Text):
		return true
	case n.Type != nil && e.r.basicOf(strings.Fields(n.Type.Name)) == nil && usual[n.Type.Name] == "":
		return true
	}
	args := n.Args
	if n.Kind == syntax.Call && e.isFunction(args[0]) {
		args = args[1:]
	}
	for _, arg := range args {
		if e.needsFrame(arg) {
			return true
		}
	}
	return false
}

// compares reports whether the result of an operator is a bool in languages that have it.
func compares(operator string) bool {
	_, ok := syntax.Compare(operator, 0, 0)
	return ok || operator == "&&" || operator == "||"
}

// isFunction reports whether a node is the name of a function, which needs no frame.
func (e *evaluation) isFunction(n *syntax.Node) bool {
	if n.Kind != syntax.Name || n.Overload || n.File != "" || strings.HasPrefix(n.Text, "$") || e.session.Caller == nil {
		return false
	}
	s := e.session.Caller.Symbol(n.Text)
	return s != nil && s.Function
}

// knows reports whether the frame has all names of an expression. functions is how many names of
// functions are not called.
func (e *evaluation) knows(n *syntax.Node) (functions int, ok bool) {
	if n == nil {
		return 0, true
	}
	if n.Type != nil {
		if _, err := e.typeNamed(n.Type); errors.Is(err, ErrNotInScope) {
			return 0, false
		}
	}
	if n.Kind == syntax.Name {
		if _, ok := e.isEarlier(n); ok {
			return 0, true
		}
		v, err := e.name(n)
		if err == nil && v.Type.Strip().Kind == Function {
			functions = 1
		}
		return functions, !errors.Is(err, ErrNotInScope)
	}
	args := n.Args
	if n.Kind == syntax.Call && e.isFunction(args[0]) {
		args = args[1:]
	}
	for _, arg := range args {
		more, ok := e.knows(arg)
		if functions += more; !ok {
			return functions, false
		}
	}
	return functions, true
}

// isEarlier reports whether a name is a value of the session, and returns which one: counted from 0
// for the first.
func (e *evaluation) isEarlier(n *syntax.Node) (i int, ok bool) {
	if e.session == nil {
		return 0, false
	}
	text, ok := strings.CutPrefix(n.Text, "$")
	back, relative := strings.CutPrefix(text, "$")
	last := len(e.session.history) - 1
	switch {
	case !ok:
		return 0, false
	case text == "":
		return last, true
	case back == "":
		return last - 1, true
	}
	i, err := strconv.Atoi(back)
	if relative {
		return last - i, err == nil
	}
	return i - 1, err == nil
}

// earlier evaluates a name of a value of the session.
func (e *evaluation) earlier(n *syntax.Node, i int) (Value, error) {
	if i < 0 || i >= len(e.session.history) || e.session.history[i].Type == nil {
		return Value{}, e.fail(n.At, "there is no earlier expression %s", n.Text)
	}
	return e.session.history[i], nil
}

// note says what was taken for granted.
func (e *evaluation) note(format string, args ...any) {
	e.session.Notes = append(e.session.Notes, fmt.Sprintf(format, args...))
}
