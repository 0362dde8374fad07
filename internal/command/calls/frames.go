package calls

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/internal/calling"
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
	c.OneWalker = true
	c.Source.Evaluate = func(r *value.Reader, tid int, f *value.Frame, text string) (v value.Value, err error) {
		if v, err = f.Evaluate(text); !errors.Is(err, value.ErrCalls) {
			return v, err
		}
		if caller.Thread, err = c.callerOf(tid); err != nil {
			return v, err
		}
		ctx, cancel := context.WithTimeout(ctx, maxInFrame)
		defer cancel()
		caller.Symbols = r.Symbols
		session := r.NewSession()
		session.Caller = caller
		return session.EvaluateIn(ctx, f, text)
	}
	return true
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
