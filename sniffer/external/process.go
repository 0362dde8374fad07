package external

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/sfwalk/sfwalk/internal/subprocess"
)

// process runs a plug-in's process for go-plugin (it is a runner.Runner). It differs from
// go-plugin's own: the process ends when the host ends, for whatever reason; it has no terminal;
// the processes that it starts neither survive it nor delay its end.
type process struct {
	command subprocess.Command
	keeper  *subprocess.Keeper

	stdin  *os.File   // the host's end: the process ends when this does
	stdout *firstLine // go-plugin reads its first line
	stderr *drained

	mu      sync.Mutex
	started bool
	closed  bool             // Start must not start it any more
	ended   chan struct{}    // is closed at the end
	state   subprocess.Ended // then
}

// grace is the time for a plug-in to end by itself, and for its last output to arrive.
const grace = 100 * time.Millisecond

// newProcess returns a process that has not been started.
func newProcess(command subprocess.Command, keeper *subprocess.Keeper) *process {
	return &process{command: command, keeper: keeper, ended: make(chan struct{})}
}

// Start starts the program.
func (p *process) Start(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return os.ErrClosed
	}
	ends := &p.command.Files // the process's
	defer func() {
		for _, f := range ends {
			if f != nil {
				f.Close()
			}
		}
	}()
	var errs [3]error
	ends[0], p.stdin, errs[0] = os.Pipe()
	p.stdout = &firstLine{}
	p.stdout.File, ends[1], errs[1] = os.Pipe()
	p.stderr = &drained{over: make(chan struct{})}
	p.stderr.File, ends[2], errs[2] = os.Pipe()
	err := errors.Join(errs[:]...)
	if err == nil {
		err = p.keeper.Start(p.command)
	}
	if err != nil {
		for _, f := range []*os.File{p.stdin, p.stdout.File, p.stderr.File} {
			if f != nil {
				f.Close()
			}
		}
		return err
	}
	p.started = true
	go p.reap()
	return nil
}

// reap waits for the end of the process.
func (p *process) reap() {
	p.state = p.keeper.Wait()
	// Its output is read to the end. A deadline bounds that: other processes that have inherited
	// the files may go on writing.
	until := time.Now().Add(grace)
	p.stdout.SetReadDeadline(until)
	p.stderr.SetReadDeadline(until)
	close(p.ended)
}

// firstLine passes on the first line, if it is not too long. It reads the rest, too, and drops it:
// the writer must not have to wait.
type firstLine struct {
	*os.File
	n    int // bytes so far
	over bool
}

// longestLine bounds the handshake's line, in bytes. A line with a certificate is shorter.
const longestLine = 32 << 10

// Read implements [io.Reader].
func (f *firstLine) Read(p []byte) (int, error) {
	for {
		n, err := f.File.Read(p)
		if err != nil || f.over {
			if err != nil {
				return n, err
			}
			continue
		}
		f.n += n
		if i := bytes.IndexByte(p[:n], '\n'); i >= 0 {
			f.over = true
			return i + 1, nil
		}
		if f.n > longestLine {
			return 0, io.EOF // the process is no plug-in, and ends
		}
		return n, nil
	}
}

// drained is a file that closes over when it has been read to the end.
type drained struct {
	*os.File
	once sync.Once
	over chan struct{} // is closed then
}

// Read implements [io.Reader].
func (f *drained) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	if err != nil {
		f.once.Do(func() { close(f.over) })
	}
	return n, err
}

// end ends the process. It closes the process's standard input, and kills the process if that does
// not end it within grace.
func (p *process) end() {
	p.mu.Lock()
	first := !p.closed
	p.closed = true
	started := p.started
	p.mu.Unlock()
	if !started {
		p.keeper.Kill()
		return
	}
	if first {
		p.stdin.Close()
		select {
		case <-p.ended:
		case <-time.After(grace):
			p.keeper.Kill()
		}
	}
	<-p.ended
}

// release waits until all processes that the process has started have ended, and closes the files.
// The output must have been read before.
func (p *process) release() {
	p.keeper.Gone()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.started {
		p.stdout.Close()
		p.stderr.Close()
	}
}

// Kill ends the process.
func (p *process) Kill(context.Context) error {
	p.end()
	return nil
}

// Wait waits for the end.
func (p *process) Wait(context.Context) error {
	<-p.ended
	if !p.state.Success {
		return errors.New(p.state.How)
	}
	return nil
}

func (p *process) Stdout() io.ReadCloser           { return p.stdout }
func (p *process) Stderr() io.ReadCloser           { return p.stderr }
func (p *process) Name() string                    { return p.command.Args[0] }
func (p *process) Diagnose(context.Context) string { return "" }

// ID names the process.
func (p *process) ID() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.started {
		return ""
	}
	return strconv.Itoa(p.keeper.PID())
}

// PluginToHost returns the plug-in's address. A plug-in serves in the folder that was made for it,
// which no other user can enter.
func (p *process) PluginToHost(network, addr string) (string, string, error) {
	switch {
	case network == "unix" && filepath.Dir(addr) == filepath.Clean(p.keeper.Folder):
		return network, addr, nil
	case network == "tcp" && runtime.GOOS == "windows": // go-plugin has no other network there
		if host, _, err := net.SplitHostPort(addr); err == nil {
			if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() {
				return network, addr, nil
			}
		}
	}
	return "", "", fmt.Errorf("it serves at %s %q: want a socket in the folder that PLUGIN_UNIX_SOCKET_DIR names", network, addr)
}

// HostToPlugin returns the address for connections from the plug-in, which it does not make.
func (p *process) HostToPlugin(network, addr string) (string, string, error) {
	return network, addr, nil
}
