//go:build linux && (amd64 || arm64)

package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/go-delve/delve/pkg/proc"
	"github.com/go-delve/delve/service"
	"github.com/go-delve/delve/service/api"
	"github.com/go-delve/delve/service/debugger"

	"github.com/sfwalk/sfwalk/delve"
)

// Options say how frames are unwound; the zero value, as [delve.NewTarget] has it.
type Options struct {
	// Prepare, where there is one, is called with each target before its first stack: it may
	// have another table, and names. The function that it returns is called when the
	// process is another, or none.
	Prepare func(*delve.Target) (release func())
	// Warnings, where there is one, returns what the user should know by now: one sentence
	// each. They are written to the standard error, each once.
	Warnings func() []string
}

// Serve serves the clients that connect to config.Listener, until ctx is done, a client
// has ended the debugging, or the only client is gone (without config.AcceptMulti). Then
// it closes the listener and lets the process go as Delve does: one that Delve attached
// to runs on, one that Delve started is killed, whatever ran then is halted first.
//
// config is what Delve's own server takes; of it, ProcessArgs says how the process was
// started, and DisconnectChan is not used. The error is of the listener, or says why the
// process could not be let go.
func Serve(ctx context.Context, config *service.Config, dbg *debugger.Debugger, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &server{config: *config, dbg: dbg, stacks: &stacks{dbg: dbg, opts: o}, stopping: make(chan struct{}), end: cancel, conns: map[net.Conn]bool{}}
	s.config.APIVersion, s.config.DisconnectChan = 2, nil
	s.rpc = newMethods(s)
	accepting := make(chan error, 1)
	go func() {
		err := s.accept()
		s.config.Listener.Close() // the one client is there, or none can come
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
	dbg    *debugger.Debugger
	stacks *stacks
	rpc    map[string]*method
	end    func() // ends serving

	stopping chan struct{} // closed when serving ends

	mu       sync.Mutex
	conns    map[net.Conn]bool // of all clients; nil at the end
	sessions sync.WaitGroup
}

// accept waits for clients: for one, or for any number.
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
			if err := sameUser(conn); err != nil {
				warn("connection from %s is closed: %v", conn.RemoteAddr(), err)
				conn.Close()
				continue
			}
		}
		// Who goes without a word (and has only looked who listens) is not the one client.
		if spoke := s.add(conn); !s.config.AcceptMulti && <-spoke {
			return nil
		}
	}
}

// add begins a session, unless serving has ended, and tells whether the client speaks.
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

// session serves a client until it is gone. The first byte says which protocol it
// speaks: DAP begins with "Content-Length", JSON-RPC with a brace.
func (s *server) session(first byte, in *bufio.Reader, conn net.Conn) {
	if first == 'C' {
		s.serveDAP(in, conn)
	} else {
		s.serveRPC(in, conn)
	}
}

// letGo halts the process if it runs, and detaches from it.
func (s *server) letGo() error {
	if s.dbg.IsRunning() {
		s.dbg.Command(&api.DebuggerCommand{Name: api.Halt}, nil, nil, nil) // if it fails, it is gone
	}
	s.stacks.close()
	err := s.dbg.Detach(s.config.Debugger.AttachPid == 0)
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
