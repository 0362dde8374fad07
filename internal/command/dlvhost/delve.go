//go:build linux && (amd64 || arm64)

package dlvhost

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/sfwalk/sfwalk/internal/command/dlv"

	"github.com/sfwalk/sfwalk/internal/command/hosts"

	"github.com/go-delve/delve/pkg/gobuild"
	"github.com/go-delve/delve/pkg/logflags"
	"github.com/go-delve/delve/pkg/proc"
	"github.com/go-delve/delve/service"
	"github.com/go-delve/delve/service/debugger"

	"github.com/sfwalk/sfwalk/delve"
	"github.com/sfwalk/sfwalk/delve/server"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/procdir"
	"github.com/sfwalk/sfwalk/internal/regular"
	"github.com/sfwalk/sfwalk/internal/sysroot"
	"github.com/sfwalk/sfwalk/target/core"
	"github.com/sfwalk/sfwalk/target/live"
)

// Server is the [dlv.Server] that embeds Delve.
type Server struct{}

var _ dlv.Server = Server{}

// Serve implements [dlv.Server].
func (Server) Serve(ctx context.Context, o dlv.Options) error {
	if o.Log || o.LogDest != "" {
		if err := logflags.Setup(o.Log, o.LogOutput, o.LogDest); err != nil {
			return fmt.Errorf("--log: %w", err)
		}
		defer logflags.Close()
	}
	if o.Build != "" {
		path, err := build(&o)
		if err != nil {
			return err
		}
		defer gobuild.Remove(path)
	}
	if err := check(o); err != nil {
		return err
	}
	listener, err := listen(o.Listen)
	if o.Client != "" {
		listener, err = call(o.Client)
		o.SameUser = false
	}
	if err != nil {
		return err
	}
	defer listener.Close()
	config := &service.Config{
		Listener: listener, ProcessArgs: o.Args, AcceptMulti: o.Multi, CheckLocalConnUser: o.SameUser, APIVersion: 2,
		Debugger: debugger.Config{
			AttachPid: o.PID, CoreFile: o.Core, WorkingDir: o.Dir, TTY: o.TTY, CheckGoVersion: o.CheckGoVersion,
			Stdin: o.Redirects[0], Stdout: proc.OutputRedirect{Path: o.Redirects[1]}, Stderr: proc.OutputRedirect{Path: o.Redirects[2]}, DisableASLR: o.NoASLR,
			Backend: "default", Foreground: o.TTY == "", ExecuteKind: debugger.ExecutingExistingFile,
			DebugInfoDirectories: debugDirs(o),
		},
	}
	switch {
	case o.DAP:
		config.Debugger.Foreground = true
		if o.Client == "" {
			tell(o, listener.Addr(), logflags.WriteDAPListeningMessage)
		}
		return server.Serve(ctx, config, nil, options(o))
	case o.Core != "":
		config.Debugger.ExecuteKind = debugger.ExecutingOther
	case o.Build != "":
		config.Debugger.ExecuteKind = debugger.ExecutingGeneratedFile
		if o.Build == "test" {
			config.Debugger.ExecuteKind = debugger.ExecutingGeneratedTest
		}
		config.Debugger.Packages, config.Debugger.BuildFlags = o.Packages, o.BuildFlags
	}
	dbg, err := server.NewDebugger(&config.Debugger, o.Args)
	if err != nil {
		return explain(ctx, o, err)
	}
	tell(o, listener.Addr(), logflags.WriteAPIListeningMessage)
	return server.Serve(ctx, config, dbg, options(o))
}

// debugDirs returns the folders in which Delve itself looks for debug files by build ID. The last
// is also the dlv command's own.
func debugDirs(o dlv.Options) (list []string) {
	for _, dir := range o.Symbols.DebugDirs {
		list = append(list, filepath.Join(dir, ".build-id"))
	}
	return list
}

// tell says where the server listens: where Delve says it, if the log has a place.
func tell(o dlv.Options, at net.Addr, delve func(net.Addr)) {
	if o.LogDest != "" {
		delve(at)
	}
	o.Listening(at)
}

func options(o dlv.Options) server.Options {
	return server.Options{Symbols: o.Symbols, Continue: o.Continue, Warnings: o.Warnings, Prepare: func(t *delve.Target) func() { return prepare(t, o) }}
}

// prepare sets the sniffers that the user wants, and the names that they have.
func prepare(t *delve.Target, o dlv.Options) (release func()) {
	of := hosts.Process{PID: t.Proc.Pid(), Live: o.Core == ""}
	if o.DAP {
		of.Live = traced(of.PID) // else it is a core file's
	}
	if of.Live {
		of.Root = procdir.File(of.PID, "root")
	}
	u := o.Unwinding(t.Arch(), of)
	t.Table, t.Decorators, t.AllFrames = u.Table, u.Decorators, o.AllFrames
	if u.Name != nil {
		t.Name = func(f *frame.Frame) (delve.Name, bool) {
			s, ok := u.Name(f)
			return delve.Name{FrameOnly: s.FrameOnly, Function: s.Function, Start: s.Lo, File: s.File, Line: s.Line}, ok
		}
	}
	return u.Close
}

// traced reports whether this process traces another.
func traced(pid int) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(status), "\nTracerPid:\t")
	tracer, _, _ := strings.Cut(rest, "\n")
	if tracer == "" || tracer == "0" {
		return false
	}
	_, err = os.Stat("/proc/self/task/" + tracer) // a thread traces, and the kernel names that one
	return err == nil
}

// listen listens at HOST:PORT, or at a Unix socket for unix:PATH.
func listen(addr string) (net.Listener, error) {
	network := "tcp"
	if path, ok := strings.CutPrefix(addr, "unix:"); ok {
		network, addr = "unix", path
	}
	l, err := net.Listen(network, addr)
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	return l, nil
}

// check finds mistakes in the program or core file that Delve reports badly, or not at all.
func check(o dlv.Options) error {
	if len(o.Args) > 0 {
		kind, err := elfType(o.Args[0])
		if err != nil {
			return err
		}
		if kind == elf.ET_CORE {
			return fmt.Errorf("%s is a core file, not a program: the program comes first", o.Args[0])
		}
	}
	switch {
	case o.Core != "":
		kind, err := elfType(o.Core)
		if err != nil {
			return err
		}
		if kind != elf.ET_CORE {
			return fmt.Errorf("%s is not a core file, but of ELF type %v", o.Core, kind)
		}
		return checkCore(o.Args[0], o.Core)
	case len(o.Args) > 0:
		if info, err := os.Stat(o.Args[0]); err == nil && info.Mode()&0o111 == 0 {
			return fmt.Errorf("%s: it cannot be executed: chmod +x %[1]s", o.Args[0])
		}
		if info, err := os.Stat(o.Dir); o.Dir != "" && (err != nil || !info.IsDir()) {
			return fmt.Errorf("--wd %s: want a folder", o.Dir)
		}
	}
	return nil
}

// elfType returns the type of an ELF file.
func elfType(path string) (elf.Type, error) {
	raw, err := regular.Open(path)
	var file *elf.File
	if err == nil {
		defer raw.Close()
		file, err = elf.NewFile(raw)
	}
	if err != nil {
		if p := (*fs.PathError)(nil); errors.As(err, &p) {
			return 0, fmt.Errorf("%s: %w", path, p.Err)
		}
		return 0, fmt.Errorf("%s: not an ELF file: %w", path, err)
	}
	return file.Type, nil
}

// checkCore returns an error if the core file at path is of another program than exe. Delve does
// not check that.
func checkCore(exe, path string) error {
	t, err := core.Open(path, core.Options{Exe: exe})
	if err != nil {
		return nil // Delve reports mistakes in the core itself
	}
	defer t.Close()
	for _, m := range t.Modules().All() {
		if m.Path == t.Exe {
			m.Image() // compares the file with the core
		}
	}
	for _, w := range t.Warnings() {
		if strings.Contains(w, exe+": ") && strings.Contains(w, sysroot.ErrMismatch.Error()) {
			return fmt.Errorf("%s is of another program than %s, or another build: %s", path, exe, w)
		}
	}
	return nil
}

// explain returns a better error than err, Delve's.
func explain(ctx context.Context, o dlv.Options, err error) error {
	switch {
	case o.PID != 0:
		// live.Attach fails for the same reasons, and names a remedy.
		t, refused := live.Attach(ctx, o.PID, live.Options{})
		if refused != nil {
			return refused
		}
		t.Close()
		if procdir.Thread(o.PID) != o.PID {
			return fmt.Errorf("attach %d: Delve attaches to a process's first thread, which has ended, while others live on: 'sfwalk attach' shows these, and 'sfwalk call' has them call functions: %w", o.PID, err)
		}
	case o.Core != "":
		return fmt.Errorf("%s, of the program %s: %w", o.Core, o.Args[0], err)
	default:
		return fmt.Errorf("%s: %w", o.Args[0], err)
	}
	return err
}
