package commandtest

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// InstallPackages installs packages of Debian, or leaves the test out.
func InstallPackages(t *testing.T, names string) {
	t.Helper()
	for _, name := range strings.Fields(names) {
		if exec.Command("dpkg", "-s", name).Run() == nil {
			continue
		}
		install := exec.Command("apt-get", "-o", "DPkg::Lock::Timeout=600", "install", "-qy", "--no-install-recommends", name)
		install.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if out, err := install.CombinedOutput(); err != nil {
			gdbtest.Missing(t, fmt.Sprintf("apt-get install %s: %v\n%s", name, err, out))
		}
	}
}
