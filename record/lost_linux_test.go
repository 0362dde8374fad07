package record

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/perfevent"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target"
)

// TestLost loses the records of a process that runs another program. Once the kernel says that it
// has lost some, the process's modules, memory and name are the new program's, as /proc has them.
func TestLost(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", "read line; exec sleep 600")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	pid := int32(cmd.Process.Pid)
	program := func() string {
		path, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
		return path
	}
	sleep, err := filepath.EvalSymlinks(gdbtest.Tool(t, "sleep"))
	if err != nil {
		t.Fatal(err)
	}
	gdbtest.Await(t, "the shell runs", func() bool { return program() != "" && program() != os.Args[0] })
	e := bareEngine()
	s := e.newSpace(pid, arch.ByName(runtime.GOARCH), nil)
	s.refresh()
	e.thread(pid, pid)
	of := func(path string) *target.Module {
		for _, m := range s.modules.All() {
			if m.Path == path {
				return m
			}
		}
		return nil
	}
	if of(program()) == nil {
		t.Fatalf("no module of %s", program())
	}
	unsampled := bareEngine() // it knows what the process has mapped, and has had no sample yet
	maps, err := unsampled.host.maps(int(pid))
	if err != nil {
		t.Fatal(err)
	}
	unsampled.early[pid] = &mapped{users: 1}
	unsampled.early[pid].set(unsampled, maps)
	fmt.Fprintln(in)
	gdbtest.Await(t, "it runs another program", func() bool { return program() == sleep })
	lost := binary.NativeEndian.AppendUint64(binary.NativeEndian.AppendUint64(nil, 1), 3)
	for _, e := range []*engine{unsampled, e} {
		if err := e.read(perfevent.Record{Type: perfevent.RecordLost, Body: lost}); err != nil {
			t.Fatal(err)
		}
	}
	sampled := s
	s = unsampled.newSpace(pid, arch.ByName(runtime.GOARCH), nil)
	if s.refresh(); of(sleep) == nil {
		t.Errorf("before the first sample: modules %v", s.modules.All())
	}
	s = sampled
	s.refresh()
	m := of(sleep)
	if m == nil || e.stats.Lost != 3 {
		t.Fatalf("modules %v, and %d records were lost", s.modules.All(), e.stats.Lost)
	}
	if thread := e.list[e.thread(pid, pid)]; thread.Name != "sleep" {
		t.Errorf("%+v", thread)
	}
	file, err := os.ReadFile(sleep)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range m.Mappings {
		if at.Exec {
			got := make([]byte, 64)
			if n, err := s.modules.Memory.ReadMemory(at.Lo, got); n < len(got) || string(got) != string(file[at.Offset:at.Offset+64]) {
				t.Errorf("%d bytes of its code are read: %v", n, err)
			}
		}
	}
}
