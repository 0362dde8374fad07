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

	"github.com/go-delve/delve/service"
	"github.com/go-delve/delve/service/api"
	"github.com/go-delve/delve/service/debugger"

	"github.com/sfwalk/sfwalk/delve/front"
	"github.com/sfwalk/sfwalk/internal/command"
	"github.com/sfwalk/sfwalk/target/live"
)

// Delve is the [command.Delve] that embeds Delve.
type Delve struct{}

var _ command.Delve = Delve{}

// Serve implements [command.Delve].
func (Delve) Serve(ctx context.Context, o command.DelveOptions) error {
	if err := check(o); err != nil {
		return err
	}
	listener, err := listen(o.Listen)
	if err != nil {
		return err
	}
	defer listener.Close()
	config := &service.Config{
		Listener: listener, ProcessArgs: o.Args, AcceptMulti: o.Multi, CheckLocalConnUser: o.SameUser, APIVersion: 2,
		Debugger: debugger.Config{
			AttachPid: o.PID, CoreFile: o.Core, WorkingDir: o.Dir, TTY: o.TTY, CheckGoVersion: o.CheckGoVersion,
			Backend: "default", Foreground: o.TTY == "", ExecuteKind: debugger.ExecutingExistingFile,
			DebugInfoDirectories: []string{"/usr/lib/debug/.build-id"}, // the dlv command's, where its configuration says nothing
		},
	}
	if o.Core != "" {
		config.Debugger.ExecuteKind = debugger.ExecutingOther
	}
	dbg, err := debugger.New(&config.Debugger, o.Args)
	if err != nil {
		return explain(ctx, o, err)
	}
	o.Listening(listener.Addr())
	return front.Serve(ctx, config, dbg)
}

// listen listens at an address as dlv takes it.
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

// check finds mistakes in what is to be debugged that Delve says less of.
func check(o command.DelveOptions) error {
	for i, path := range []string{"", o.Core} {
		if i == 0 && len(o.Args) > 0 {
			path = o.Args[0]
		}
		if path == "" {
			continue
		}
		file, err := elf.Open(path)
		if err != nil {
			if p := (*fs.PathError)(nil); errors.As(err, &p) {
				err = p.Err
			}
			return fmt.Errorf("%s: %w", path, err)
		}
		kind := file.Type
		file.Close()
		switch {
		case i == 0 && kind == elf.ET_CORE:
			return fmt.Errorf("%s is a core file, not a program: the program comes first", path)
		case i == 1 && kind != elf.ET_CORE:
			return fmt.Errorf("%s is not a core file, but of ELF type %v", path, kind)
		}
	}
	if o.Dir != "" {
		if info, err := os.Stat(o.Dir); err != nil || !info.IsDir() {
			return fmt.Errorf("--wd %s: want a folder", o.Dir)
		}
	}
	return nil
}

// explain says more of why Delve cannot debug something.
func explain(ctx context.Context, o command.DelveOptions, err error) error {
	switch {
	case o.PID != 0:
		// The reasons are the same as for a look at the process, which names a remedy.
		t, refused := live.Attach(ctx, o.PID, live.Options{})
		if refused != nil {
			return refused
		}
		t.Close()
	case o.Core != "":
		return fmt.Errorf("%s, of the program %s: %w", o.Core, o.Args[0], err)
	case errors.Is(err, api.ErrNotExecutable):
		return fmt.Errorf("%s: it cannot be executed here: chmod +x %s, if it is a program for this machine", o.Args[0], filepath.Clean(o.Args[0]))
	}
	return err
}
