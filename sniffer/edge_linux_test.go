package sniffer_test

import (
	"encoding/binary"
	"maps"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// instruction is a line of objdump's output.
type instruction struct {
	addr uint64
	text string
}

// disassembly returns the instructions of functions, as objdump prints them.
func disassembly(t *testing.T, program string, functions []string) map[string][]instruction {
	t.Helper()
	out, err := exec.Command(gdbtest.Tool(t, "objdump"), "-d", "--no-show-raw-insn", "-w", program).Output()
	if err != nil {
		t.Fatal(err)
	}
	code := map[string][]instruction{}
	name := ""
	for line := range strings.Lines(string(out)) {
		if _, label, ok := strings.Cut(line, " <"); ok && line[0] != ' ' {
			name = strings.TrimSuffix(label, ">:\n")
			continue
		}
		addr, text, ok := strings.Cut(line, ":\t")
		if n, err := strconv.ParseUint(strings.TrimSpace(addr), 16, 64); ok && err == nil && slices.Contains(functions, name) {
			code[name] = append(code[name], instruction{n, strings.Join(strings.Fields(text), " ")})
		}
	}
	return code
}

var (
	leaves = regexp.MustCompile(`^(call|j|ret|bnd|notrack|hlt)`) // control may not go to the next instruction
	// Instructions that set up a frame, and that tear it down.
	setsUp = regexp.MustCompile(`^(push %(rbp|rbx|r1[0-5])$|push -0x8\(%r10\)|mov %rsp,%rbp|lea 0x8\(%rsp\),%r10|(and|sub) \$0x[0-9a-f]+,%rsp|enter|mov %(rbp|rbx|r1[2-5]),(-?0x[0-9a-f]+)?\(%r[sb]p\)|endbr64)`)
	uses   = regexp.MustCompile(`\(%r[sb]p[,)]`)
	tears  = regexp.MustCompile(`^(pop |leave|(add|sub) \$-?0x[0-9a-f]+,%rsp|lea .*,%rsp|mov %rbp,%rsp|mov (-?0x[0-9a-f]+)?\(%rsp\),%(rbp|rbx|r1[2-5])$|vzeroupper|ret)`)
)

// edges returns the addresses of a function's prologue and epilogues, by the disassembly. The
// prologue ends with the last instruction that sets up the frame before control can go two ways. It
// does not reach beyond bodyAt. An epilogue goes from the first instruction that tears the frame
// down to a return or tail call.
func edges(name string, code []instruction, bodyAt uint64) map[uint64]string {
	where := map[uint64]string{}
	end := 0
	for i, x := range code {
		if leaves.MatchString(x.text) || x.addr == bodyAt && i > 0 {
			break
		}
		if setsUp.MatchString(x.text) {
			end = i + 1
		}
	}
	for _, x := range code[:end] {
		where[x.addr] = "prologue"
	}
	for i, x := range code {
		tailCall := strings.HasPrefix(x.text, "jmp ") && !strings.Contains(x.text, "<"+name+"+") && strings.HasSuffix(x.text, ">")
		if !strings.HasPrefix(x.text, "ret") && !tailCall {
			continue
		}
		first := i + 1
		for k := i; k >= end && (k == i || !leaves.MatchString(code[k].text)); k-- {
			if tears.MatchString(code[k].text) {
				first = k
			} else if uses.MatchString(code[k].text) {
				break // the frame is still in use
			}
		}
		for k := first; k <= i; k++ {
			where[code[k].addr] = "epilogue"
		}
	}
	return where
}

// bodiesAt returns where gdb sets a breakpoint on each function. That is behind the prologue, as
// far as the line table or the prologue's code tells gdb. Otherwise it is the function's first
// instruction.
func bodiesAt(t *testing.T, program string, functions []string) map[string]uint64 {
	t.Helper()
	var commands []string
	for _, f := range functions {
		commands = append(commands, "break "+f)
	}
	out := gdbtest.Batch(t, []string{program}, commands...)
	at := regexp.MustCompile(`Breakpoint [0-9]+ at (0x[0-9a-f]+)`).FindAllStringSubmatch(out, -1)
	if len(at) != len(functions) {
		t.Fatalf("gdb has set %d breakpoints of %d:\n%s", len(at), len(functions), out)
	}
	bodies := map[string]uint64{}
	for i, f := range functions {
		var err error
		if bodies[f], err = strconv.ParseUint(at[i][1], 0, 64); err != nil {
			t.Fatal(err)
		}
	}
	return bodies
}

// interrupted is a recorded stop that a signal interrupts: frame 0 is an invented trampoline, and
// frame 1 is frame 0 of the recording.
type interrupted struct{ *recorded }

const trampoline = 0x10

func (i interrupted) Memory() target.Memory { return i }
func (i interrupted) Registers(r *arch.Registers) error {
	if err := i.recorded.Registers(r); err != nil {
		return err
	}
	r.Set(amd64.RIP, trampoline)
	r.Set(amd64.RSP, trampoline)
	return nil
}
func (i interrupted) ReadMemory(addr uint64, p []byte) (int, error) {
	if addr-trampoline < 16 {
		words := binary.LittleEndian.AppendUint64(nil, i.state.Regs[int(amd64.RIP)])
		words = binary.LittleEndian.AppendUint64(words, i.state.Regs[int(amd64.RSP)])
		return copy(p, words[addr-trampoline:]), nil
	}
	return i.recorded.ReadMemory(addr, p)
}

func (interrupted) Name() string { return "interrupted" }
func (interrupted) Sniff(q *frame.Query) (trad.Row, frame.Answer) {
	if q.PC != trampoline {
		return trad.Row{}, "elsewhere"
	}
	at := func(off int32) trad.Rule { return trad.Rule{Kind: trad.SavedAt, Reg: amd64.RSP, Off: off} }
	return trad.Row{
		Lo: q.PC, Len: 1, Flags: trad.Signal | trad.Once,
		CFA: at(8), RA: at(0), FP: trad.Rule{Kind: trad.Same},
		Others: &trad.OtherRules{Default: trad.Same, Regs: []trad.RegRule{
			{Reg: amd64.RSP, Rule: at(8)}, {Reg: amd64.R10, Rule: trad.Rule{Kind: trad.Same}}, {Reg: amd64.R11, Rule: trad.Rule{Kind: trad.Same}},
		}},
	}, frame.Claimed
}

// At every instruction of a set of functions, Step says whether PC is in a prologue or
// an epilogue.
func TestStepEdge(t *testing.T) {
	for variant, b := range stepBuilds {
		t.Run(b.name, func(t *testing.T) {
			gdbtest.Share(t, variant)
			if b.soak {
				gdbtest.NeedSoak(t)
			}
			program := gdbtest.Build(t, "steps.c", b.flags...)
			functions := append(gdbtest.Functions(t, program, "step_"), gdbtest.Functions(t, program, "nocfi_")...)
			where, inside := map[uint64]string{}, map[uint64]instruction{}
			bodies := bodiesAt(t, program, functions)
			for name, code := range disassembly(t, program, functions) {
				for _, x := range code {
					inside[x.addr] = x
				}
				bodyAt := bodies[name]
				if strings.Contains(name, "asm_") || strings.HasPrefix(name, "nocfi_") {
					bodyAt = 0 // without a line table gdb stops right after the frame pointer is set up
				}
				maps.Copy(where, edges(name, code, bodyAt))
			}
			rec := gdbtest.RecordSteps(t, program, functions, 400)
			stops := interrupted{newRecorded(t, rec)}
			table := sniffer.Table(amd64.Arch)
			table.Prepend(stops)
			w := frame.NewWalker(stops.Modules(), table)
			counts := map[string]int{}
			for i := range rec.States {
				stops.state = &rec.States[i]
				pc := stops.state.Regs[int(amd64.RIP)]
				m := stops.modules.Find(pc)
				if m == nil || m.Path != program {
					continue
				}
				_, bias, err := m.Image()
				if err != nil {
					t.Fatal(err)
				}
				x, ok := inside[pc-bias]
				if !ok || stops.state.Function == "step_asm_return_register" {
					continue // its code for the return address looks like a prologue
				}
				var regs arch.Registers
				if err := stops.Registers(&regs); err != nil {
					t.Fatal(err)
				}
				want := where[x.addr]
				counts[want]++
				for range 3 { // the second Step keeps the answer with the PC's row
					c := frame.NewContext(amd64.Arch, &regs)
					if stop := w.Step(&c, stops); stop != frame.NoReason || c.PC != pc || c.Caller {
						t.Fatalf("%s: %#x: step to %+v, %v", stops.state.Function, pc, c, stop)
					}
					if c.Edge != (want != "") {
						t.Errorf("%s: %x %s: Edge is %v, in %q", stops.state.Function, x.addr, x.text, c.Edge, want)
					}
					w.Step(&c, stops) // makes the row known
				}
				// Without the interruption it is frame 0.
				var own arch.Registers
				if err := stops.recorded.Registers(&own); err != nil {
					t.Fatal(err)
				}
				if c := w.First(&own, stops.recorded); c.PC != pc || c.Edge != (want != "") {
					t.Errorf("%s: %x %s: First has %+v, in %q", stops.state.Function, x.addr, x.text, c, want)
				}
				stack, err := frame.New(stops.recorded, stops.recorded, table)
				if err != nil {
					t.Fatal(err)
				}
				if f, err := stack.Frame(0); err != nil || f.InEdge() != (want != "") {
					t.Errorf("%s: %x %s: frame 0 is in an edge: %v, in %q, %v", stops.state.Function, x.addr, x.text, err == nil && f.InEdge(), want, err)
				}
			}
			t.Logf("stops: %v", counts)
			if counts["prologue"] < 50 || counts["epilogue"] < 50 || counts[""] < 50 {
				t.Errorf("stops: %v", counts)
			}
		})
	}
}
