package record

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/format/perfdata"
	"github.com/sfwalk/sfwalk/format/perfevent"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// vmlinux has what the kernel's linker script gives it (arch/x86/kernel/vmlinux.lds.S): _text is a
// symbol without a type.
const vmlinux = `
	.globl _text, start_kernel, schedule
	.text
_text:
	.type start_kernel, @function
start_kernel:
	.skip 64, 0x90
	.size start_kernel, 64
	.type schedule, @function
schedule:
	.skip 32, 0x90
	.size schedule, 32
`

// A kernel that was recorded elsewhere, at addresses of its own (KASLR), has the names that nm
// prints of vmlinux: in a folder of debug files, or in perf's cache.
func TestKernelImage(t *testing.T) {
	gdbtest.NeedAMD64(t)
	dir := t.TempDir()
	source, image := filepath.Join(dir, "vmlinux.s"), filepath.Join(dir, "vmlinux")
	if err := os.WriteFile(source, []byte(vmlinux), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(gdbtest.Tool(t, "cc"), "-nostdlib", "-static", "-no-pie", "-Wl,-Ttext=0xffffffff81000000,-e,start_kernel,--build-id", "-o", image, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	im, f, err := elf.OpenFile(image)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	listed, err := exec.Command(gdbtest.Tool(t, "nm"), image).Output()
	if err != nil {
		t.Fatal(err)
	}
	const shift = 0x1b400000
	want := map[uint64]string{}
	var text uint64
	for in := bufio.NewScanner(bytes.NewReader(listed)); in.Scan(); {
		var addr uint64
		var kind, name string
		if n, _ := fmt.Sscanf(in.Text(), "%x %s %s", &addr, &kind, &name); n != 3 {
			continue
		}
		switch name {
		case "_text":
			text = addr + shift
		case "start_kernel", "schedule":
			want[addr+shift] = name
			want[addr+shift+20] = name
		}
	}
	if len(want) != 4 || text == 0 {
		t.Fatalf("nm prints\n%s", listed)
	}
	var addrs []uint64
	for addr := range want {
		addrs = append(addrs, addr)
	}
	for _, at := range []string{"debug/.build-id/%s/%s.debug", "cache/.build-id/%s/%s/vmlinux"} {
		root := t.TempDir()
		file := filepath.Join(root, fmt.Sprintf(at, im.BuildID[:2], im.BuildID[2:]))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(image, file); err != nil {
			t.Fatal(err)
		}
		k := kernelMaps{places: Places{DebugDirs: []string{filepath.Join(root, "debug")}, Caches: []string{filepath.Join(root, "cache")}}}
		k.ids = []perfdata.BuildID{{Kernel: true, Path: kernelName, ID: im.BuildID}}
		k.mapped(&perfevent.Mmap{Addr: text, Size: 1 << 20, Offset: text, Path: kernelName + "_text"})
		got := k.names(addrs)
		for addr, name := range want {
			if got[addr] != name {
				t.Errorf("%s: %#x is %q, want %q", at, addr, got[addr], name)
			}
		}
		k.ids[0].ID = strings.Repeat("0", len(im.BuildID))
		if got := k.names(addrs); len(got) != 0 {
			t.Errorf("%s: a kernel of another build has the names %v", at, got)
		}
	}
}
