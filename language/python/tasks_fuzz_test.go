package python

import (
	"encoding/binary"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/language"
)

// FuzzTasks reads what is in memory as tasks of trio and as greenlets, of each release.
func FuzzTasks(f *testing.F) {
	runs := map[byte]*interpreter{}
	for minor := byte(8); minor <= 15; minor++ {
		l, err := tableOf(int(minor), "")
		if err != nil {
			f.Fatal(err)
		}
		r := &interpreter{arch: amd64.Arch, layout: l, runtime: fuzzBase}
		if err := r.check(); err != nil {
			f.Fatal(err)
		}
		runs[minor] = r
		// An object that is its own type, frame, dictionary and list of objects.
		for _, name := range []string{"frame\x00", "dict\x00", "_thread._local\x00", "coroutine\x00", "function\x00", "set\x00", "member_descriptor\x00"} {
			object := make([]byte, 1024)
			for i := 0; i < len(object); i += 8 {
				binary.LittleEndian.PutUint64(object[i:], fuzzBase)
			}
			binary.LittleEndian.PutUint64(object[l.at[typeName]:], fuzzBase+900)
			binary.LittleEndian.PutUint64(object[l.at[typeBasicSize]:], 40)
			copy(object[900:], name)
			f.Add(minor, object)
		}
	}
	f.Fuzz(func(t *testing.T, minor byte, data []byte) {
		r := runs[8+minor%8]
		bounds.Hold(t, 32<<20+200*len(data), func() {
			m := &memory{Memory: bytesAt{fuzzBase, data}, order: binary.LittleEndian, size: 8, layout: r.layout}
			s := &tasks{r: r, o: &objects{memory: m, left: 1 << 12}, at: map[uint64]int{}}
			_, _ = s.readGreenlet(fuzzBase, 40)
			_, _ = s.readGreenlet(fuzzBase, 200)
			_, _ = s.readTrio(fuzzBase)
			s.ofRun(fuzzBase)
			x := found{waits: fuzzBase}
			x.Frames = []language.Frame{{Function: "_wait", File: "asyncio/tasks.py", Place: fuzzBase}}
			s.helped(&x, func(int) {})
			x.Frames = []language.Frame{{Function: "Lock.acquire", File: "asyncio/locks.py", Place: fuzzBase}}
			s.waitsFor(&x)
			_ = s.shielded(fuzzBase)
			_ = s.o.eachThreadLocal(fuzzBase, "runner", func(uint64) {})
			left := 1 << 12
			_ = s.o.eachLinked(fuzzBase, &left, func(object, _ uint64) { s.add(object, s.readTrio) })
			_ = s.o.slotsIn(fuzzBase)
			if len(s.list) > 1<<12 {
				t.Errorf("%d tasks", len(s.list))
			}
		})
	})
}
