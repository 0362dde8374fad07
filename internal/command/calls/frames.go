package calls

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/internal/calling"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/value"
)

// maxInFrame bounds how long the functions may take that an expression calls in a frame.
const maxInFrame = 10 * time.Second

// InFrames has expressions of --print run the functions that they call: each in the thread of its
// frame. It reports false, and does nothing, if none of the expressions calls a function.
func (c *Callee) InFrames(ctx context.Context, texts []string) bool {
	caller := &calling.Caller{Process: c.Process, Exe: c.Exe, Auxv: c.Auxv}
	if !slices.ContainsFunc(texts, caller.Calls) {
		return false
	}
	c.Source = &frameCaller{c.Source, ctx, c, caller}
	return true
}

// frameCaller is the source of a callee whose expressions call functions in frames.
type frameCaller struct {
	report.Source
	ctx    context.Context
	callee *Callee
	caller *calling.Caller
}

// Evaluate implements [report.Evaluator].
func (c *frameCaller) Evaluate(r *value.Reader, tid int, f *value.Frame, text string) (v value.Value, err error) {
	if v, err = f.Evaluate(text); !errors.Is(err, value.ErrCalls) {
		return v, err
	}
	if c.caller.Thread, err = c.callee.callerOf(tid); err != nil {
		return v, err
	}
	ctx, cancel := context.WithTimeout(c.ctx, maxInFrame)
	defer cancel()
	c.caller.Symbols = r.Symbols
	session := r.NewSession()
	session.Caller = c.caller
	return session.EvaluateIn(ctx, f, text)
}

// Mark implements [report.Marker].
func (c *frameCaller) Mark(of target.Thread, th *report.Thread) {
	if m, ok := c.Source.(report.Marker); ok {
		m.Mark(of, th)
	}
}

// callerOf returns what has a thread call functions.
func (c *Callee) callerOf(tid int) (*inferior.Caller, error) {
	list := c.Inferiors()
	i := slices.IndexFunc(list, func(th inferior.Thread) bool { return th.ID() == tid })
	if i < 0 {
		return nil, fmt.Errorf("thread %d is no more", tid)
	}
	if err := c.mayCall(list[i]); err != nil {
		return nil, err
	}
	return inferior.NewCaller(c.Process, list[i])
}
