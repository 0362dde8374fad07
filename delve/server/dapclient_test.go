//go:build linux && (amd64 || arm64)

package server_test

import (
	"bufio"
	"encoding/json"
	"net"
	"slices"
	"testing"

	"github.com/google/go-dap"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// dapClient is an editor.
type dapClient struct {
	t      testing.TB
	conn   net.Conn
	in     *bufio.Reader
	seq    int
	events []string
	output string // what the server has printed for the client
}

// connectDAP connects an editor to a server, and attaches to the process that it has.
func connectDAP(t testing.TB, addr string) *dapClient {
	t.Helper()
	conn := dial(t, addr)
	c := &dapClient{t: t, conn: conn, in: bufio.NewReader(conn)}
	ask[dap.InitializeResponse](c, "initialize", map[string]any{
		"clientID": "test", "pathFormat": "path", "linesStartAt1": true, "columnsStartAt1": true, "supportsVariableType": true,
	})
	ask[dap.AttachResponse](c, "attach", map[string]any{
		"mode": "remote", "stopOnEntry": true, "showRegisters": true,
		"substitutePath": []any{map[string]string{"from": "/elsewhere", "to": gdbtest.Testdata(t, "progs")}},
	})
	ask[dap.ConfigurationDoneResponse](c, "configurationDone", nil)
	return c
}

// send sends a request, and returns its number.
func (c *dapClient) send(command string, arguments any) int {
	c.t.Helper()
	c.seq++
	text, err := json.Marshal(map[string]any{"seq": c.seq, "type": "request", "command": command, "arguments": arguments})
	if err == nil {
		err = dap.WriteBaseMessage(c.conn, text)
	}
	if err != nil {
		c.t.Fatalf("%s: %v", command, err)
	}
	return c.seq
}

// next reads the next response, and keeps the events before it.
func (c *dapClient) next() []byte {
	c.t.Helper()
	for {
		text, err := dap.ReadBaseMessage(c.in)
		if err != nil {
			c.t.Fatal(err)
		}
		var m struct {
			Type, Event string
			Body        json.RawMessage
		}
		if json.Unmarshal(text, &m); m.Type == "response" {
			return text
		}
		c.events = append(c.events, m.Event)
		var said dap.OutputEventBody
		if m.Event == "output" && json.Unmarshal(m.Body, &said) == nil {
			c.output += said.Output
		}
	}
}

// event waits for an event.
func (c *dapClient) event(name string) {
	c.t.Helper()
	for !slices.Contains(c.events, name) {
		text, err := dap.ReadBaseMessage(c.in)
		if err != nil {
			c.t.Fatalf("wait for %s: %v", name, err)
		}
		var m struct{ Event string }
		json.Unmarshal(text, &m)
		c.events = append(c.events, m.Event)
	}
}

// ask sends a request and returns the response to it.
func ask[T any](c *dapClient, command string, arguments any) *T {
	c.t.Helper()
	seq, text := c.send(command, arguments), c.next()
	var r dap.Response
	if json.Unmarshal(text, &r); r.RequestSeq != seq || !r.Success || r.Command != command {
		c.t.Fatalf("%s %v: %s", command, arguments, text)
	}
	to := new(T)
	if err := json.Unmarshal(text, to); err != nil {
		c.t.Fatal(err)
	}
	return to
}

// refused sends a request and returns the error that it gets.
func refused(c *dapClient, command string, arguments any) string {
	c.t.Helper()
	seq, text := c.send(command, arguments), c.next()
	var r dap.ErrorResponse
	if err := json.Unmarshal(text, &r); err != nil || r.RequestSeq != seq || r.Success || r.Command != command || r.Body.Error == nil {
		c.t.Fatalf("%s %v: %s", command, arguments, text)
	}
	return r.Body.Error.Format
}
