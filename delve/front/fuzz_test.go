//go:build linux && (amd64 || arm64)

package front

import (
	"bytes"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/go-delve/delve/service"
	"github.com/go-delve/delve/service/api"
	"github.com/go-delve/delve/service/debugger"

	"github.com/sfwalk/sfwalk/internal/delvetest"
	"github.com/sfwalk/sfwalk/internal/gdbtest"
)

// fuzzed returns a server, with a process that stands still, for what a client may send.
func fuzzed(f *testing.F) *server {
	f.Helper()
	delvetest.Quiet(f)
	p := gdbtest.StartRunning(f, delvetest.Go(f, "amd64"), "quiet")
	config := debugger.Config{AttachPid: p.PID, Backend: "default"}
	dbg, err := debugger.New(&config, nil)
	if err != nil {
		f.Fatal(err)
	}
	s := &server{config: service.Config{APIVersion: 2, Debugger: config}, dbg: dbg, stacks: &stacks{dbg: dbg}, stopping: make(chan struct{}), end: func() {}}
	s.rpc = newMethods(s)
	for name := range s.rpc { // nothing that ends the process or has it run, or writes files
		if !looks[strings.TrimPrefix(name, "RPCServer.")] {
			delete(s.rpc, name)
		}
	}
	f.Cleanup(func() {
		if err := s.letGo(); err != nil {
			f.Error(err)
		}
	})
	return s
}

// sink is a client that is told everything.
type sink struct {
	net.Conn
	bytes.Buffer
}

func (s *sink) Read(p []byte) (int, error)  { return 0, io.EOF }
func (s *sink) Write(p []byte) (int, error) { return s.Buffer.Write(p) }
func (s *sink) Close() error                { return nil }
func (s *sink) RemoteAddr() net.Addr        { return &net.UnixAddr{Name: "sink"} }

// FuzzRPC sends anything to the loop that serves dlv.
func FuzzRPC(f *testing.F) {
	for _, seed := range []string{
		`{"method":"RPCServer.GetVersion","params":[{}],"id":0}`,
		`{"method":"RPCServer.Stacktrace","params":[{"Id":1,"Depth":50,"Full":true,"Opts":2}],"id":1}{"method":"RPCServer.State","params":[{"NonBlocking":true}],"id":2}`,
		`{"method":"RPCServer.Eval","params":[{"Scope":{"GoroutineID":1,"Frame":2},"Expr":"x","Cfg":{"MaxStringLen":64}}],"id":3}`,
		`{"method":"RPCServer.ListRegisters","params":[{"Scope":{"GoroutineID":1,"Frame":1}}],"id":4}`,
		`{"method":"RPCServer.FindLocation","params":[{"Scope":{"GoroutineID":1,"Frame":1},"Loc":"+0"}],"id":5}`,
		`{"method":"RPCServer.ListGoroutines","params":[{"Count":10,"EvalScope":{"GoroutineID":-1,"Frame":1},"Filters":[{"Kind":10,"Arg":"c"}]}],"id":6}`,
		`{"method":"RPCServer.Nothing","id":null}`, `[]`, `{"method":7}`, "\x00",
	} {
		f.Add([]byte(seed))
	}
	s := fuzzed(f)
	f.Fuzz(func(t *testing.T, sent []byte) {
		client := &sink{}
		s.serveRPC(bytes.NewReader(sent), client)
		if strings.Contains(client.String(), "internal debugger error") && strings.Contains(client.String(), "sfwalk/delve") {
			t.Errorf("%s", client.String())
		}
	})
}

// FuzzDAP has the filter see any request, and any reply to it.
func FuzzDAP(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"seq":1,"type":"request","command":"initialize","arguments":{"supportsVariableType":true}}`, `{"seq":1,"type":"response","request_seq":1,"command":"initialize","success":true}`},
		{`{"seq":2,"type":"request","command":"attach","arguments":{"mode":"remote","stackTraceDepth":5,"substitutePath":[{"from":"a","to":"b"}]}}`, `{"seq":2,"type":"event","event":"initialized"}`},
		{`{"seq":3,"type":"request","command":"stackTrace","arguments":{"threadId":1,"levels":20}}`, `{"seq":3,"type":"response","request_seq":3,"command":"stackTrace","success":true,"body":{"stackFrames":[{"id":1000,"name":"main.main"}],"totalFrames":1}}`},
		{`{"seq":4,"type":"request","command":"stackTrace","arguments":{"threadId":1}}`, `{"seq":4,"type":"response","request_seq":4,"command":"stackTrace","success":false,"body":{"error":{"id":4000,"format":"running"}}}`},
		{`{"seq":5,"type":"request","command":"scopes","arguments":{"frameId":1073741824}}`, `{"seq":5,"type":"response","request_seq":5,"command":"scopes","success":false,"body":{"error":{"id":2005}}}`},
		{`{"seq":6,"type":"request","command":"variables","arguments":{"variablesReference":1073741826}}`, `{"seq":6,"type":"response","request_seq":6,"success":false}`},
		{`{"seq":7,"type":"request","command":"evaluate","arguments":{"expression":"1+1","frameId":1073741824}}`, `{"seq":7,"type":"response","request_seq":7,"success":false}`},
		{`{"seq":8,"type":"request","command":"setVariable","arguments":{"variablesReference":1073741826,"name":"x","value":"1"}}`, `{"seq":8,"type":"response","request_seq":8}`},
		{`{"seq":9,"type":"request","command":"continue","arguments":{"threadId":1}}`, `{"seq":9,"type":"event","event":"stopped"}`},
		{`{}`, `[]`}, {"\x00", ""},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]))
	}
	s := fuzzed(f)
	f.Fuzz(func(t *testing.T, request, reply []byte) {
		x := newFilter(s, io.Discard, io.Discard)
		x.owned.add(ownFrame{scope: scopeOf(1, 1)})
		x.owned.add(ownFrame{failed: "it does"})
		x.owned.add(ownVariables{scope: scopeOf(1, 1), list: []variable{{name: "x", text: "1", address: "*(*\"int\")(0x1)"}}})
		if err := x.request(request); err != nil {
			t.Error(err)
		}
		x.reply(reply)
		x.end()
		if n := s.stacks.changing.Load(); n != 0 {
			t.Errorf("%d changes are not over", n)
		}
	})
}

func scopeOf(goroutine int64, frame int) api.EvalScope {
	return api.EvalScope{GoroutineID: goroutine, Frame: frame}
}
