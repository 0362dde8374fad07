//go:build linux && (amd64 || arm64)

package server

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/rpc"
	"net/rpc/jsonrpc"
	"os"
	"reflect"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"

	"github.com/go-delve/delve/service"
	"github.com/go-delve/delve/service/api"

	"github.com/sfwalk/sfwalk/internal/printable"
)

// maxRequest bounds a request, in bytes. No client sends so much.
const maxRequest = 16 << 20

// method is a method that clients call as RPCServer.<name>.
type method struct {
	function   reflect.Value
	arg, reply reflect.Type // reply is nil if the method answers by a callback
}

// newMethods lists the methods that Delve's clients call: the methods of [methods] of the form
// (argument, *reply) error or (argument, service.RPCCallback).
func newMethods(s *server) map[string]*method {
	list := map[string]*method{}
	v := reflect.ValueOf(newRPC(s))
	callback, failure := reflect.TypeFor[service.RPCCallback](), reflect.TypeFor[error]()
	for i := range v.NumMethod() {
		name, f := v.Type().Method(i).Name, v.Method(i)
		switch t := f.Type(); {
		case t.NumIn() != 2:
		case t.NumOut() == 0 && t.In(1) == callback:
			list["RPCServer."+name] = &method{function: f, arg: t.In(0)}
		case t.NumOut() == 1 && t.Out(0) == failure && t.In(1).Kind() == reflect.Pointer:
			list["RPCServer."+name] = &method{function: f, arg: t.In(0), reply: t.In(1).Elem()}
		}
	}
	return list
}

// bounded is a reader that fails when a request is too long.
type bounded struct {
	io.Reader
	left int
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("a request is longer than %d bytes", maxRequest)
	}
	n, err := b.Reader.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// rpcSession serves one JSON-RPC client.
type rpcSession struct {
	server *server
	codec  rpc.ServerCodec
	mu     sync.Mutex    // held while a response is written
	gone   chan struct{} // closed when the client has gone
}

// serveRPC serves a JSON-RPC client until it is gone.
func (s *server) serveRPC(in io.Reader, conn net.Conn) {
	limit := &bounded{Reader: in}
	session := &rpcSession{server: s, gone: make(chan struct{}), codec: jsonrpc.NewServerCodec(struct {
		io.Reader
		io.WriteCloser
	}{limit, shownTo{conn}})}
	defer close(session.gone)
	for {
		limit.left = maxRequest
		var req rpc.Request
		if err := session.codec.ReadRequestHeader(&req); err != nil {
			lost(conn, err)
			return
		}
		session.serve(&req)
		if req.ServiceMethod == "RPCServer.Detach" {
			s.end()
			return
		}
	}
}

// serve answers one request, or has started a method that will answer it.
func (s *rpcSession) serve(req *rpc.Request) {
	m := s.server.rpc[req.ServiceMethod]
	if m == nil {
		s.codec.ReadRequestBody(nil)
		s.respond(req, nil, fmt.Errorf("unknown method: %s", req.ServiceMethod))
		return
	}
	arg := reflect.New(m.arg)
	if err := s.codec.ReadRequestBody(arg.Interface()); err != nil {
		s.respond(req, nil, fmt.Errorf("malformed request body: %w", err))
		return
	}
	if c, ok := arg.Interface().(*api.DebuggerCommand); ok && c.Name == api.Halt {
		s.server.awaitResumed()
	}
	over := func() {}
	if !looks[strings.TrimPrefix(req.ServiceMethod, "RPCServer.")] {
		over = s.server.stacks.change()
	}
	if m.reply != nil {
		reply := reflect.New(m.reply)
		err := call(m.function, arg.Elem(), reply)
		over()
		s.respond(req, reply.Interface(), err)
		return
	}
	cb := &callback{session: s, req: *req, setUp: make(chan struct{})}
	go func() {
		if err := call(m.function, arg.Elem(), reflect.ValueOf(cb)); err != nil {
			cb.Return(nil, err)
		}
		over()
	}()
	<-cb.setUp
}

// call calls a method. The client gets a panic as an error with the stack.
func call(f reflect.Value, arg, reply reflect.Value) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("internal debugger error: %v\n%s", r, debug.Stack())
		}
	}()
	if out := f.Call([]reflect.Value{arg, reply}); len(out) > 0 {
		err, _ = out[0].Interface().(error)
	}
	return err
}

func (s *rpcSession) respond(req *rpc.Request, reply any, err error) {
	resp := rpc.Response{ServiceMethod: req.ServiceMethod, Seq: req.Seq}
	if err != nil {
		resp.Error, reply = err.Error(), struct{}{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.codec.WriteResponse(&resp, reply) // reading finds out if the client has gone
}

// callback answers the request of a slow method, while other requests are read.
type callback struct {
	session *rpcSession
	req     rpc.Request
	setUp   chan struct{} // closed when the next request may be read
}

var _ service.RPCCallback = (*callback)(nil)

// Return implements [service.RPCCallback].
func (c *callback) Return(out any, err error) {
	select {
	case <-c.setUp:
	default:
		close(c.setUp)
	}
	select {
	case <-c.session.gone:
	default:
		c.session.respond(&c.req, out, err)
	}
}

// SetupDoneChan implements [service.RPCCallback].
func (c *callback) SetupDoneChan() chan struct{} { return c.setUp }

// DisconnectChan implements [service.RPCCallback].
func (c *callback) DisconnectChan() chan struct{} { return c.session.gone }

// lost prints why a client is served no longer, unless the client has closed the connection.
func lost(conn net.Conn, err error) {
	if err != io.EOF && !errors.Is(err, net.ErrClosed) && !errors.Is(err, io.ErrClosedPipe) && !errors.Is(err, syscall.ECONNRESET) {
		warn("client %s: %v", conn.RemoteAddr(), err)
	}
}

func warn(format string, args ...any) {
	printable.Fprintf(os.Stderr, "sfwalk dlv: "+format+"\n", args...)
}
