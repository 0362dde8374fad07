package plugincheck

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/demo"
	"github.com/sfwalk/sfwalk/internal/plugincheck/cores"
	"github.com/sfwalk/sfwalk/sniffer/external"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/core"
	"github.com/sfwalk/sfwalk/target/live"
	"github.com/sfwalk/sfwalk/target/snapshot"

	// The architectures of recorded processes.
	_ "github.com/sfwalk/sfwalk/arch/amd64"
	_ "github.com/sfwalk/sfwalk/arch/arm64"
	_ "github.com/sfwalk/sfwalk/arch/s390x"
)

// subject is a process to ask the plug-in about.
type subject struct {
	target.Target
	name   string // for people
	about  external.Target
	close  func() error
	partly bool // it has not all memory of its process
}

// subjects opens the processes to walk for a plug-in of these architectures: the bundled ones, and
// the user's snapshots and core files.
func subjects(ctx context.Context, architectures, snapshots []string) (list []*subject, err error) {
	for _, name := range architectures {
		p, err := cores.Open(name)
		if err != nil {
			return list, err
		}
		list = append(list, &subject{p, "the recorded " + name + " process", external.Target{PID: p.PID}, p.Close, false})
	}
	for _, path := range snapshots {
		t, err := snapshot.Open(path, core.Options{})
		if errors.Is(err, snapshot.ErrNotSnapshot) {
			t, err := core.Open(path, core.Options{})
			if err != nil {
				return list, err
			}
			list = append(list, &subject{t, path, external.Target{PID: t.PID}, t.Close, false})
			continue
		}
		if err != nil {
			return list, err
		}
		list = append(list, &subject{t, path, external.Target{PID: t.PID}, t.Close, true})
	}
	if s, err := alive(ctx); err == nil {
		list = append(list, s)
	}
	return list, nil
}

// alive starts the demo's process and takes a snapshot of it. Not every machine permits that.
func alive(ctx context.Context) (*subject, error) {
	p, err := demo.Start()
	if err != nil {
		return nil, err
	}
	t, err := live.Attach(ctx, p.PID, live.Options{})
	if err != nil {
		p.Stop()
		return nil, err
	}
	return &subject{t, "a live process", external.Target{PID: p.PID, Live: true, Root: fmt.Sprintf("/proc/%d/root", p.PID)}, func() error {
		t.Close()
		return p.Stop()
	}, false}, nil
}

// nowhere is a process without files and without readable memory.
type nowhere struct {
	arch    *arch.Arch
	modules *target.Modules
}

func (n *nowhere) Arch() *arch.Arch                  { return n.arch }
func (n *nowhere) Memory() target.Memory             { return n }
func (n *nowhere) Threads() ([]target.Thread, error) { return nil, nil }
func (n *nowhere) Modules() *target.Modules          { return n.modules }
func (n *nowhere) Close() error                      { return nil }

// ReadMemory implements [target.Memory].
func (n *nowhere) ReadMemory(uint64, []byte) (int, error) { return 0, target.ErrUnmapped }

// unknown returns a process without threads, modules and memory.
func unknown(a *arch.Arch) *subject {
	return &subject{Target: &nowhere{a, target.NewModules(nil, nil)}, name: "a process that nothing is known of"}
}

// crowded returns a process that maps more files than one message takes.
func crowded(a *arch.Arch, n int) *subject {
	var list []*target.Module
	for i := range uint64(n) {
		lo := 0x10_0000_0000 + i<<20
		list = append(list, target.NewModule(fmt.Sprintf("/usr/lib/libcrowd%d.so", i),
			[]target.Mapping{{Lo: lo, Hi: lo + 0x1000}, {Lo: lo + 0x1000, Hi: lo + 0x2000, Offset: 0x1000, Exec: true}},
			func() (*elf.Image, error) { return nil, os.ErrNotExist }))
	}
	return &subject{Target: &nowhere{a, target.NewModules(list, nil)}, name: fmt.Sprintf("a process with %d files", n)}
}

// blind returns the process with its modules, but without threads and readable memory.
func (s *subject) blind() *subject {
	return &subject{Target: &nowhere{s.Arch(), s.Modules()}, name: s.name + ", unreadable", about: s.about}
}
