//go:build linux

package guesttest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// A Processor is one that qemu emulates.
type Processor struct {
	GOARCH string
	Triple string // of the cross tools, and of their folder below /usr
	QEMU   string
	// OracleCPU is the processor model with which gdb is right: with the default one
	// of arm64, gdb 13 knows no mask for the return addresses that it signs.
	OracleCPU string
	// Registers are the registers that a caller relies on and the PC: gdb's names by DWARF number.
	Registers map[int]string

	description string // gdb's target description, where the stub's own misleads gdb
	// noVDSO keeps the vDSO that qemu 8.1 and later have from gdb, which does not know the signal
	// trampolines there: the one begins where its code does, and gdb looks before it.
	noVDSO bool
}

// The processors that guests are built for.
var (
	ARM64 = &Processor{
		GOARCH: "arm64", Triple: "aarch64-linux-gnu", QEMU: "qemu-aarch64", OracleCPU: "cortex-a72",
		Registers: map[int]string{
			19: "x19", 20: "x20", 21: "x21", 22: "x22", 23: "x23", 24: "x24", 25: "x25",
			26: "x26", 27: "x27", 28: "x28", 29: "x29", 31: "sp", 32: "pc",
		},
	}
	AMD64 = &Processor{
		GOARCH: "amd64", Triple: "x86_64-linux-gnu", QEMU: "qemu-x86_64", OracleCPU: "max",
		Registers: map[int]string{3: "rbx", 6: "rbp", 7: "rsp", 12: "r12", 13: "r13", 14: "r14", 15: "r15", 16: "rip"},
	}
	ARM = &Processor{
		GOARCH: "arm", Triple: "arm-linux-gnueabihf", QEMU: "qemu-arm", OracleCPU: "cortex-a15",
		Registers: map[int]string{
			4: "r4", 5: "r5", 6: "r6", 7: "r7", 8: "r8", 9: "r9", 10: "r10", 11: "r11", 13: "sp", 15: "pc",
			80: "d8", 82: "d9", 84: "d10", 86: "d11", 88: "d12", 90: "d13", 92: "d14", 94: "d15",
		},
	}
	I386 = &Processor{
		GOARCH: "386", Triple: "i686-linux-gnu", QEMU: "qemu-i386", OracleCPU: "qemu32",
		Registers:   map[int]string{3: "ebx", 4: "esp", 5: "ebp", 6: "esi", 7: "edi", 8: "eip"},
		description: i386Description,
	}
	S390X = &Processor{
		GOARCH: "s390x", Triple: "s390x-linux-gnu", QEMU: "qemu-s390x", OracleCPU: "qemu",
		Registers: map[int]string{
			6: "r6", 7: "r7", 8: "r8", 9: "r9", 10: "r10", 11: "r11", 12: "r12", 13: "r13", 15: "r15", 65: "pswa",
		},
		description: s390xDescription,
		noVDSO:      true,
	}
)

// Build compiles a program of testdata/progs/guest with the cross compiler.
func (p *Processor) Build(t testing.TB, src string, flags ...string) string {
	t.Helper()
	cc := gdbtest.Tool(t, p.Triple+"-gcc")
	if _, err := os.Stat("/usr/" + p.Triple + "/include/stdio.h"); err != nil {
		gdbtest.Missing(t, fmt.Sprintf("there is no C library for %s (apt-get install libc6-dev-%s-cross)", p.GOARCH, p.GOARCH))
	}
	return gdbtest.Compile(t, gdbtest.Testdata(t, "progs", "guest", src), append([]string{cc, "-Wl,--build-id"}, flags...)...)
}

// BuildDynamic makes a guest of a program and the library that it needs, which
// is the same source with -DLIBRARY.
func (p *Processor) BuildDynamic(t testing.TB, src string, flags ...string) *Guest {
	t.Helper()
	lib := p.Build(t, src, append(flags[:len(flags):len(flags)], "-shared", "-fPIC", "-DLIBRARY", "-Wl,-soname,libguest.so")...)
	dir := filepath.Dir(lib)
	named := filepath.Join(dir, "libguest.so")
	if err := os.Symlink(filepath.Base(lib), named); err != nil && !errors.Is(err, os.ErrExist) {
		t.Fatal(err)
	}
	path := p.Build(t, src, append(flags[:len(flags):len(flags)], "-Wl,-rpath,"+dir, named)...)
	return &Guest{Processor: p, Path: path, Root: p.Sysroot(t, named)}
}

// Sysroot returns a folder that has the C library where guests look for it, and other libraries at
// their own paths.
func (p *Processor) Sysroot(t testing.TB, libraries ...string) string {
	t.Helper()
	root := t.TempDir()
	// The libraries themselves are there: links would lead out of the root.
	copyTo := func(at, file string) {
		data, err := os.ReadFile(file)
		if err == nil {
			err = os.MkdirAll(filepath.Join(root, at), 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(root, at, filepath.Base(file)), data, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	system, err := filepath.Glob("/usr/" + p.Triple + "/lib/ld*.so.[123]")
	if err != nil || len(system) == 0 {
		t.Fatalf("no dynamic linker for %s: %v", p.Triple, err)
	}
	for _, file := range append(system, "/usr/"+p.Triple+"/lib/libc.so.6") {
		copyTo("lib", file)
	}
	if unwinder := "/usr/" + p.Triple + "/lib/libgcc_s.so.1"; p.GOARCH == "arm" {
		copyTo("lib", unwinder) // exception tables refer to it
	}
	for _, file := range libraries {
		copyTo(filepath.Dir(file), file)
	}
	// Without a cache here, the guest's linker reads this machine's, and takes a C library of
	// another build than itself.
	cache := filepath.Join(root, "etc", "ld.so.cache")
	if err := os.Mkdir(filepath.Dir(cache), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(cache, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return root
}

// Bare are the flags for a guest without a C library.
var Bare = []string{"-DBARE", "-nostdlib", "-static", "-ffreestanding", "-fno-stack-protector", "-falign-functions=1"}

// WithoutTables returns a copy of the program that has no unwind table.
func (p *Processor) WithoutTables(t testing.TB, path string) string {
	t.Helper()
	return p.without(t, path, ".eh_frame", ".eh_frame_hdr", ".debug_frame", ".ARM.exidx", ".ARM.extab", ".sframe")
}

// without returns a copy of the program that has none of these sections.
func (p *Processor) without(t testing.TB, path string, sections ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), filepath.Base(path))
	var args []string
	for _, s := range sections {
		args = append(args, "-R", s)
	}
	cmd := exec.Command(gdbtest.Tool(t, p.Triple+"-objcopy"), append(args, path, out)...)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, text)
	}
	return out
}

// WithoutSymbols returns a copy of the program that has no unwind table and no symbol.
func (p *Processor) WithoutSymbols(t testing.TB, path string) string {
	t.Helper()
	out := p.WithoutTables(t, path)
	cmd := exec.Command(gdbtest.Tool(t, p.Triple+"-strip"), out)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, text)
	}
	return out
}

// A Guest is a program to run under emulation.
type Guest struct {
	*Processor
	Path string
	CPU  string // qemu's model; empty for OracleCPU
	Root string // for a dynamic program: the folder below which its libraries are

	Options []string // more of qemu's
	Full    []string // if there are any, gdb does these commands, and then tells all variables at each stop: see Stop.Full
	Stops   []string // functions at whose beginnings Each stops, instead of stop_here
	Infos   bool     // gdb tells what its info frame shows, see gdbtest.Frame.Info
}

// A running guest ends with the test.
type running struct {
	dir    string // its working directory
	exited <-chan struct{}
}

// start runs the guest under qemu with more options; with dumps, qemu writes a
// core file into its working directory when the guest dies.
func (g *Guest) start(t testing.TB, dumps bool, options ...string) running {
	t.Helper()
	return g.startWith(t, dumps, nil, options...)
}

// startWith is start with arguments of the guest's own.
func (g *Guest) startWith(t testing.TB, dumps bool, args []string, options ...string) running {
	t.Helper()
	argv := append(append(append([]string{gdbtest.Tool(t, g.QEMU)}, g.options(options...)...), g.Path), args...)
	if dumps {
		// No core file of qemu itself; a guest's stack, and its core file, is as large as qemu's
		// may be.
		argv = append([]string{"/bin/sh", "-c", `echo 0 >/proc/$$/coredump_filter; ulimit -c unlimited; ulimit -s 4096; exec "$@"`, "sh"}, argv...)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = []string{"PATH=/bin"}
	cmd.Dir = t.TempDir()
	var messages bytes.Buffer
	cmd.Stderr = &messages
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	go func() { cmd.Wait(); close(exited) }()
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-exited
		if t.Failed() && messages.Len() > 0 {
			t.Logf("%s: %s", g.QEMU, &messages)
		}
	})
	return running{cmd.Dir, exited}
}

// Dump runs the guest, which dies by itself, and returns the path of qemu's core file.
func (g *Guest) Dump(t testing.TB, args ...string) string {
	t.Helper()
	r := g.startWith(t, true, args)
	select {
	case <-r.exited:
	case <-time.After(time.Until(gdbtest.Deadline(t))):
		t.Fatal("the guest does not die")
	}
	return r.core(t)
}

// core returns the path of the core file that qemu has written.
func (r running) core(t testing.TB) string {
	t.Helper()
	cores, err := filepath.Glob(filepath.Join(r.dir, "qemu_*.core"))
	if err != nil || len(cores) != 1 {
		t.Fatalf("qemu has written %d core files (%v)", len(cores), err)
	}
	return cores[0]
}

func (g *Guest) options(more ...string) []string {
	cpu := g.CPU
	if cpu == "" {
		cpu = g.OracleCPU
	}
	options := append(append([]string{"-cpu", cpu}, g.Options...), more...)
	if g.Root != "" {
		options = append(options, "-L", g.Root)
	}
	return options
}

// Serve starts the guest, stopped before its first instruction, and returns the
// path of the unix socket at which qemu waits for a debugger.
func (g *Guest) Serve(t testing.TB) (socket string) {
	t.Helper()
	socket, _ = g.serve(t, false)
	return socket
}

func (g *Guest) serve(t testing.TB, dumps bool, args ...string) (socket string, r running) {
	t.Helper()
	socket = filepath.Join(socketDir(t), "stub")
	r = g.startWith(t, dumps, args, "-g", socket)
	gdbtest.Await(t, g.QEMU+" listens", func() bool {
		select {
		case <-r.exited:
			t.Fatalf("%s has ended", g.QEMU)
		default:
		}
		return listening(t, socket)
	})
	return socket, r
}

// listening reports whether somebody listens at a unix socket. To connect would
// use up the only connection that qemu takes.
func listening(t testing.TB, socket string) bool {
	t.Helper()
	sockets, err := os.ReadFile("/proc/net/unix")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(sockets)) {
		// Num RefCount Protocol Flags Type St Inode Path; the flag is __SO_ACCEPTCON.
		f := strings.Fields(line)
		if len(f) == 8 && f[7] == socket && f[3] == "00010000" {
			return true
		}
	}
	return false
}

// socketDir returns a folder whose name is short enough for a socket's.
func socketDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "guest")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
