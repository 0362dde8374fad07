//go:build linux && (amd64 || arm64)

package server

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"reflect"
	"sync"

	delvedap "github.com/go-delve/delve/service/dap"
	"github.com/go-delve/delve/service/debugger"
	"github.com/google/go-dap"
)

// ends is one end of a connection within the process. Each direction is closed by itself.
type ends struct {
	*io.PipeReader
	*io.PipeWriter
}

func (e ends) Close() error {
	e.PipeReader.Close()
	return e.PipeWriter.Close()
}

// backlog is how many of Delve's messages may wait while one is rewritten. That one may wait for
// the process to stop: Delve must be able to send its messages meanwhile, or no client could stop
// the process.
const backlog = 1024

// newSession is held while Delve begins a session, for Delve begins one at a time.
var newSession sync.Mutex

// serveDAP serves a DAP client until it is gone. A session of Delve's answers the client; a filter
// rewrites its replies about stacks.
func (s *server) serveDAP(in *bufio.Reader, conn net.Conn) {
	fromClient, toDelve := io.Pipe()
	fromDelve, toClient := io.Pipe()
	config, disconnected := s.config, make(chan struct{})
	config.DisconnectChan = disconnected
	newSession.Lock()
	session := delvedap.NewSession(ends{fromClient, toClient}, &delvedap.Config{Config: &config, StopTriggered: s.stopping}, s.dbg)
	newSession.Unlock()
	f := newFilter(s, toDelve, conn)
	begins := s.dbg == nil
	if begins {
		f.session = session
	}

	var running sync.WaitGroup
	running.Go(session.ServeDAPCodec)
	running.Go(func() {
		defer toDelve.Close()
		limit := &bounded{Reader: in}
		r := bufio.NewReader(limit)
		for {
			limit.left = maxRequest
			message, err := dap.ReadBaseMessage(r)
			if err == nil {
				err = f.request(message)
			}
			if err != nil {
				lost(conn, err)
				return
			}
		}
	})
	replies := make(chan []byte, backlog)
	running.Go(func() {
		defer close(replies)
		r := bufio.NewReader(fromDelve)
		for {
			message, err := readReply(r)
			if err != nil {
				return
			}
			replies <- message
		}
	})
	for message := range replies {
		f.reply(message)
	}
	f.end()
	conn.Close()
	running.Wait()
	if begins {
		session.Close() // ends what it has launched, and removes what it has built
	}
	select {
	case <-disconnected:
		s.end()
	default:
	}
}

// begin takes over the debugger that Delve's session has made for a client's request.
func (f *filter) begin() {
	s := f.server
	dbg := debuggerOf(f.session)
	if dbg == nil {
		warn("the stacks are Delve's own: where its session has its debugger is not known")
		return
	}
	tellUnseen(dbg.AttachPid())
	s.dbg, s.stacks.dbg = dbg, dbg
	s.begun.Store(true)
}

// debuggerOf returns the debugger of a session, which Delve does not export; nil if this Delve has
// it elsewhere.
func debuggerOf(s *delvedap.Session) *debugger.Debugger {
	field := reflect.ValueOf(s).Elem().FieldByName("debugger")
	if !field.IsValid() || field.Type() != reflect.TypeFor[*debugger.Debugger]() {
		return nil
	}
	return (*debugger.Debugger)(field.UnsafePointer())
}

// readReply reads one of Delve's own messages, which may be longer than go-dap allows.
func readReply(r *bufio.Reader) ([]byte, error) {
	var n int
	if _, err := fmt.Fscanf(r, "Content-Length: %d\r\n\r\n", &n); err != nil {
		return nil, err
	}
	message := make([]byte, n)
	_, err := io.ReadFull(r, message)
	return message, err
}
