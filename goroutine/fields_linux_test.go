package goroutine

import (
	"debug/dwarf"
	"debug/elf"
	"testing"
)

// dwarfOffsets are the offsets of the members of the runtime's structs, by DWARF: "g.sched.sp".
type dwarfOffsets map[string]uint64

// dwarfLayout reads the offsets from a program that has DWARF.
func dwarfLayout(t *testing.T, path string) dwarfOffsets {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d, err := f.DWARF()
	if err != nil {
		t.Fatal(err)
	}
	offsets := dwarfOffsets{}
	for r := d.Reader(); ; {
		e, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if e == nil {
			break
		}
		name, _ := e.Val(dwarf.AttrName).(string)
		if e.Tag != dwarf.TagStructType || name != "runtime.g" && name != "runtime.m" && name != "runtime.gobuf" {
			if e.Tag != dwarf.TagCompileUnit {
				r.SkipChildren()
			}
			continue
		}
		typ, err := d.Type(e.Offset)
		if err != nil {
			t.Fatal(err)
		}
		for _, field := range typ.(*dwarf.StructType).Field {
			offsets[name[len("runtime."):]+"."+field.Name] = uint64(field.ByteOffset)
		}
	}
	for _, name := range []string{"g.m", "m.procid"} {
		if offsets[name] == 0 {
			t.Fatalf("the DWARF of %s has no %s", path, name)
		}
	}
	return offsets
}

// checkFields compares the fields learnt from a program with the DWARF of its twin.
func checkFields(t *testing.T, f fields, d dwarfOffsets) {
	t.Helper()
	sched := d["g.sched"]
	want := map[string][2]uint64{
		"m":            {uint64(f.M), d["g.m"]},
		"curg":         {uint64(f.Curg), d["m.curg"]},
		"sp":           {uint64(f.SP), sched + d["gobuf.sp"]},
		"pc":           {uint64(f.PC), sched + d["gobuf.pc"]},
		"atomicstatus": {uint64(f.status), d["g.atomicstatus"]},
		"stackLock":    {uint64(f.status) + 4, d["g.stackLock"]},
		"goid":         {uint64(f.status) + goid, d["g.goid"]},
		"schedlink":    {uint64(f.status) + schedlink, d["g.schedlink"]},
		"waitsince":    {uint64(f.status) + waitsince, d["g.waitsince"]},
		"waitreason":   {uint64(f.status) + waitreason, d["g.waitreason"]},
		"startpc":      {uint64(f.startpc), d["g.startpc"]},
		"gopc":         {uint64(f.startpc) - 16, d["g.gopc"]},
		"waiting":      {uint64(f.startpc) + waitingBehind, d["g.waiting"]},
		"labels":       {uint64(f.startpc) + labelsBehind, d["g.labels"]},
	}
	if f.FP != 0 {
		want["bp"] = [2]uint64{uint64(f.FP), sched + d["gobuf.bp"]}
	}
	if f.RA != 0 {
		want["lr"] = [2]uint64{uint64(f.RA), sched + d["gobuf.lr"]}
	}
	for name, x := range want {
		if x[0] != x[1] {
			t.Errorf("%s is at %d in a struct, by DWARF at %d", name, x[0], x[1])
		}
	}
}
