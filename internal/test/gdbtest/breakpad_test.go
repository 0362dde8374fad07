package gdbtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestBreakpad: Breakpad's tools run here, and its sources have the client.
func TestBreakpad(t *testing.T) {
	for _, tool := range []string{"minidump_stackwalk", "minidump_dump", "dump_syms"} {
		out, err := exec.Command(Breakpad(t, tool), "-h").CombinedOutput()
		if !strings.Contains(string(out), "Usage: ") {
			t.Errorf("%s: %v\n%s", tool, err, out)
		}
	}
	for _, file := range []string{"../third_party/lss/linux_syscall_support.h", "client/linux/handler/exception_handler.h", "third_party/libdisasm/x86_disasm.c"} {
		if _, err := os.Stat(filepath.Join(BreakpadSource(t), "src", filepath.FromSlash(file))); err != nil {
			t.Error(err)
		}
	}
}
