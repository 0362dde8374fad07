package systemtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/internal/test/systemtest/wire"
)

// bootLimit bounds how long a guest may take until it asks for the first operation: some ten
// seconds on an idle machine.
const bootLimit = 10 * time.Minute

// patience bounds the time of one operation of a guest, on a machine that has much else to do.
const patience = 10 * time.Minute

// A Guest is a machine that runs one of Debian's kernels, emulated. It ends with the test that
// has booted it.
type Guest struct {
	*Processor
	Root   string // of the guest's system, on this machine: its libraries are there, too
	Source string // the module's folder, the same path in both
	Temp   string // a folder for files, the same path in both

	console string // the file that the kernel's messages go to
	ended   chan struct{}
	next    chan *operation

	mu   sync.Mutex
	ops  map[int]*operation
	last int
}

// operation is one that the guest does.
type operation struct {
	wire.Op
	data   io.Reader // the contents of a file that is put
	answer chan answer
}

type answer struct {
	data []byte
	err  error
}

// Boot starts a guest, and waits until it answers.
func Boot(t testing.TB, p *Processor) *Guest {
	t.Helper()
	f := p.fetch(t)
	source, err := module()
	if err != nil {
		t.Fatal(err)
	}
	g := &Guest{Processor: p, Root: f.root, Source: source, Temp: t.TempDir(), ended: make(chan struct{}), next: make(chan *operation), ops: map[int]*operation{}}
	g.console = filepath.Join(g.Temp, "console")
	image := filepath.Join(g.Temp, "initramfs")
	if err := g.writeImage(image, f.modules); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: g.handler()}
	go server.Serve(l)
	t.Cleanup(func() { server.Close() })

	args := append(p.qemu[1:len(p.qemu):len(p.qemu)], "-smp", "2", "-m", "2G", "-accel", "tcg,thread=multi",
		"-nographic", "-monitor", "none", "-serial", "file:"+g.console, "-no-reboot",
		// The guest has this machine at 10.0.2.2.
		"-netdev", "user,id=net", "-device", p.net+",netdev=net"+map[bool]string{true: ",romfile="}[strings.HasSuffix(p.net, "pci")],
		"-kernel", f.kernel, "-initrd", image,
		"-append", fmt.Sprintf("console=%s %s loglevel=4 panic=-1 sfwalk.host=10.0.2.2:%d", p.tty, p.options, l.Addr().(*net.TCPAddr).Port))
	cmd := exec.Command(p.qemu[0], args...)
	var messages bytes.Buffer
	cmd.Stdout, cmd.Stderr = &messages, &messages
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // the guest ends with this thread
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		err := cmd.Start()
		started <- err
		if err == nil {
			cmd.Wait()
			close(g.ended)
		}
	}()
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-g.ended
		if t.Failed() {
			text, _ := os.ReadFile(g.console)
			t.Logf("%s: %s\nthe guest's console:\n%s", p.qemu[0], messages.Bytes(), text[max(0, len(text)-4000):])
		}
	})
	if _, err := g.do(wire.Op{Kind: "run", Args: []string{"true"}, Seconds: patience.Seconds()}, nil, bootLimit); err != nil {
		t.Fatalf("%s does not boot: %v", p.GOARCH, err)
	}
	return g
}

// do has the guest do something, and waits for the answer.
func (g *Guest) do(op wire.Op, data io.Reader, limit time.Duration) ([]byte, error) {
	g.mu.Lock()
	g.last++
	op.ID = g.last
	o := &operation{op, data, make(chan answer, 1)}
	g.ops[op.ID] = o
	g.mu.Unlock()
	defer func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.ops, op.ID)
	}()
	over := time.NewTimer(limit)
	defer over.Stop()
	select {
	case g.next <- o:
	case <-g.ended:
		return nil, fmt.Errorf("the guest has ended")
	case <-over.C:
		return nil, fmt.Errorf("the guest asks for nothing in %v", limit)
	}
	select {
	case a := <-o.answer:
		return a.data, a.err
	case <-g.ended:
		return nil, fmt.Errorf("the guest has ended")
	case <-over.C:
		return nil, fmt.Errorf("no answer in %v", limit)
	}
}

func (g *Guest) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/next", func(w http.ResponseWriter, r *http.Request) {
		select {
		case o := <-g.next:
			json.NewEncoder(w).Encode(o.Op)
		case <-r.Context().Done():
		}
	})
	operationOf := func(r *http.Request) *operation {
		var id int
		fmt.Sscan(r.PathValue("id"), &id)
		g.mu.Lock()
		defer g.mu.Unlock()
		return g.ops[id]
	}
	mux.HandleFunc("/data/{id}", func(w http.ResponseWriter, r *http.Request) {
		if o := operationOf(r); o != nil {
			io.Copy(w, o.data)
		}
	})
	mux.HandleFunc("/done/{id}", func(w http.ResponseWriter, r *http.Request) {
		data, err := io.ReadAll(r.Body)
		if o := operationOf(r); o != nil {
			o.answer <- answer{data, err}
		}
	})
	mux.HandleFunc("/failed/{id}", func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		if o := operationOf(r); o != nil {
			o.answer <- answer{nil, fmt.Errorf("in the guest: %s", text)}
		}
	})
	mux.HandleFunc("/tool", g.tool)
	return mux
}

// Put writes a file in the guest, which may be executed.
func (g *Guest) Put(t testing.TB, path, from string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		_, err = g.do(wire.Op{Kind: "put", Path: path}, bytes.NewReader(data), patience)
	}
	if err != nil {
		t.Fatalf("put %s: %v", path, err)
	}
}

// PutTree writes a folder's files in the guest, at the same path.
func (g *Guest) PutTree(t testing.TB, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			g.Put(t, path, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Get copies a file of the guest's to this machine.
func (g *Guest) Get(t testing.TB, path, to string) {
	t.Helper()
	data, err := g.do(wire.Op{Kind: "get", Path: path}, nil, patience)
	if err == nil {
		err = os.WriteFile(to, data, 0o755)
	}
	if err != nil {
		t.Fatalf("get %s: %v", path, err)
	}
}

// Run runs a command in the guest, in a folder, and returns what it prints and how it exits.
func (g *Guest) Run(t testing.TB, limit time.Duration, dir string, args ...string) (output string, code int) {
	t.Helper()
	// Tests that repeat something do it twenty times.
	op := wire.Op{Kind: "run", Dir: dir, Args: args, Seconds: limit.Seconds(), Env: []string{"TMPDIR=" + g.Temp, "XDG_CACHE_HOME=" + filepath.Join(g.Temp, "cache"), "SFWALK_REQUIRE_TOOLS=1", "SFWALK_SOAK=20"}}
	text, err := g.do(op, nil, limit+patience)
	var done wire.Done
	if err == nil {
		err = json.Unmarshal(text, &done)
	}
	if err == nil && done.Err != "" {
		err = fmt.Errorf("%s", done.Err)
	}
	if err != nil {
		t.Fatalf("in the guest, %q: %v\n%s", args, err, done.Output)
	}
	return string(done.Output), done.Code
}

// Shell runs a script in the guest, which must succeed.
func (g *Guest) Shell(t testing.TB, limit time.Duration, script string) string {
	t.Helper()
	out, code := g.Run(t, limit, g.Temp, "sh", "-c", script)
	if code != 0 {
		t.Fatalf("in the guest, exit status %d:\n%s\n%s", code, script, out)
	}
	return out
}
