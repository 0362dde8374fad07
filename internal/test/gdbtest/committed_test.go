//go:build linux

package gdbtest

import (
	"debug/elf"
	"os"
	"slices"
	"strings"
	"testing"
)

// committed are the programs of testdata/bin and their SFrame version.
var committed = map[string]byte{
	"mix-v2": 2, "steps-v2": 2, "stacks-v2": 2, "mix-v3": 3, "mix-v3-noheaders": 3, "steps-v3": 3, "plt-v3": 3, "restorer-v3": 3,
}

// Each committed program has the SFrame section that README.md says.
func TestCommittedSections(t *testing.T) {
	const ptGNUSFrame = 0x6474e554
	for name, version := range committed {
		f, err := elf.Open(Testdata(t, "bin", name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		i := slices.IndexFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == ptGNUSFrame })
		if i < 0 {
			t.Errorf("%s has no PT_GNU_SFRAME segment", name)
			continue
		}
		head := make([]byte, 3) // magic 0xdee2, version
		if _, err := f.Progs[i].ReadAt(head, 0); err != nil || head[0] != 0xe2 || head[1] != 0xde || head[2] != version {
			t.Errorf("%s: the section begins with % x (%v), want version %d", name, head, err, version)
		}
		if has := f.Section(".sframe") != nil; has == strings.HasSuffix(name, "noheaders") {
			t.Errorf("%s: has a section header for .sframe: %v", name, has)
		}
	}
	files, err := os.ReadDir(Testdata(t, "bin"))
	files = slices.DeleteFunc(files, func(f os.DirEntry) bool {
		// lld makes no segment: lld-v3, which the sources in lld are linked to, has tests of its
		// own.
		return strings.HasSuffix(f.Name(), ".readelf") || strings.HasPrefix(f.Name(), "lld")
	})
	if err != nil || len(files) != len(committed)+1 {
		t.Errorf("%d files (%v), want the programs in this test and README.md", len(files), err)
	}
}

// mixStacks are the functions of each thread of mix.c, from the one that waits outward.
var mixStacks = map[string][]string{
	"mix":      {"block", "main"},
	"chain":    {"wait_forever", "chain_leaf", "chain_saves", "chain_outer", "thread_main"},
	"altstack": {"spin", "altstack", "thread_main"},
	"fault":    {"first_instruction", "fault", "thread_main"},
	"drap":     {"wait_forever", "drap_alloca", "drap_variadic", "drap", "thread_main"},
	"bigframe": {"wait_forever", "frame_70000", "frame_100k", "thread_main"},
	"recurse":  {"recurse", "recurse", "recurse_100", "thread_main"},
	"inlined":  {"wait_forever", "in_3", "in_2", "in_1", "inline_host", "thread_main"},
	"noreturn": {"wait_forever", "never_returns", "ends_in_call", "thread_main"},
}

func TestMix(t *testing.T) {
	NeedAMD64(t)
	programs := []string{Build(t, "mix.c", append(Plain, "-mavx2")...)}
	for _, name := range []string{"mix-v2", "mix-v3", "mix-v3-noheaders"} {
		programs = append(programs, Testdata(t, "bin", name))
	}
	for _, program := range programs {
		p := Start(t, program)
		if strings.HasSuffix(program, "noheaders") {
			continue // it runs; gdb itself wants section headers
		}
		threads := Backtrace(t, p.PID)
		if len(threads) != len(mixStacks) {
			t.Errorf("%s: %d threads, want %d", program, len(threads), len(mixStacks))
		}
		for _, thread := range threads {
			if names := functionsOf(thread); !containsRun(names, mixStacks[thread.Name]...) {
				t.Errorf("%s: thread %s: %v, want %v", program, thread.Name, names, mixStacks[thread.Name])
			}
			if n := len(thread.Frames); thread.Name == "recurse" && n < 104 {
				t.Errorf("%s: %d frames in thread recurse", program, n)
			}
		}
	}
}

func TestCommittedSteps(t *testing.T) {
	NeedAMD64(t)
	for _, name := range []string{"steps-v2", "steps-v3"} {
		program := Testdata(t, "bin", name)
		functions := append(Functions(t, program, "step_asm_"), Functions(t, program, "nocfi_")...)
		rec := RecordSteps(t, program, functions, 100)
		seen := make(map[string]bool)
		for _, s := range rec.States {
			seen[s.Function] = true
		}
		for _, f := range functions {
			if !seen[f] {
				t.Errorf("%s: %s was not recorded", name, f)
			}
		}
	}
	if rec := RecordSteps(t, Testdata(t, "bin", "plt-v3"), []string{"calls_lazy"}, 3000); len(rec.States) < 1000 {
		t.Errorf("plt-v3: %d states: the lazy resolver was not stepped through", len(rec.States))
	}
}
