//go:build linux && (amd64 || arm64)

package dlvhost

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/sfwalk/sfwalk/internal/command/dlv"

	"github.com/go-delve/delve/pkg/gobuild"

	"github.com/sfwalk/sfwalk/internal/printable"
)

// build builds what o says, as dlv debug and dlv test do, and has o start it. The caller removes
// the file.
func build(o *dlv.Options) (path string, err error) {
	if info, err := os.Stat(o.Dir); o.Dir != "" && (err != nil || !info.IsDir()) {
		return "", fmt.Errorf("--wd %s: want a folder", o.Dir)
	}
	name, run := "__debug_bin", gobuild.GoBuildCombinedOutput
	if o.Build == "test" {
		name, run = "debug.test", gobuild.GoTestBuildCombinedOutput
	}
	if path = o.Output; path == "" {
		path = gobuild.DefaultDebugBinaryPath(name)
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", err
	}
	line, out, err := run(path, o.Packages, o.BuildFlags)
	if err != nil {
		if o.Output == "" {
			gobuild.Remove(path)
		}
		return "", fmt.Errorf("%s: %w\n%s", line, err, strings.TrimSpace(string(out)))
	}
	printable.Fprintf(os.Stderr, "%s", out) // warnings
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%s has built nothing: the package has no tests", line)
	}
	if o.Build == "test" && o.Dir == "" {
		o.Dir = folder(o.Packages)
	}
	o.Args = append([]string{path}, o.Args...)
	return path, nil
}

// folder returns a package's folder, in which go test runs its tests.
func folder(packages []string) string {
	out, err := exec.Command("go", append([]string{"list", "-f", "{{.Dir}}"}, packages...)...).Output()
	if dir := strings.TrimSpace(string(out)); err == nil && !strings.Contains(dir, "\n") {
		return dir
	}
	return ""
}

// call connects to a client that waits at an address, and makes it the one that is accepted.
func call(addr string) (net.Listener, error) {
	network := "tcp"
	if path, ok := strings.CutPrefix(addr, "unix:"); ok {
		network, addr = "unix", path
	}
	conn, err := net.Dial(network, addr)
	if err != nil {
		return nil, fmt.Errorf("--client-addr: %w", err)
	}
	l := &called{conn: make(chan net.Conn, 1), addr: conn.LocalAddr(), closed: make(chan struct{})}
	l.conn <- conn
	return l, nil
}

// called is a listener that accepts one connection, which is there.
type called struct {
	conn   chan net.Conn
	addr   net.Addr
	once   sync.Once
	closed chan struct{}
}

var errClosed = errors.New("the only client has come")

func (c *called) Accept() (net.Conn, error) {
	select {
	case conn := <-c.conn:
		return conn, nil
	case <-c.closed:
		return nil, errClosed
	}
}

func (c *called) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

func (c *called) Addr() net.Addr { return c.addr }
