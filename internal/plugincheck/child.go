package plugincheck

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/sfwalk/sfwalk/internal/subprocess"
	"github.com/sfwalk/sfwalk/plugin/protocol"
	"github.com/sfwalk/sfwalk/sniffer/external"
)

// child is a process of the plug-in. It is started without go-plugin, which would hide parts of the
// handshake.
type child struct {
	keeper *subprocess.Keeper
	stdin  *os.File
	stdout output
	stderr output
	line   chan struct{}    // is closed when the first line is there
	ended  chan struct{}    // is closed at the end
	state  subprocess.Ended // then
	tls    *tls.Config      // of the host; it trusts no plug-in yet

	took    time.Duration // from the start to the handshake
	fields  []string      // of the handshake
	conn    *grpc.ClientConn
	service protocol.SnifferClient
}

// output is the output of a process.
type output struct {
	mu   sync.Mutex
	head []byte // the first bytes
	size int
}

// Write implements [io.Writer].
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	const most = 16 << 10
	if room := most - len(o.head); room > 0 {
		o.head = append(o.head, p[:min(len(p), room)]...)
	}
	o.size += len(p)
	return len(p), nil
}

// text returns the beginning of the output, and its length.
func (o *output) text() (string, int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(o.head), o.size
}

// limits of time, for plug-ins that hang. Tests have their own.
var (
	startLimit  = external.DefaultStartTimeout
	answerLimit = 8 * external.DefaultDeadline
	endLimit    = 2 * time.Second
)

// newKeeper starts a keeper, which ends the plug-in when this process ends.
func newKeeper() (*subprocess.Keeper, error) { return subprocess.New(socketDir()) }

// run starts the program with an environment of its own, and does not wait. It owns the keeper,
// even if it fails.
func run(program external.Program, keeper *subprocess.Keeper, env ...string) (c *child, err error) {
	c = &child{keeper: keeper, line: make(chan struct{}), ended: make(chan struct{})}
	command := program.Command()
	command.Env = append(command.Env, env...)
	var ends, theirs [3]*os.File
	defer func() {
		for _, f := range theirs {
			f.Close() // if f is nil, that is an error, too
		}
		if err != nil {
			for _, f := range ends {
				f.Close()
			}
			keeper.Kill()
			keeper.Gone()
		}
	}()
	for i := range ends {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		if ends[i], theirs[i] = r, w; i == 0 {
			ends[i], theirs[i] = w, r
		}
	}
	c.stdin = ends[0]
	command.Files = theirs
	if err = keeper.Start(command); err != nil {
		return nil, err
	}
	var reading sync.WaitGroup
	reading.Go(func() { c.readStdout(ends[1]) })
	reading.Go(func() {
		io.Copy(&c.stderr, ends[2])
		ends[2].Close()
	})
	go func() {
		c.state = keeper.Wait()
		until := time.Now().Add(100 * time.Millisecond)
		ends[1].SetReadDeadline(until)
		ends[2].SetReadDeadline(until)
		reading.Wait()
		close(c.ended)
	}()
	return c, nil
}

// readStdout reads to the end, and closes c.line after the first line.
func (c *child) readStdout(f *os.File) {
	defer f.Close()
	block := make([]byte, 4096)
	for told := false; ; {
		n, err := f.Read(block)
		c.stdout.Write(block[:n])
		if !told && bytes.IndexByte(block[:n], '\n') >= 0 {
			told = true
			close(c.line)
		}
		if err != nil {
			return
		}
	}
}

// firstLine returns the first line of standard output, without the newline.
func (c *child) firstLine() string {
	text, _ := c.stdout.text()
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimRight(line, "\r")
}

// start starts the plug-in as a host that speaks these versions, and waits for the handshake's
// line.
func start(ctx context.Context, program external.Program, versions string) (*child, error) {
	config, text, err := external.MutualTLS()
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	keeper, err := newKeeper()
	if err != nil {
		return nil, err
	}
	c, err := run(program, keeper,
		protocol.CookieKey+"="+protocol.CookieValue, "PLUGIN_MIN_PORT=0", "PLUGIN_MAX_PORT=0",
		"PLUGIN_PROTOCOL_VERSIONS="+versions, "PLUGIN_CLIENT_CERT="+string(text), "PLUGIN_UNIX_SOCKET_DIR="+keeper.Folder)
	if err != nil {
		return nil, err
	}
	c.tls = config
	timer := time.NewTimer(startLimit)
	defer timer.Stop()
	select {
	case <-c.line:
		c.took = time.Since(begin)
		c.fields = strings.Split(c.firstLine(), "|")
		return c, nil
	case <-c.ended:
		err = fmt.Errorf("it ends (%s) before the handshake%s", c.how(), c.wrote())
	case <-timer.C:
		err = fmt.Errorf("no handshake within %v%s", startLimit, c.wrote())
	case <-ctx.Done():
		err = ctx.Err()
	}
	c.end()
	return nil, err
}

// socketDir returns a folder with a name that is short enough for sockets in it.
func socketDir() string {
	if dir := os.TempDir(); len(dir) <= 60 {
		return dir
	}
	return "/tmp"
}

// how returns how the process has ended.
func (c *child) how() string { return c.state.How }

// wrote returns a sentence with the process's standard error, "" if it is empty.
func (c *child) wrote() string {
	text, _ := c.stderr.text()
	if text = strings.TrimSpace(text); text == "" {
		return ""
	}
	lines := strings.Split(text, "\n")
	from := slices.IndexFunc(lines, func(line string) bool { // of a Go program; a long traceback follows
		return strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ")
	})
	if from < 0 {
		from = max(0, len(lines)-3)
	}
	return "; it wrote: " + shown(strings.Join(lines[from:min(from+3, len(lines))], "; "), 300)
}

// dial connects to the plug-in at the handshake's address.
func (c *child) dial() error {
	pool, err := certificates(c.fields[5])
	if err != nil {
		return err
	}
	c.tls.RootCAs = pool
	c.conn, err = c.dialWith(credentials.NewTLS(c.tls))
	if err == nil {
		c.service = protocol.NewSnifferClient(c.conn)
	}
	return err
}

func (c *child) dialWith(t credentials.TransportCredentials) (*grpc.ClientConn, error) {
	return grpc.NewClient("unix:"+c.fields[3], grpc.WithTransportCredentials(t), grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(2<<20)))
}

// over reports whether the process ends within a time.
func (c *child) over(within time.Duration) bool {
	select {
	case <-c.ended:
		return true
	case <-time.After(within):
		return false
	}
}

// end ends the process, by force if need be, and closes its files.
func (c *child) end() {
	if c.conn != nil {
		c.conn.Close()
	}
	c.stdin.Close()
	if !c.over(200 * time.Millisecond) {
		c.keeper.Kill()
		<-c.ended
	}
	c.keeper.Gone()
}
