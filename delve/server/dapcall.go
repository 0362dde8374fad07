//go:build linux && (amd64 || arm64)

package server

import (
	"encoding/json"
	"strings"

	delvedap "github.com/go-delve/delve/service/dap"
	"github.com/google/go-dap"
)

// note notes the goroutine of a frame of Delve's, by the number that the client knows.
func (f *filter) note(frame int, goroutine int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.told == nil {
		f.told = map[int]int64{}
	}
	f.told[frame] = goroutine
}

// callOfC returns the handler of a request to evaluate "call EXPRESSION" in one of Delve's frames,
// if that calls a C function that Delve does not find; else nil.
func (f *filter) callOfC(m *message) func(reply []byte) bool {
	var args dap.EvaluateArguments
	json.Unmarshal(m.Arguments, &args)
	words := toDelve.FindStringSubmatch(args.Expression)
	if words == nil || words[1] != "call" {
		return nil
	}
	f.mu.Lock()
	goroutine, ok := f.told[args.FrameId]
	f.mu.Unlock()
	if !ok {
		goroutine = -1 // as Delve does with a frame that it does not know
	}
	if !f.server.stacks.callsC(goroutine, words[2]) {
		return nil
	}
	seq := m.Seq
	return func(reply []byte) bool {
		if reply == nil {
			return false
		}
		err := error(errRuns)
		if !runs(reply) {
			err = f.call(reply, seq, goroutine, words[2])
		}
		if err != nil {
			f.refuse(reply, m.Command, seq, delvedap.UnableToEvaluateExpression, "Unable to evaluate expression", err)
		}
		return true
	}
}

// callIn calls a C function in the goroutine or the thread of one of our frames.
func (f *filter) callIn(reply []byte, seq int, of any, expr string) error {
	frame, ok := of.(ownFrame)
	if !ok {
		return errStale
	}
	if !f.server.stacks.callsC(frame.scope.GoroutineID, expr) {
		return errCall
	}
	defer f.server.stacks.change()()
	return f.call(reply, seq, frame.scope.GoroutineID, expr)
}

// call calls a C function, and tells the client what it returns.
func (f *filter) call(reply []byte, seq int, goroutine int64, expr string) error {
	r, err := f.server.stacks.call(goroutine, expr)
	if err != nil {
		return err
	}
	body := dap.EvaluateResponseBody{Result: strings.Join(append([]string{r.Value}, r.Notes...), "\nnote: ")}
	if f.wants().Types {
		body.Type = r.Type
	}
	f.respond(reply, "evaluate", seq, body)
	return nil
}
