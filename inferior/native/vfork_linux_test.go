package native_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/inferior/native"
	"github.com/sfwalk/sfwalk/internal/gdbtest"
)

// A child of vfork(2) is not made to call functions: what they write would be its parent's.
func TestVforkChild(t *testing.T) {
	src := filepath.Join(t.TempDir(), "vforks.c")
	text := "#include <stdio.h>\n#include <unistd.h>\nint main(void) { puts(\"ready\"); fflush(stdout); if (!vfork()) { char c; read(0, &c, 1); _exit(0); } return 0; }\n"
	if err := os.WriteFile(src, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := gdbtest.StartRunning(t, gdbtest.Compile(t, src, gdbtest.Tool(t, "gcc")))
	child := 0
	gdbtest.Await(t, "the program has a child", func() bool {
		list, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", p.PID, p.PID))
		child, _ = strconv.Atoi(strings.TrimSpace(string(list)))
		return child != 0
	})
	t.Cleanup(func() { unix.Kill(child, unix.SIGKILL) }) // its parent waits for it
	held, err := native.Attach(t.Context(), child, native.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if _, err := inferior.NewCaller(held, held.Thread(child)); err == nil || !strings.Contains(err.Error(), "vfork(2)") {
		t.Errorf("%v", err)
	}
}
