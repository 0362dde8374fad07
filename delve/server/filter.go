//go:build linux && (amd64 || arm64)

package server

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/go-delve/delve/service/api"
	delvedap "github.com/go-delve/delve/service/dap"
	"github.com/google/go-dap"
)

// filter stands between a DAP client and Delve's session for it. Every request goes to
// Delve, so that messages keep their order and numbers. For some, another request goes to Delve
// in its place. Some of Delve's replies are replaced.
type filter struct {
	server  *server
	session *delvedap.Session // that begins the debugging; nil if it has begun before
	client  io.Writer         // replies only

	mu      sync.Mutex
	delve   io.Writer
	pending map[int]func(reply []byte) bool // handlers by the number of the request; false passes the reply on. At the end they get nil
	asked   int                             // requests of our own, numbered -1, -2, ...

	settings settings
	over     func()        // ends the change of a process that runs; nil if it stands still
	told     map[int]int64 // the goroutines of Delve's frames that the client has got since the last stop, by their numbers

	// Only the goroutine that handles replies uses the rest.
	gone  bool // the client has gone
	owned owned
	paths [][2]string // substitutions for the client's paths: from, to; nil until they are guessed
}

// settings are the client's settings, which Delve has, too.
type settings struct {
	Depth     int                        `json:"stackTraceDepth"`
	Registers bool                       `json:"showRegisters"`
	Strings   int                        `json:"maxStringLen"`
	Elements  int                        `json:"maxArrayValues"`
	Paths     []delvedap.SubstitutePath  `json:"substitutePath"`
	Guess     *api.GuessSubstitutePathIn `json:"guessSubstitutePath"` // to guess Paths from
	Types     bool                       `json:"supportsVariableType"`
}

// message has the fields of a message that the filter needs.
type message struct {
	Seq       int             `json:"seq"`
	Type      string          `json:"type"`
	Command   string          `json:"command"`
	Event     string          `json:"event"`
	Request   int             `json:"request_seq"`
	Success   bool            `json:"success"`
	Arguments json.RawMessage `json:"arguments"`
}

func newFilter(s *server, delve, client io.Writer) *filter {
	return &filter{
		server: s, delve: delve, client: client, pending: map[int]func([]byte) bool{},
		settings: settings{Depth: 50}, owned: owned{next: ownBase},
	}
}

// Commands that let the process run, until an event says that it has stopped; and commands
// that only read.
var (
	resume = []string{"configurationDone", "continue", "next", "stepIn", "stepOut", "stepBack", "reverseContinue", "restart"}
	look   = []string{
		"initialize", "threads", "stackTrace", "scopes", "variables", "evaluate", "exceptionInfo", "disassemble", "readMemory",
		"dataBreakpointInfo", "source", "loadedSources", "modules", "completions", "breakpointLocations", "cancel",
	}
)

// toDelve matches a command to Delve, or a call, which are not expressions.
var toDelve = regexp.MustCompile(`^\s*(dlv|call)\s+(\S.*)`)

// request passes a client's request on to Delve. The error says that it cannot be written.
func (f *filter) request(content []byte) error {
	var m message
	if json.Unmarshal(content, &m) != nil || m.Type != "request" {
		return f.send(content) // Delve answers with an error
	}
	if m.Command == "initialize" || m.Command == "attach" || m.Command == "launch" {
		f.set(m.Arguments)
	}
	if !f.server.begun.Load() {
		return f.send(content) // Delve begins, or says that nothing is being debugged
	}
	switch m.Command {
	case "pause":
		// If libraries were loaded at the last stop, also of an attach, Delve takes every such
		// request as one to stop its downloads of debug information, and does no more. But it stops
		// the process by itself to set breakpoints: set none, in no file. It answers a request to
		// go on before the process runs, so what was asked for counts, too.
		if seq := m.Seq; f.server.stacks.calls.interrupt() {
			f.await(seq, func(reply []byte) bool {
				if reply != nil {
					f.respond(reply, "pause", seq, nil)
				}
				return true
			})
			return f.standIn(seq)
		}
		if f.goesOn() || f.server.dbg.IsRunning() {
			f.own("setBreakpoints", dap.SetBreakpointsArguments{Source: dap.Source{Path: "/"}}, func([]byte) bool { return true })
		}
	case "threads":
		f.await(m.Seq, func(reply []byte) bool { return f.threads(reply, m.Seq) })
	case "stackTrace":
		return f.stackTrace(&m, content)
	case "scopes", "variables", "evaluate", "setVariable", "dataBreakpointInfo":
		if handler := f.about(&m); handler != nil {
			f.await(m.Seq, handler)
			return f.standIn(m.Seq)
		}
	}
	switch {
	case slices.Contains(resume, m.Command):
		f.mu.Lock()
		if f.over == nil {
			f.over = f.server.stacks.change()
		}
		f.mu.Unlock()
	case !slices.Contains(look, m.Command) || m.Command == "evaluate" && toDelve.Match(expression(m.Arguments)):
		over := f.server.stacks.change()
		if m.Command == "evaluate" {
			if handler := f.callOfC(&m); handler != nil {
				f.await(m.Seq, func(reply []byte) bool { defer over(); return handler(reply) })
				return f.standIn(m.Seq)
			}
		}
		f.await(m.Seq, func([]byte) bool { over(); return false })
	}
	return f.send(content)
}

// goesOn reports whether the client has asked for the process to go on, and Delve has not said
// since that it stopped.
func (f *filter) goesOn() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.over != nil
}

// set takes over the client's settings.
func (f *filter) set(arguments []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	wants := f.settings
	if json.Unmarshal(arguments, &wants) == nil && wants.Depth > 0 {
		f.settings = wants
	}
}

// wants returns the client's settings.
func (f *filter) wants() settings {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.settings
}

func expression(arguments []byte) []byte {
	var args dap.EvaluateArguments
	json.Unmarshal(arguments, &args)
	return []byte(args.Expression)
}

// await has handler called with the reply to the request seq.
func (f *filter) await(seq int, handler func([]byte) bool) {
	f.mu.Lock()
	old := f.pending[seq]
	f.pending[seq] = handler
	f.mu.Unlock()
	if old != nil {
		old(nil) // the client has used the number twice
	}
}

// ask sends a request to Delve, with the client's number or our own.
func (f *filter) ask(seq int, command string, arguments any) error {
	content, err := json.Marshal(struct {
		dap.Request
		Arguments any `json:"arguments"`
	}{dap.Request{ProtocolMessage: dap.ProtocolMessage{Seq: seq, Type: "request"}, Command: command}, arguments})
	if err != nil {
		return err
	}
	return f.send(content)
}

// standIn sends Delve a harmless request in place of one that Delve cannot answer: it is about a
// frame that Delve does not have. When Delve replies, in its turn, the client's request is
// answered.
func (f *filter) standIn(seq int) error {
	return f.ask(seq, "scopes", dap.ScopesArguments{FrameId: ownBase - 1})
}

// own sends a request of our own to Delve.
func (f *filter) own(command string, arguments any, handler func(reply []byte) bool) error {
	f.mu.Lock()
	f.asked--
	seq := f.asked
	f.mu.Unlock()
	f.await(seq, handler)
	return f.ask(seq, command, arguments)
}

func (f *filter) send(content []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return dap.WriteBaseMessage(f.delve, content)
}

// reply handles a message from Delve: the client gets it, or another in its place.
func (f *filter) reply(content []byte) {
	var m message
	json.Unmarshal(content, &m)
	switch {
	case m.Type == "response":
		f.mu.Lock()
		handler := f.pending[m.Request]
		delete(f.pending, m.Request)
		f.mu.Unlock()
		if handler != nil && f.handled(handler, &m, content) {
			return
		}
	case m.Event == "initialized" && f.session != nil:
		f.begin()
	case m.Event == "stopped" || m.Event == "terminated" || m.Event == "exited":
		f.stopped()
		if m.Event == "stopped" {
			content = f.stoppedAt(content)
		}
	case m.Event == "output" && f.mistaken(content):
		return
	}
	f.write(content)
}

// handled calls a handler. The client gets a panic as an error.
func (f *filter) handled(handler func([]byte) bool, m *message, content []byte) (done bool) {
	defer func() {
		if r := recover(); r != nil {
			f.refuse(content, m.Command, m.Request, delvedap.InternalError, "Internal error", fmt.Errorf("%v\n%s", r, debug.Stack()))
			done = true
		}
	}()
	return handler(content)
}

// stopped forgets the frames and variables of the last stop.
func (f *filter) stopped() {
	f.mu.Lock()
	over := f.over
	f.over = nil
	f.owned.reset()
	f.told = nil
	f.mu.Unlock()
	if over != nil {
		over()
	}
}

// write sends a message to the client.
func (f *filter) write(content []byte) {
	if !f.gone {
		f.gone = dap.WriteBaseMessage(f.client, shown(content)) != nil
	}
}

// respond sends a response in place of reply, Delve's.
func (f *filter) respond(reply []byte, command string, seq int, body any) {
	var m message
	json.Unmarshal(reply, &m)
	content, err := json.Marshal(struct {
		dap.Response
		Body any `json:"body"`
	}{dap.Response{
		ProtocolMessage: dap.ProtocolMessage{Seq: m.Seq, Type: "response"}, Command: command, RequestSeq: seq, Success: true,
	}, body})
	if err == nil {
		f.write(content)
	}
}

// refuse sends an error in place of reply, Delve's response.
func (f *filter) refuse(reply []byte, command string, seq, id int, summary string, err error) {
	var m message
	json.Unmarshal(reply, &m)
	content, _ := json.Marshal(dap.ErrorResponse{
		Response: dap.Response{ProtocolMessage: dap.ProtocolMessage{Seq: m.Seq, Type: "response"}, Command: command, RequestSeq: seq, Message: summary},
		Body:     dap.ErrorResponseBody{Error: &dap.ErrorMessage{Id: id, Format: summary + ": " + err.Error()}},
	})
	f.write(content)
}

// runs reports whether Delve has refused a request because the process is running.
func runs(reply []byte) bool {
	var r dap.ErrorResponse
	return json.Unmarshal(reply, &r) == nil && !r.Success && r.Body.Error != nil && r.Body.Error.Id == delvedap.DebuggeeIsRunning
}

// end ends what the session has begun.
func (f *filter) end() {
	f.stopped()
	f.mu.Lock()
	pending := f.pending
	f.pending = map[int]func([]byte) bool{}
	f.mu.Unlock()
	for _, handler := range pending {
		handler(nil)
	}
}
