//go:build linux

package gdbtest

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

//go:embed steps.py
var stepsPy string

const (
	// stepDepth is how much of the stack above the stack pointer each state
	// holds: the largest frame of steps.c is 100,000 bytes.
	stepDepth = 256 << 10
	// stepFrames is how many of gdb's frames each state holds: frames of the dynamic linker that
	// binds a function, four by glibc 2.43, and the one around them.
	stepFrames = 5
)

// A Recording holds what RecordSteps saw.
type Recording struct {
	Program string
	Maps    string // /proc/PID/maps at the first stop
	States  []StepState
}

// A StepState is a process stopped before one instruction.
type StepState struct {
	Function  string         // the function that is stepped through (the PC may be in one that it calls)
	First     bool           // at its first instruction, just called
	Regs      map[int]uint64 // by DWARF number; RIP is 16
	StackAddr uint64         // where Stack begins: 128 bytes (the red zone) below the stack pointer
	Stack     []byte
	Expected  []Frame // gdb's frames with their registers, at most 4, frame 0 first
}

// ReadMemory reads the recorded stack: as many bytes from addr as it holds,
// and an error if that is fewer than len(p).
func (s *StepState) ReadMemory(addr uint64, p []byte) (int, error) {
	if addr < s.StackAddr || addr-s.StackAddr >= uint64(len(s.Stack)) {
		return 0, fmt.Errorf("address %#x is not in the recorded stack %#x-%#x",
			addr, s.StackAddr, s.StackAddr+uint64(len(s.Stack)))
	}
	n := copy(p, s.Stack[addr-s.StackAddr:])
	if n < len(p) {
		return n, fmt.Errorf("only %d of %d bytes at address %#x are in the recorded stack", n, len(p), addr)
	}
	return n, nil
}

// RecordSteps runs the program under gdb to its end and records each
// instruction of the functions named, from the first one until the function
// has returned, or maxSteps instructions; what they call is stepped through,
// too. A function that is called several times is recorded each time, except
// from inside another one that is being recorded anyway.
func RecordSteps(t testing.TB, program string, functions []string, maxSteps int) *Recording {
	t.Helper()
	NeedAMD64(t)
	stacksFile := filepath.Join(t.TempDir(), "stacks")
	records := runGDB(t, stepsPy, map[string]any{
		"functions": functions,
		"steps":     maxSteps,
		"depth":     stepDepth,
		"limit":     stepFrames,
		"stacks":    stacksFile,
	}, "--args", program)
	stacks, err := os.ReadFile(stacksFile)
	if err != nil {
		t.Fatal(err)
	}
	rec := &Recording{Program: program}
	for _, record := range records {
		var r struct {
			Maps         string
			Function     string
			First        bool
			Registers    map[int]uint64
			StackAddress uint64
			Offset       int
			Length       int
			Frames       []Frame
		}
		if err := json.Unmarshal(record, &r); err != nil {
			t.Fatalf("gdb's answer for %s: %v", program, err)
		}
		if r.Maps != "" {
			rec.Maps = r.Maps
			continue
		}
		end := r.Offset + r.Length
		rec.States = append(rec.States, StepState{
			Function:  r.Function,
			First:     r.First,
			Regs:      r.Registers,
			StackAddr: r.StackAddress,
			Stack:     stacks[r.Offset:end:end],
			Expected:  r.Frames,
		})
	}
	if len(rec.States) == 0 {
		t.Fatalf("%s stopped in none of %q", program, functions)
	}
	return rec
}
