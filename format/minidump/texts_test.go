package minidump

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/dumptest"
)

// TestSharedTexts: a text to which thousands of records refer is read once, and all that they refer
// to together has a bound.
func TestSharedTexts(t *testing.T) {
	const n = 4000
	long := strings.Repeat("\u4e2d", 20000)
	module := func(d *dumptest.Dump, name uint32, codeView, misc []byte) []byte {
		return dumptest.Join(d.U64(0x1000), d.U32(0x1000, 0, 0, name), make([]byte, 52), codeView, misc, make([]byte, 16))
	}
	none := make([]byte, 8)
	for _, c := range []struct {
		name  string
		add   func(*dumptest.Dump)
		texts func(*File) (list []string)
	}{
		{"modules", func(d *dumptest.Dump) {
			d.Stream(4, d.U32(n+1), bytes.Repeat(module(d, d.Text(long), none, none), n), module(d, d.Text("short"), none, none))
		}, func(f *File) (list []string) {
			for _, m := range f.Modules {
				list = append(list, m.Name)
			}
			return list
		}},
		{"symbols", func(d *dumptest.Dump) {
			record := func(name string) []byte {
				return d.At(dumptest.Join([]byte("RSDS"), make([]byte, 20), []byte(name), []byte{0}))
			}
			d.Stream(4, d.U32(n+1), bytes.Repeat(module(d, 0, record(long), none), n), module(d, 0, record("short"), none))
		}, func(f *File) (list []string) {
			for _, m := range f.Modules {
				list = append(list, m.DebugFile())
			}
			return list
		}},
		{"old symbols", func(d *dumptest.Dump) {
			record := func(name string) []byte { return d.At(dumptest.Join(d.U32(4, 0, 0), []byte(name), []byte{0})) }
			d.Stream(4, d.U32(n+1), bytes.Repeat(module(d, 0, none, record(long)), n), module(d, 0, none, record("short")))
		}, func(f *File) (list []string) {
			for _, m := range f.Modules {
				list = append(list, m.DebugFile())
			}
			return list
		}},
		{"unloaded modules", func(d *dumptest.Dump) {
			one := func(name uint32) []byte { return dumptest.Join(d.U64(0x1000), d.U32(0x1000, 0, 0, name)) }
			d.Stream(14, d.U32(12, 24, n+1), bytes.Repeat(one(d.Text(long)), n), one(d.Text("short")))
		}, func(f *File) (list []string) {
			for _, m := range f.Unloaded {
				list = append(list, m.Name)
			}
			return list
		}},
		{"threads", func(d *dumptest.Dump) {
			threads, names := d.U32(n+1), d.U32(n+1)
			name := d.Text(long)
			for i := range uint32(n + 1) {
				if i == n {
					name = d.Text("short")
				}
				threads = append(threads, dumptest.Join(d.U32(i+1), make([]byte, 44))...)
				names = append(names, dumptest.Join(d.U32(i+1), d.U64(uint64(name)))...)
			}
			d.Stream(3, threads)
			d.Stream(24, names)
		}, func(f *File) (list []string) {
			for _, m := range f.Threads {
				list = append(list, m.Name)
			}
			return list
		}},
		{"annotations", func(d *dumptest.Dump) {
			annotations := d.At(dumptest.Join(d.U32(n), bytes.Repeat(d.U32(d.UTF8("name"), d.UTF8(long)), n)))
			d.Stream(0x43500001, d.U32(1), make([]byte, 32), annotations, make([]byte, 20))
		}, func(f *File) (list []string) {
			for _, a := range f.Annotations {
				list = append(list, a.Value)
			}
			return append(list, "short")
		}},
		{"annotations of a module", func(d *dumptest.Dump) {
			annotations := d.At(dumptest.Join(d.U32(n), bytes.Repeat(d.U32(d.UTF8("name"), d.UTF8("value")), n)))
			d.Stream(4, d.U32(1), module(d, d.Text(long), none, none))
			info := d.At(dumptest.Join(d.U32(1), make([]byte, 8), annotations, make([]byte, 8)))
			d.Stream(0x43500001, d.U32(1), make([]byte, 40), d.At(dumptest.Join(d.U32(1, 0), info)), make([]byte, 12))
		}, func(f *File) (list []string) {
			for range f.Modules[0].Annotations {
				list = append(list, f.Modules[0].Name)
			}
			return append(list, "short")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := dumptest.New()
			d.System(9, 0x8201, "")
			c.add(d)
			b := d.Bytes(1)
			if len(b) > 1<<20 {
				t.Fatalf("%d bytes", len(b))
			}
			var f *File
			bounds.Hold(t, 1<<20+16*len(b), func() { f = read(t, b) })
			all, full := 0, 0
			list := c.texts(f)
			for _, text := range list {
				if all += len(text); text == long {
					full++
				}
			}
			if all > maxTexts || full != (maxTexts-len(long))/len(long) && full != maxTexts/len(long) {
				t.Errorf("%d texts of %d bytes, %d bytes together", full, len(long), all)
			}
			if last := list[len(list)-1]; last != "short" {
				t.Errorf("a short text behind them is %.40q", last)
			}
			if said := fmt.Sprint(f.Warnings); strings.Count(said, "more than 4 MiB of text") != 1 {
				t.Errorf("%.400q", said)
			}
		})
	}
}

// TestLongBuildID: what no linker makes is no build ID: each module shows its own.
func TestLongBuildID(t *testing.T) {
	d := dumptest.New()
	d.System(9, 0x8201, "")
	record := func(n int) []byte { return append(d.U32(0x4270454c), make([]byte, n)...) }
	d.Stream(4, d.U32(2), d.Module("/a", 0x1000, 0x1000, record(60000)), d.Module("/b", 0x2000, 0x1000, record(20)))
	f := read(t, d.Bytes(1))
	if a, b := f.Modules[0].CodeID(f), f.Modules[1].CodeID(f); a != "" || b != strings.Repeat("00", 20) {
		t.Errorf("%.40q, %q", a, b)
	}
	if said := fmt.Sprint(f.Warnings); !strings.Contains(said, "/a: a build ID of 60000 bytes") {
		t.Errorf("%.400q", said)
	}
}
