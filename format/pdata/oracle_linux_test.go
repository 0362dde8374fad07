package pdata_test

import (
	"debug/pe"
	"encoding/binary"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/format/cfi"
	"github.com/sfwalk/sfwalk/format/pdata"
	peimage "github.com/sfwalk/sfwalk/format/pe"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/trad"
)

// build compiles testdata/frames.c for Windows, and opens the program.
func build(t *testing.T, flags ...string) (path string, im *peimage.Image, table *pdata.Table) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "frames.exe")
	cmd := exec.Command(gdbtest.Tool(t, "x86_64-w64-mingw32-gcc"), append(flags, "-g", "-o", path, "testdata/frames.c")...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	im, file, err := peimage.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	rva, size := im.Directory(pe.IMAGE_DIRECTORY_ENTRY_EXCEPTION)
	if table, err = pdata.New(im, rva, size); err != nil {
		t.Fatal(err)
	}
	return path, im, table
}

// objdump returns what mingw's objdump prints.
func objdump(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command(gdbtest.Tool(t, "x86_64-w64-mingw32-objdump"), args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// TestDWARF: at each instruction of the program's functions, the row by the unwind codes is the one
// by its .debug_frame. gcc writes both.
func TestDWARF(t *testing.T) {
	for _, flags := range [][]string{{"-O0"}, {"-O1"}, {"-O2"}, {"-O3", "-fno-omit-frame-pointer"}, {"-Os"}} {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			path, im, table := build(t, flags...)
			file, err := pe.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			data, err := file.Section(".debug_frame").Data()
			if err != nil {
				t.Fatal(err)
			}
			frames, err := cfi.Open(cfi.Debug, data, 0, cfi.Options{ABI: cfi.ABI{Order: binary.LittleEndian, PtrSize: 8, FP: 6, Link: 16}})
			if err != nil {
				t.Fatal(err)
			}
			code := disassembly(t, path)
			down := epilogues(code)
			instructions, leaves, wrong := 0, 0, 0
			for _, x := range code {
				row, fde, err := frames.Row(x.pc)
				if err != nil || strings.HasPrefix(x.text, "nop") || strings.HasPrefix(x.text, "xchg %ax,%ax") || strings.HasPrefix(x.text, "cs nop") {
					continue // startup code without debug information; what fills up
				}
				want := saved(&row)
				if by, ok := down[x.pc]; ok && fde.Start+fde.Len > x.pc {
					want = by // gcc's tables go wrong there in functions with a frame pointer: "CFA rsp-40" before a return
				}
				rva := uint32(x.pc - im.Base)
				f, ok := table.Find(rva)
				got := pdata.Leaf(rva)
				if !ok {
					leaves++
				} else if got, err = table.Row(f, rva, true); err != nil {
					t.Fatalf("%#x: %v", x.pc, err)
				}
				if instructions++; !got.Contains(uint64(rva)) {
					t.Errorf("%#x: the row is of [%#x, +%d)", x.pc, got.Lo, got.Len)
				}
				if have := saved(&got); have != want {
					if wrong++; wrong < 10 {
						t.Errorf("%#x (%#x): %s: by unwind codes %s, by DWARF %s", x.pc, fde.Start, x.text, have, want)
					}
				}
				if !strings.HasPrefix(x.text, "call") {
					continue
				}
				if caller, err := table.Row(f, rva, false); err != nil || saved(&caller) != want {
					t.Errorf("%#x: as a caller: by unwind codes %s, %v, by DWARF %s", x.pc, saved(&caller), err, want)
				}
			}
			t.Logf("%d instructions, %d of leaf functions without an entry", instructions, leaves)
			if instructions < 200 || wrong > 0 {
				t.Errorf("%d of %d instructions are wrong", wrong, instructions)
			}
		})
	}
}

// instruction is a line of objdump's.
type instruction struct {
	pc   uint64
	text string
}

func disassembly(t *testing.T, path string) (list []instruction) {
	for line := range strings.Lines(objdump(t, "-d", "--no-show-raw-insn", "-w", path)) {
		addr, text, ok := strings.Cut(line, ":\t")
		if pc, err := strconv.ParseUint(strings.TrimSpace(addr), 16, 64); ok && err == nil {
			list = append(list, instruction{pc, strings.Join(strings.Fields(text), " ")})
		}
	}
	return list
}

var (
	freesFrame = regexp.MustCompile(`^add \$0x([0-9a-f]+),%rsp$`)
	popsOne    = regexp.MustCompile(`^pop %(\w+)$`)
	popped     = map[string]trad.Reg{"rbx": 3, "rsi": 4, "rdi": 5, "rbp": 6, "r12": 12, "r13": 13, "r14": 14, "r15": 15}
)

// epilogues returns what is so at the instructions that lead to a return, by the listing: each pop
// takes 8 bytes.
func epilogues(code []instruction) map[uint64]string {
	at := map[uint64]string{}
	for i, x := range code {
		if x.text != "ret" && !(strings.HasPrefix(x.text, "jmp ") && i > 0 && popsOne.MatchString(code[i-1].text)) { // or a tail call
			continue
		}
		row := trad.Row{CFA: trad.Rule{Reg: 7, Off: 8}, RA: trad.Rule{Off: -8}, FP: trad.Rule{Kind: trad.Same}, Others: &trad.OtherRules{}}
		at[x.pc] = saved(&row)
		for k := i - 1; k >= 0; k-- {
			pop, frees := popsOne.FindStringSubmatch(code[k].text), freesFrame.FindStringSubmatch(code[k].text)
			switch {
			case pop != nil:
				row.CFA.Off += 8
				if rule := (trad.Rule{Kind: trad.Saved, Off: -row.CFA.Off}); pop[1] == "rbp" {
					row.FP = rule
				} else {
					row.Others.Regs = append(row.Others.Regs, trad.RegRule{Reg: popped[pop[1]], Rule: rule})
				}
			case frees != nil:
				n, _ := strconv.ParseInt(frees[1], 16, 32)
				row.CFA.Off += int32(n)
			default:
				k = 0
				continue
			}
			at[code[k].pc] = saved(&row)
			if frees != nil {
				break
			}
		}
	}
	return at
}

// saved returns what a row says of the CFA, and of the registers that it has saved.
func saved(r *trad.Row) string {
	text := fmt.Sprintf("CFA r%d%+d RA %+d", r.CFA.Reg, r.CFA.Off, r.RA.Off)
	add := func(reg trad.Reg, rule trad.Rule) {
		switch rule.Kind {
		case trad.Saved:
			text += fmt.Sprintf(" r%d:c%+d", reg, rule.Off)
		case trad.Same:
		default:
			text += fmt.Sprintf(" r%d:%v", reg, rule)
		}
	}
	add(6, r.FP)
	const ra, xmm0 = 16, 17 // where these are saved, they are unchanged, too, until the frame is taken down: tables may say it late
	for _, x := range slices.SortedFunc(slices.Values(r.Others.Regs), func(a, b trad.RegRule) int { return int(a.Reg) - int(b.Reg) }) {
		if x.Reg < xmm0 && x.Reg != ra { // newer tables have a rule for the return address itself, as well
			add(x.Reg, x.Rule)
		}
	}
	return text
}

var (
	entryLine = regexp.MustCompile(`^ [0-9a-f]{16}:\t([0-9a-f]{16}) ([0-9a-f]{16}) [0-9a-f]{16}`)
	infoLine  = regexp.MustCompile(`^\tNbr codes: \d+, Prologue size: 0x([0-9a-f]{2}),`)
	codeLine  = regexp.MustCompile(`^\s+pc\+0x([0-9a-f]{2}): (.*)`)
	dumped    = []string{"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"}
)

// TestObjdump: the entries and their codes are as objdump -p prints them.
func TestObjdump(t *testing.T) {
	path, im, table := build(t, "-O2")
	entries, codes := 0, 0
	var infos []*pdata.Info // as objdump has them: each once
	seen := map[uint32]bool{}
	info, next := (*pdata.Info)(nil), 0
	for line := range strings.Lines(objdump(t, "-p", path)) {
		if m := entryLine.FindStringSubmatch(line); m != nil {
			begin, _ := strconv.ParseUint(m[1], 16, 64)
			end, _ := strconv.ParseUint(m[2], 16, 64)
			f := table.At(entries)
			if found, ok := table.Find(uint32(end - im.Base - 1)); !ok || found != f || uint64(f.Begin)+im.Base != begin || uint64(f.End)+im.Base != end {
				t.Fatalf("entry %d: objdump has %#x-%#x; ours: %+v, by an address in it %+v", entries, begin, end, f, found)
			}
			x, err := table.Info(f)
			if err != nil {
				t.Fatal(err)
			}
			if entries++; !seen[f.Unwind] {
				infos = append(infos, x)
			}
			seen[f.Unwind] = true
			continue
		}
		if m := infoLine.FindStringSubmatch(line); m != nil {
			if info != nil && next != len(info.Codes) {
				t.Errorf("objdump has %d codes, ours are %+v", next, info.Codes)
			}
			info, infos, next = infos[0], infos[1:], 0
			if size, _ := strconv.ParseUint(m[1], 16, 8); uint64(info.Prologue) != size {
				t.Errorf("objdump: %s; ours: %+v", strings.TrimSpace(line), info)
			}
			continue
		}
		m := codeLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if next == len(info.Codes) {
			t.Fatalf("objdump has one more: %s", line)
		}
		c := info.Codes[next]
		next++
		codes++
		var want string
		switch c.Op {
		case pdata.PushNonvol:
			want = "push " + dumped[c.Info]
		case pdata.AllocSmall, pdata.AllocLarge:
			want = fmt.Sprintf("rsp = rsp - %#x", c.Size)
		case pdata.SetFPReg:
			want = fmt.Sprintf("FPReg: %s = rsp + %#x", dumped[info.FPReg], info.FPOffset)
		case pdata.SaveNonvol, pdata.SaveNonvolFar:
			want = fmt.Sprintf("save %s at rsp + %#x", dumped[c.Info], c.Offset)
		case pdata.SaveXMM, pdata.SaveXMMFar:
			want = fmt.Sprintf("save xmm%d at rsp + %#x", c.Info, c.Offset)
		}
		if at, _ := strconv.ParseUint(m[1], 16, 8); at != uint64(c.At) || !strings.Contains(spaced(m[2]), spaced(want)) {
			t.Errorf("objdump: %s; ours: +%#x %s", strings.TrimSpace(line), c.At, want)
		}
	}
	if entries != table.Len() || entries < 20 || codes < 50 || len(infos) > 0 {
		t.Errorf("objdump has %d entries with %d codes; ours: %d entries, %d more infos", entries, codes, table.Len(), len(infos))
	}
}

// spaced returns text in small letters, with one space between its words, and register names as
// objdump's.
func spaced(s string) string {
	return strings.ToLower(strings.Join(strings.Fields(s), " "))
}
