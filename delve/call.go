//go:build linux && (amd64 || arm64)

package delve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/go-delve/delve/pkg/proc"

	"github.com/sfwalk/sfwalk/internal/calling"
	"github.com/sfwalk/sfwalk/internal/expression"
	"github.com/sfwalk/sfwalk/internal/procdir"
	"github.com/sfwalk/sfwalk/value"
	"github.com/sfwalk/sfwalk/value/printers"
)

// Result is what a C function has returned.
type Result struct {
	Value string   // as gdb shows it; "" if the function returns nothing
	Type  string   // as C writes it
	Notes []string // what was taken for granted, one sentence each
	// Thread is the ID of the thread that has called the function.
	Thread int
}

// CallsC reports whether text is a call of a C function that is in the process, and that Delve does
// not find. Ask it before [Call]: what it denies is for Delve's own call. text is an expression of
// C, in which functions may have cgo's prefix "C.". Names that Delve finds in the innermost frame
// of owner are Go's, without that prefix.
func CallsC(t *Target, owner Owner, text string) bool {
	if recorded(t.Proc) {
		return false
	}
	text, given := withoutPrefix(text), text
	name, ok := callee(text)
	if !ok {
		return false
	}
	if s, err := t.subject(owner); err == nil && !strings.Contains(given, cPrefix+name) {
		if scope, err := s.innermost(); err == nil {
			if v, err := scope.EvalExpression(name, proc.LoadConfig{}); err == nil && (v.Base == 0 || t.IsGo(v.Base)) {
				return false
			}
		}
	}
	p := &heldProcess{Target: t}
	f := p.newCaller().Symbol(name)
	return f != nil && (f.Several || t.modules.IsCode(f.Addr) && !t.IsGo(f.Addr))
}

// Call has a thread call a C function, as "sfwalk call" does. text is as for [CallsC]. group is
// Delve's group of the targets, of which t is the selected one. All threads run meanwhile, as in
// Delve's own calls; then the thread is where it was, and Delve has selected what it had before. If
// the function has not come back, the thread blocks the signals that it has blocked before.
//
// The error is an [*inferior.CallError] if the function has not come back, because of a fault or
// the end of ctx.
//
// [*inferior.CallError]: https://pkg.go.dev/github.com/sfwalk/sfwalk/inferior#CallError
func Call(ctx context.Context, t *Target, group *proc.TargetGroup, owner Owner, text string) (r Result, err error) {
	text = withoutPrefix(text)
	p, err := newHeldProcess(t, group)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	c := p.newCaller()
	c.Prepare(text)
	s, err := t.subject(owner)
	if err != nil {
		return r, err
	}
	if s.thread == nil {
		return r, fmt.Errorf("%v is parked: no thread runs it that could call a function: select one that runs, or a thread", owner)
	}
	r.Thread = s.thread.ThreadID()
	if c.Thread, err = p.caller(r.Thread); err != nil {
		return r, err
	}
	for _, name := range []string{"pthread_exit", "thrd_exit"} {
		if f := c.Symbol(name); f != nil && f.Addr != 0 {
			if err := p.bar(f.Addr, errNoEnd); err != nil {
				return r, err
			}
		}
	}
	end, err := p.watchFaults(ctx, c)
	defer func() {
		if ok, _ := t.Proc.Valid(); ok {
			err = errors.Join(err, end())
		}
	}()
	if err != nil {
		return r, err
	}
	e := value.NewReader(p, p.symbols, printers.All()).NewSession()
	e.Caller = c
	v, err := e.Evaluate(ctx, text)
	if err != nil {
		if in := p.faultIn(); in != "" {
			err = fmt.Errorf("in %s: %w", in, err)
		}
		return r, err
	}
	if r.Type, r.Notes = v.Type.String(), e.Notes; v.Type.Strip().Kind != value.Void {
		r.Value = (&value.Printer{UTF8: true}).Print(&v)
	}
	return r, nil
}

// newCaller returns what finds and calls functions of the process.
func (p *heldProcess) newCaller() *calling.Caller {
	c := &calling.Caller{Process: p, Symbols: p.symbols}
	c.Exe, _ = os.Readlink(procdir.File(p.Proc.Pid(), "exe"))
	c.Auxv, _ = os.ReadFile(procdir.File(p.Proc.Pid(), "auxv"))
	return c
}

// faultIn returns the name of the function in which the thread's last fault came; "" if none came.
func (p *heldProcess) faultIn() string {
	if p.faultPC == 0 {
		return ""
	}
	if at := p.symbols.Locate(p.modules, p.faultPC); len(at) > 0 && at[0].Function != "" {
		return at[0].Function
	}
	return fmt.Sprintf("%#x", p.faultPC)
}

// innermost returns the scope of the innermost frame, as Delve's own calls have it.
func (s *subject) innermost() (*proc.EvalScope, error) {
	if s.g != nil {
		return proc.ConvertEvalScope(s.t.Proc, s.g.ID, 0, 0)
	}
	if s.thread != nil {
		return proc.ThreadScope(s.t.Proc, s.thread)
	}
	return nil, ErrNoVariables
}

// callee returns the name of the function that an expression calls outmost.
func callee(text string) (name string, ok bool) {
	n, err := expression.Parse(text)
	for err == nil && n.Kind == expression.Cast {
		n = n.Args[0]
	}
	if err != nil || n.Kind != expression.Call || n.Args[0].Kind != expression.Name {
		return "", false
	}
	return n.Args[0].Text, true
}

// withoutPrefix removes cgo's prefix of names, "C.", where it is not in a text or a character.
func withoutPrefix(text string) string {
	var out []byte
	quote := byte(0)
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote != 0 && c == '\\' && i+1 < len(text):
			out = append(out, c)
			i++
			c = text[i]
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case strings.HasPrefix(text[i:], cPrefix) && i+2 < len(text) && isLetter(text[i+2]) && (i == 0 || !inName(text[i-1])):
			i++
			continue
		}
		out = append(out, c)
	}
	return string(out)
}

func isLetter(c byte) bool { return c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z' }

// inName reports whether a name, of Go's or C's, may go on after c.
func inName(c byte) bool { return isLetter(c) || c == '.' || '0' <= c && c <= '9' }
