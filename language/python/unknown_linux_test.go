package python

import (
	"context"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/live"
)

// later is the memory of a process that says it is of a later release.
type later struct {
	target.Memory
	at    uint64 // of the byte with the minor release
	minor byte
}

func (m later) ReadMemory(addr uint64, p []byte) (int, error) {
	n, err := m.Memory.ReadMemory(addr, p)
	if i := m.at - addr; i < uint64(n) {
		p[i] = m.minor
	}
	return n, err
}

// TestLaterRelease: a release that is not known is tried with the newest layout, which counts only
// if it leads through all threads and frames; the user is told either way.
func TestLaterRelease(t *testing.T) {
	gdbtest.Later(t, "python3")
	names := []string{"python3.13", "python3.14", "python3.15"}
	if root, err := exec.Command("pyenv", "root").Output(); err == nil {
		names = append(names, gdbtest.Glob(t, filepath.Join(strings.TrimSpace(string(root)), "versions", "3.1[345].*", "bin", "python3"))...)
	}
	tried := false
	for _, name := range names {
		version, err := exec.Command(name, "-c", "import sys; print(sys.version_info[1])").Output()
		if err != nil {
			continue
		}
		tried = true
		minor, err := strconv.Atoi(strings.TrimSpace(string(version)))
		if err != nil {
			t.Fatal(err)
		}
		p := gdbtest.Start(t, name, "-c", "print('ready', flush=True)\ndef f(): input()\nf()")
		tg, err := live.Attach(context.Background(), p.PID, live.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer tg.Close()
		for _, m := range tg.Modules().All() {
			im, bias, err := m.Image()
			if err != nil {
				continue
			}
			at, ok := runtimeAddress(im)
			if !ok {
				continue
			}
			const minorByte = uint64(len(cookie) + 2) // of the version, a word whose third byte that is
			of := &language.Process{Arch: tg.Arch(), Modules: tg.Modules(), Memory: later{tg.Memory(), at + bias + minorByte, 99}}
			found, err := find(of, m, minor)
			if len(found) != 1 || err == nil || !regexp.MustCompile(`^the layout of Python 3\.99 is not known: the one of 3\.\d+ fits`).MatchString(err.Error()) {
				t.Errorf("%s: %d run times, %v", name, len(found), err)
			}
			for wrong := 13; wrong <= newest; wrong++ {
				if wrong == minor {
					continue
				}
				if found, err := find(of, m, wrong); len(found) > 0 || err == nil || !strings.Contains(err.Error(), "3.99 is not known") && !strings.Contains(err.Error(), "_Py_DebugOffsets") && !strings.Contains(err.Error(), "the layout of") {
					t.Errorf("%s by the layout of 3.%d: %d run times, %v", name, wrong, len(found), err)
				}
			}
		}
	}
	if !tried {
		gdbtest.Cannot(t, "no Python is installed that tells its layout: 3.13 or later")
	}
}
