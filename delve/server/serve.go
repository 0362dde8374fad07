//go:build linux && (amd64 || arm64)

package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"

	"github.com/go-delve/delve/pkg/proc"
	"github.com/go-delve/delve/service"
	"github.com/go-delve/delve/service/api"
	"github.com/go-delve/delve/service/debugger"
	"github.com/go-delve/delve/service/rpc2"

	"github.com/sfwalk/sfwalk/delve"
	"github.com/sfwalk/sfwalk/internal/peer"
	"github.com/sfwalk/sfwalk/symbol"
)

// Options say how frames are unwound. The zero value leaves a target as [delve.NewTarget] makes it.
type Options struct {
	// Prepare, if not nil, is called with each target before its first stack. It may set the
	// target's Table and Name. Its result is called when another process takes the target's
	// place, or serving ends.
	Prepare func(*delve.Target) (release func())
	// Symbols say where the debug information of C, C++ and Rust is, and what is kept of it. Their
	// Root is each target's own.
	Symbols symbol.Options
	// Warnings, if not nil, returns all warnings so far, one sentence each. Serve writes each once
	// to the standard error.
	Warnings func() []string
	// Continue lets the process run at once, as 'dlv --continue' does. A client that comes halts
	// it. config must have AcceptMulti.
	Continue bool
}

// Serve serves the clients that connect to config.Listener, until ctx is done, a client ends the
// debugging, or the only client is gone (without config.AcceptMulti). Then it closes the listener,
// halts the process if it runs, and lets it go as Delve does: a process that Delve has attached to
// runs on, one that Delve has started is killed.
//
// If dbg is nil, a client begins the debugging as it does with 'dlv dap': by a DAP request to
// launch a program, which Delve builds if need be, or to attach to a process. config has Delve's
// defaults for that, and must not have AcceptMulti. Clients of JSON-RPC are refused.
//
// config is the configuration of Delve's own server. Its ProcessArgs are the process's arguments;
// its DisconnectChan is not used. The error is the listener's, or says why the process could not be
// let go.
func Serve(ctx context.Context, config *service.Config, dbg *debugger.Debugger, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &server{config: *config, dbg: dbg, stacks: &stacks{dbg: dbg, opts: o}, stopping: make(chan struct{}), end: cancel, conns: map[net.Conn]bool{}}
	s.config.APIVersion, s.config.DisconnectChan = 2, nil
	if dbg != nil {
		s.rpc = newMethods(s)
		s.begun.Store(true)
	}
	if o.Continue && dbg != nil {
		s.letRun()
	}
	accepting := make(chan error, 1)
	go func() {
		err := s.accept()
		s.config.Listener.Close() // the only client has come, or none can come
		if err != nil {
			cancel()
		}
		accepting <- err
	}()
	<-ctx.Done()
	close(s.stopping)
	s.config.Listener.Close()
	err := s.letGo()
	s.close()
	return errors.Join(<-accepting, err)
}

// server serves the clients of one debugger.
type server struct {
	config service.Config
	dbg    *debugger.Debugger // once begun is true
	begun  atomic.Bool        // the debugging has begun
	stacks *stacks
	rpc    map[string]*method
	end    func() // ends serving

	stopping chan struct{} // closed when serving ends

	mu       sync.Mutex
	conns    map[net.Conn]bool // of all clients; nil when serving has ended
	sessions sync.WaitGroup
}

// letRun has the process run, as a client does that leaves it running.
func (s *server) letRun() {
	client, conn := net.Pipe()
	s.add(conn)
	rpc2.NewClientFromConn(client).Disconnect(true) // an error would come from closing a pipe
}

// accept waits for one client, or for any number of them.
func (s *server) accept() error {
	for {
		conn, err := s.config.Listener.Accept()
		if err != nil {
			select {
			case <-s.stopping:
				return nil
			default:
				return fmt.Errorf("wait for clients at %s: %w", s.config.Listener.Addr(), err)
			}
		}
		if s.config.CheckLocalConnUser {
			if err := peer.SameUser(conn); err != nil { // a client controls the process
				warn("connection from %s is closed: %v (--only-same-user)", conn.RemoteAddr(), err)
				conn.Close()
				continue
			}
		}
		// A client that closes the connection before it has sent anything is not the only client.
		if spoke := s.add(conn); !s.config.AcceptMulti && <-spoke {
			return nil
		}
	}
}

// add begins a session, unless serving has ended. The channel says whether the client speaks.
func (s *server) add(conn net.Conn) <-chan bool {
	spoke := make(chan bool, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conns == nil {
		conn.Close()
		spoke <- false
		return spoke
	}
	s.conns[conn] = true
	s.sessions.Go(func() {
		in := bufio.NewReader(conn)
		first, err := in.Peek(1)
		spoke <- err == nil
		if err == nil {
			s.session(first[0], in, conn)
		}
		conn.Close()
		s.mu.Lock()
		delete(s.conns, conn)
		s.mu.Unlock()
		if err == nil && !s.config.AcceptMulti {
			s.end()
		}
	})
	return spoke
}

// session serves a client until it is gone. The first byte tells its protocol: DAP begins with
// "Content-Length", JSON-RPC with a brace.
func (s *server) session(first byte, in *bufio.Reader, conn net.Conn) {
	switch {
	case first == 'C':
		s.serveDAP(in, conn)
	case s.rpc == nil:
		warn("connection from %s is closed: it is no client of DAP, and there is nothing to debug yet", conn.RemoteAddr())
	default:
		s.serveRPC(in, conn)
	}
}

// letGo halts the process if it runs, and detaches from it.
func (s *server) letGo() error {
	if !s.begun.Load() {
		return nil
	}
	s.stacks.calls.interrupt()
	if s.dbg.IsRunning() {
		s.awaitResumed()
		s.dbg.Command(&api.DebuggerCommand{Name: api.Halt}, nil, nil, nil) // if this fails, the process is gone
	}
	err := s.dbg.Detach(s.dbg.AttachPid() == 0)
	s.stacks.close() // what is kept of debug information is written when the process runs on
	if errors.As(err, new(proc.ErrProcessExited)) || errors.Is(err, proc.ErrProcessDetached) {
		return nil
	}
	return err
}

// close ends all sessions.
func (s *server) close() {
	s.mu.Lock()
	for conn := range s.conns {
		conn.Close()
	}
	s.conns = nil
	s.mu.Unlock()
	s.sessions.Wait()
}
