package record_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/sfwalk/sfwalk/arch/arm64"
	_ "github.com/sfwalk/sfwalk/arch/s390x"
	"github.com/sfwalk/sfwalk/elfimage"
)

// Files of other processors, one of them big-endian, that perf has recorded there: each sample has the stack that perf script has
// printed there. The program computes eleven calls deep.
func TestFileForeign(t *testing.T) {
	for _, machine := range []string{"arm64", "s390x"} {
		t.Run(machine, func(t *testing.T) {
			dir := filepath.Join("testdata", "perf", machine)
			program := filepath.Join(dir, "deep")
			im, file, err := elfimage.OpenFile(program)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			home := t.TempDir() // perf's cache is there
			code, err := os.ReadFile(program)
			cached := filepath.Join(home, ".debug", ".build-id", im.BuildID[:2], im.BuildID[2:], "elf")
			if err == nil {
				err = os.MkdirAll(filepath.Dir(cached), 0o777)
			}
			if err == nil {
				err = os.WriteFile(cached, code, 0o666)
			}
			script, readErr := os.ReadFile(filepath.Join(dir, "script.txt"))
			if err != nil || readErr != nil {
				t.Fatal(err, readErr)
			}
			t.Setenv("HOME", home)
			theirs := readScript(t, script)
			ours, ends, f := walked(t, open(t, filepath.Join(dir, "perf.data")), false)
			for at, b := range theirs {
				if a := ours[at]; !slices.Equal(a, b) || !ends[at].Whole() || len(a) != 13 {
					t.Errorf("%v: %v\n%s\nperf:\n%s", at, ends[at], strings.Join(a, "\n"), strings.Join(b, "\n"))
				}
			}
			if len(ours) != len(theirs) || len(ours) < 20 {
				t.Errorf("%d samples, perf has %d: %+v", len(ours), len(theirs), f.Profile().Stats)
			}
		})
	}
}
