//go:build linux

package gdbtest

import (
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// entryRelease is the first release of gdb in which an inlined call's frame ID has the call's
// DW_AT_entry_pc even where only an empty range holds that. gdb 16 and 17 may leave
// empty ranges out; older releases take the begin of the first range.
const entryRelease = 18

// enterInlined changes the code addresses of inlined calls' frames, as an older gdb gave them for a
// live process, to the addresses that gdb 18 gives.
func enterInlined(t testing.TB, pid int, threads []Thread) {
	t.Helper()
	files := make(map[string]*debugFile)
	for i := range threads {
		frames := threads[i].Frames
		for j := range frames {
			f := &frames[j]
			if f.Type != "inline" || f.GDB >= entryRelease || f.Code == 0 {
				continue
			}
			if strings.HasPrefix(f.Debug, "<in-memory@") {
				continue // registered code: gdb's word stands, for calls of one range
			}
			d := files[f.Debug]
			if d == nil {
				d = openDebug(t, pid, f)
				files[f.Debug] = d
			}
			pc, inner := f.PC, j
			for inner > 0 && frames[inner-1].Type == "inline" {
				inner--
			}
			if inner > 0 && frames[inner-1].Type != "sigtramp" {
				pc-- // it is in the call
			}
			first, entry := d.call(t, pc-d.bias, f.Function, f.Artificial)
			if code := f.Code - d.bias; code != first && (f.GDB < 16 || code != entry) {
				t.Fatalf("gdb %d has %#x of %s for %s: its first range begins at %#x, it is entered at %#x", f.GDB, code, f.Debug, f.Function, first, entry)
			}
			f.Code = entry + d.bias
		}
	}
}

// debugFile is the debug information of a file that a process has mapped.
type debugFile struct {
	info *dwarf.Data
	bias uint64
}

func openDebug(t testing.TB, pid int, f *Frame) *debugFile {
	t.Helper()
	e, err := elf.Open(f.Debug)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	info, err := e.DWARF()
	if err != nil {
		t.Fatalf("%s: %v", f.Debug, err)
	}
	return &debugFile{info, bias(t, pid, f.PC)}
}

// bias returns the distance of a process's mapping at pc from its address in the file.
func bias(t testing.TB, pid int, pc uint64) uint64 {
	t.Helper()
	maps, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/maps")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(maps)) {
		var lo, hi, off uint64
		var perms, dev, inode, path string
		fmt.Sscanf(line, "%x-%x %s %x %s %s %s", &lo, &hi, &perms, &off, &dev, &inode, &path)
		if pc < lo || pc >= hi {
			continue
		}
		e, err := elf.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		at := pc - lo + off // in the file
		for _, p := range e.Progs {
			if p.Type == elf.PT_LOAD && at >= p.Off && at < p.Off+p.Filesz {
				return pc - (at - p.Off + p.Vaddr)
			}
		}
	}
	t.Fatalf("process %d has no file mapped at %#x", pid, pc)
	return 0
}

// call returns where the first range of a call that is inlined at pc begins, and where the call is
// entered. depth is the depth of the call, from 1 on; gdb counts tail calls as well.
func (d *debugFile) call(t testing.TB, pc uint64, function string, depth int) (first, entry uint64) {
	t.Helper()
	r := d.info.Reader()
	if _, err := r.SeekPC(pc); err != nil {
		t.Fatalf("%s at %#x: %v", function, pc, err)
	}
	var nest []*dwarf.Entry
	for level := 0; level >= 0; {
		e, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case e == nil, e.Tag == dwarf.TagCompileUnit:
			level = -1
			continue
		case e.Tag == 0:
			level--
			continue
		case e.Children:
			level++
		}
		if e.Tag != dwarf.TagInlinedSubroutine {
			continue
		}
		for _, r := range ranges(t, d.info, e) {
			if pc >= r[0] && pc < r[1] {
				nest = append(nest, e)
			}
		}
	}
	if depth > len(nest) {
		t.Fatalf("%s at %#x is call %d of %d that are inlined there", function, pc, depth, len(nest))
	}
	e := nest[depth-1]
	list := ranges(t, d.info, e)
	for _, r := range list {
		if first == 0 && r[0] != r[1] {
			first = r[0]
		}
	}
	entry = first
	if said, ok := e.Val(dwarf.AttrEntrypc).(uint64); ok {
		for _, r := range list {
			if said >= r[0] && (said < r[1] || said == r[0]) {
				entry = said
			}
		}
	}
	return first, entry
}

func ranges(t testing.TB, d *dwarf.Data, e *dwarf.Entry) [][2]uint64 {
	t.Helper()
	list, err := d.Ranges(e)
	if err != nil {
		t.Fatal(err)
	}
	return list
}
