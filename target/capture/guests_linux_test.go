package capture_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// On arm64, too. ('make hosts' runs these tests on s390x.)
func TestARM64(t *testing.T) {
	gdbtest.NeedAMD64(t)
	qemu := gdbtest.Tool(t, "qemu-aarch64")
	tests := filepath.Join(t.TempDir(), "capture.test")
	build := exec.Command(gdbtest.Tool(t, "go"), "test", "-c", "-vet=off", "-o", tests, ".")
	build.Env = append(os.Environ(), "GOARCH=arm64", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := exec.Command(qemu, tests, "-test.run", "TestGoroutine|TestNotCaptured").CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
