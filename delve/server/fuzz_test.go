//go:build linux && (amd64 || arm64)

package server

import (
	"bytes"
	"encoding/json"
	"hash/crc32"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-delve/delve/service"
	"github.com/go-delve/delve/service/api"
	"github.com/go-delve/delve/service/debugger"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/delvetest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// fuzzed returns a server with a process that stands still, for whatever a client may send.
func fuzzed(t testing.TB) *server {
	t.Helper()
	delvetest.Quiet(t)
	p := gdbtest.StartRunning(t, delvetest.Go(t, "amd64"), "quiet")
	config := debugger.Config{AttachPid: p.PID, Backend: "default"}
	dbg, err := debugger.New(&config, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &server{config: service.Config{APIVersion: 2, Debugger: config}, dbg: dbg, stacks: &stacks{dbg: dbg}, stopping: make(chan struct{}), end: func() {}}
	s.begun.Store(true)
	s.rpc = newMethods(s)
	for name := range s.rpc { // leave out all that ends the process, lets it run or writes files
		if !looks[strings.TrimPrefix(name, "RPCServer.")] {
			delete(s.rpc, name)
		}
	}
	t.Cleanup(func() {
		if err := s.letGo(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// sink is a client that collects the answers.
type sink struct {
	net.Conn
	bytes.Buffer
}

func (s *sink) Read(p []byte) (int, error)  { return 0, io.EOF }
func (s *sink) Write(p []byte) (int, error) { return s.Buffer.Write(p) }
func (s *sink) Close() error                { return nil }
func (s *sink) RemoteAddr() net.Addr        { return &net.UnixAddr{Name: "sink"} }

// requests are requests that dlv sends, and some that it never sends.
var requests = []string{
	`{"method":"RPCServer.GetVersion","params":[{}],"id":0}`,
	`{"method":"RPCServer.Stacktrace","params":[{"Id":1,"Depth":50,"Full":true,"Opts":2}],"id":1}{"method":"RPCServer.State","params":[{"NonBlocking":true}],"id":2}`,
	`{"method":"RPCServer.Eval","params":[{"Scope":{"GoroutineID":1,"Frame":2},"Expr":"x","Cfg":{"MaxStringLen":64}}],"id":3}`,
	`{"method":"RPCServer.ListRegisters","params":[{"Scope":{"GoroutineID":1,"Frame":1}}],"id":4}`,
	`{"method":"RPCServer.FindLocation","params":[{"Scope":{"GoroutineID":1,"Frame":1},"Loc":"+0"}],"id":5}`,
	`{"method":"RPCServer.ListGoroutines","params":[{"Count":10,"EvalScope":{"GoroutineID":-1,"Frame":1},"Filters":[{"Kind":10,"Arg":"c"}]}],"id":6}`,
	`{"method":"RPCServer.Nothing","id":null}`, `[]`, `{"method":7}`, "\x00",
}

// send has a server answer requests. The client gets a panic as an error with the stack. Delve's
// own methods panic at arguments that no client sends; no function of this module may.
func send(t *testing.T, s *server, requests []byte) {
	t.Helper()
	client := &sink{}
	s.serveRPC(bytes.NewReader(requests), client)
	for _, m := range panicked.FindAllStringSubmatch(client.String(), -1) {
		if strings.HasPrefix(m[1], "github.com/sfwalk/") {
			t.Errorf("%.200s: %s", requests, client.String())
		}
	}
}

// panicked finds the function that has panicked in the stack of an answer, which is one line of
// JSON.
var panicked = regexp.MustCompile(`\\npanic\([^\\]*\\n\\t[^\\]*\\n(?:runtime\.[^\\]*\\n\\t[^\\]*\\n)*([^\\]*)`)

// panicked finds the function that has panicked.
func TestPanicked(t *testing.T) {
	s := &server{stacks: &stacks{}, end: func() {}}
	s.rpc = map[string]*method{"RPCServer.X": {function: reflect.ValueOf(func(a []int, _ *int) error { a[7] = 0; return nil }), arg: reflect.TypeFor[[]int](), reply: reflect.TypeFor[int]()}}
	client := &sink{}
	s.serveRPC(strings.NewReader(`{"method":"RPCServer.X","params":[[]],"id":1}`), client)
	if m := panicked.FindStringSubmatch(client.String()); m == nil || !strings.HasPrefix(m[1], "github.com/sfwalk/sfwalk/delve/server.TestPanicked") {
		t.Errorf("%q in %s", m, client)
	}
}

// FuzzRPC sends anything to the loop that serves dlv. The methods themselves take milliseconds, in
// a process that stands still: so one of many inputs has them called, and TestRequestsDrawn calls
// them with arguments that they can read.
func FuzzRPC(f *testing.F) {
	called := map[string]bool{}
	for _, seed := range requests {
		f.Add([]byte(seed))
		called[seed] = true
	}
	whole := fuzzed(f)
	s := &server{config: whole.config, stacks: &stacks{}, stopping: make(chan struct{}), end: func() {}}
	s.begun.Store(true)
	s.rpc = newMethods(s)
	for _, m := range s.rpc {
		m.function = reflect.MakeFunc(m.function.Type(), func(args []reflect.Value) []reflect.Value {
			if cb, is := args[1].Interface().(service.RPCCallback); is {
				cb.Return(args[0].Interface(), nil)
				return nil
			}
			return []reflect.Value{reflect.Zero(reflect.TypeFor[error]())}
		})
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		if called[string(sent)] || crc32.ChecksumIEEE(sent)%256 == 0 {
			send(t, whole, sent)
		}
		bounds.Hold(t, 1<<20+1024*len(sent), func() { send(t, s, sent) })
	})
}

// TestRequestsDrawn calls the methods that look at a process, with arguments that no client sends.
// With SFWALK_SOAK, it goes on for longer.
func TestRequestsDrawn(t *testing.T) {
	s := fuzzed(t)
	for _, text := range requests {
		send(t, s, []byte(text))
	}
	count := 60
	if os.Getenv("SFWALK_SOAK") != "" {
		count = 2000
	}
	names := slices.Sorted(maps.Keys(s.rpc))
	r := rand.New(rand.NewPCG(14, 16))
	for range count {
		name := names[r.IntN(len(names))]
		arg := reflect.New(s.rpc[name].arg)
		drawValue(r, arg.Elem(), 3)
		text, err := json.Marshal(map[string]any{"method": name, "params": []any{arg.Interface()}, "id": 1})
		if err != nil {
			t.Fatal(err)
		}
		send(t, s, text) // Delve takes as much time and memory as a request asks for
	}
}

// drawValue sets v, and all that it holds down to some depth, to values that a client may send.
func drawValue(r *rand.Rand, v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Struct:
		if load, is := v.Addr().Interface().(*api.LoadConfig); is { // Delve loads as much as clients ask for
			*load = api.LoadConfig{FollowPointers: true, MaxVariableRecurse: r.IntN(2), MaxStringLen: 64, MaxArrayValues: 8, MaxStructFields: -1}
			return
		}
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				drawValue(r, v.Field(i), depth)
			}
		}
	case reflect.Int, reflect.Int64, reflect.Int32:
		v.SetInt([]int64{0, 1, 1, 2, -1, -2, 50, 1 << 20, math.MaxInt32, math.MinInt64}[r.IntN(10)])
	case reflect.Uint, reflect.Uint64, reflect.Uint32:
		v.SetUint([]uint64{0, 1, 8, 0x401000, 1 << 20, math.MaxUint32}[r.IntN(6)])
	case reflect.Bool:
		v.SetBool(r.IntN(2) > 0)
	case reflect.String:
		v.SetString([]string{"", "x", "+0", "*0x401000", "main.main", "runtime.g", "/(/", "a.go:1", "\x00\xff"}[r.IntN(9)])
	case reflect.Pointer:
		if depth > 0 && r.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			drawValue(r, v.Elem(), depth-1)
		}
	case reflect.Slice:
		if depth > 0 {
			v.Set(reflect.MakeSlice(v.Type(), r.IntN(3), 3))
			for i := range v.Len() {
				drawValue(r, v.Index(i), depth-1)
			}
		}
	}
}

// FuzzDAP sends the filter any request, and any reply to it.
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
		bounds.Hold(t, 64<<20, func() {
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
	})
}

func scopeOf(goroutine int64, frame int) api.EvalScope {
	return api.EvalScope{GoroutineID: goroutine, Frame: frame}
}
