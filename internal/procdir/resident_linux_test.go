package procdir_test

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/procdir"
)

// What is resident is what status has as VmRSS, but for the pages that come meanwhile.
func TestResident(t *testing.T) {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want := int64(0)
	for s := bufio.NewScanner(f); s.Scan(); {
		if rest, ok := strings.CutPrefix(s.Text(), "VmRSS:"); ok {
			kb, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			want = kb << 10
		}
	}
	if got := procdir.Resident(os.Getpid()); got < want/2 || got > 2*want || want == 0 {
		t.Errorf("%d bytes, want %d", got, want)
	}
	if got := procdir.Resident(1 << 30); got != 0 {
		t.Errorf("%d bytes of no process", got)
	}
}
