package sframeverify_test

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/format/sframe"
	"github.com/sfwalk/sfwalk/format/sframe/fromcfi"
	"github.com/sfwalk/sfwalk/format/sframe/object"
	"github.com/sfwalk/sfwalk/internal/sframeverify"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

func file(t *testing.T, path string) *sframeverify.Result {
	t.Helper()
	r, err := sframeverify.File(installed(t, path))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// lines writes disagreements as "lo..hi function+offset fields sframe|dwarf".
func lines(r *sframeverify.Result) []string {
	list := []string{}
	row := func(x *sframe.Row) string { return fmt.Sprintf("%v %v %v", x.CFA, x.RA, x.FP) }
	for i := range r.Disagreements {
		d := &r.Disagreements[i]
		list = append(list, fmt.Sprintf("%#x..%#x %s+%d %v: %s | %s", d.Lo, d.Hi, d.Function, d.Offset, d.Fields, row(&d.SFrame), row(&d.CFI.Row)))
	}
	return list
}

// TestCommitted compares programs of real toolchains. testdata/bin/README.md has their mistakes: a
// return address in r11, which V2 cannot say, and .plt.got, described like .plt. objdump shows only
// a jump in the stubs of .plt.got, so the CFA is SP+8 there.
func TestCommitted(t *testing.T) {
	for _, tt := range []struct {
		name string
		want []string
	}{
		{"../../testdata/bin/steps-v2", []string{
			"0x1050..0x1058 .plt.got+0 CFA: r7+16 [CFA-8] same | r7+8 [CFA-8] same",
			"0x1219..0x122b step_asm_return_register+9 RA: r7+64 [CFA-8] same | r7+64 r11+0 same",
		}},
		{"../../testdata/bin/steps-v3", []string{"0x1050..0x1058 .plt.got+0 CFA: r7+16 [CFA-8] same | r7+8 [CFA-8] same"}},
		{"../../testdata/bin/mix-v2", []string{"0x1100..0x1108 .plt.got+0 CFA: r7+16 [CFA-8] same | r7+8 [CFA-8] same"}},
		{"../../testdata/bin/mix-v3", []string{"0x1100..0x1108 .plt.got+0 CFA: r7+16 [CFA-8] same | r7+8 [CFA-8] same"}},
		{"../../testdata/bin/mix-v3-noheaders", []string{"0x1100..0x1108 +0 CFA: r7+16 [CFA-8] same | r7+8 [CFA-8] same"}},
		{"../../testdata/bin/plt-v3", []string{"0x1070..0x1080 .plt.got+0 CFA: r7+16 [CFA-8] same | r7+8 [CFA-8] same"}},
		{"testdata/arm64-v2.so", []string{}},
		{"testdata/amd64-v3.so", []string{}},
		{"testdata/arm64-v3.so", []string{}},
		{"testdata/arm64be-v3.so", []string{}},
		{"testdata/s390x-v3.so", []string{}},
	} {
		t.Run(filepath.Base(tt.name), func(t *testing.T) {
			r := file(t, tt.name)
			if got := lines(r); !slices.Equal(got, tt.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
			if len(r.Problems) > 0 || r.Compared < 200 || r.Compared+r.Unsaid != r.Bytes.Both {
				t.Errorf("problems %v, %d bytes compared", r.Problems, r.Compared)
			}
			for _, c := range []sframeverify.Coverage{r.Bytes, r.Functions} {
				if c.Both+c.SFrameOnly+c.CFIOnly+c.Neither != c.Total {
					t.Errorf("%+v does not add up", c)
				}
			}
		})
	}
}

// TestSizes compares the sizes with readelf -SW, and the coverage with readelf's symbols.
// Assemblers that write SFrame have seen all functions of mix-v3 but _start.
func TestSizes(t *testing.T) {
	r := file(t, "../../testdata/bin/mix-v3")
	if want := (sframeverify.Sizes{SFrame: 0x3e5, EHFrame: 0x3cc, EHFrameHdr: 0xdc}); r.Sizes != want {
		t.Errorf("sizes %+v, want %+v", r.Sizes, want)
	}
	if want := (sframeverify.Coverage{Total: 24, Both: 23, CFIOnly: 1}); r.Functions != want {
		t.Errorf("functions %+v, want %+v", r.Functions, want)
	}
	if r := file(t, "testdata/arm64-v2.so"); r.Unsaid != 8 {
		// forms.s has 8 bytes of an outermost frame, which gas 2.44 does not mark.
		t.Errorf("%d bytes unsaid, want 8", r.Unsaid)
	}
}

// TestWithoutCFA: code for which DWARF has no CFA (.cfi_startproc simple) is no disagreement.
// SFrame has no rows there either, whether binutils 2.47 or fromcfi made it. readelf -wF has the
// ranges: 0x1d6 to 0x1d8 is without a CFA.
func TestWithoutCFA(t *testing.T) {
	r := file(t, "testdata/simple.so")
	want := sframeverify.Coverage{Total: 6, Both: 4, Neither: 2}
	if len(r.Problems) > 0 || len(r.Disagreements) > 0 || r.Compared != 4 || r.Bytes != want {
		t.Errorf("problems %v, %v, %d bytes compared, coverage %+v", r.Problems, lines(r), r.Compared, r.Bytes)
	}
	in, _, left := inputFromCFI(t, "testdata/simple.so", sframe.V3)
	if r := sframeverify.Compare(&in); len(r.Problems) > 0 || len(r.Disagreements) > 0 || r.Compared != 4 || r.Bytes.SFrameOnly+r.Bytes.CFIOnly > 0 || left != nil {
		t.Errorf("made: problems %v, %v, %d bytes compared, coverage %+v, left out %v", r.Problems, lines(r), r.Compared, r.Bytes, left)
	}
}

// installed opens a program of this machine.
func installed(t *testing.T, path string) *elf.Image {
	t.Helper()
	im, file, err := elf.OpenFile(gdbtest.File(t, path))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return im
}

// inputFromCFI returns an input whose SFrame section is made from the file's call frame
// information.
func inputFromCFI(t *testing.T, path string, v sframe.Version) (in sframeverify.Input, data []byte, left []fromcfi.LeftOut) {
	t.Helper()
	source, err := fromcfi.Open(installed(t, path))
	if err != nil {
		t.Fatal(err)
	}
	c, left := source.Contents()
	c, more, err := fromcfi.Fit(c, v)
	if err != nil {
		t.Fatal(err)
	}
	if data, err = c.Encode(addr); err != nil {
		t.Fatal(err)
	}
	in.CFI = source
	in.SFrame = []*sframe.Section{reopen(t, data)}
	in.Text = []sframeverify.Span{{Range: sframeverify.Range{Lo: 0, Hi: 1 << 40}}}
	return in, data, append(left, more...)
}

const addr = 0x10000000

func reopen(t *testing.T, data []byte) *sframe.Section {
	t.Helper()
	s, err := sframe.Open(data, addr)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestMade compares sections that fromcfi made. They agree. The code missing in them is what
// fromcfi has reported as left out.
func TestMade(t *testing.T) {
	for _, path := range []string{"/lib/x86_64-linux-gnu/libc.so.6", "/usr/bin/gdb", "/bin/ls", "/usr/bin/python3",
		"testdata/arm64-v2.so", "testdata/amd64-v3.so", "testdata/arm64-v3.so", "testdata/arm64be-v3.so", "testdata/s390x-v3.so"} {
		for _, v := range []sframe.Version{sframe.V3, sframe.V2} {
			t.Run(fmt.Sprintf("%s V%d", filepath.Base(path), v), func(t *testing.T) {
				in, _, left := inputFromCFI(t, path, v)
				r := sframeverify.Compare(&in)
				if len(r.Disagreements) > 0 || len(r.Problems) > 0 || r.Unsaid > 0 || r.Compared < 200 {
					t.Errorf("%d bytes compared, problems %v, disagreements %v", r.Compared, r.Problems, lines(r))
				}
				bytes := uint64(0)
				for _, l := range left {
					bytes += l.Size
				}
				if r.Bytes.SFrameOnly != 0 || r.Bytes.CFIOnly != bytes {
					t.Errorf("coverage %+v, and %d bytes are left out", r.Bytes, bytes)
				}
			})
		}
	}
}

// TestMutation changes one part of a section at a time.
func TestMutation(t *testing.T) {
	for _, tt := range []struct {
		name, path string
		change     func(c *sframe.Contents, f *sframe.Function, e *sframe.Entry) bool // false: not possible here
		want       sframeverify.Fields
	}{
		{"CFA", "/lib/x86_64-linux-gnu/libc.so.6", func(_ *sframe.Contents, _ *sframe.Function, e *sframe.Entry) bool {
			e.CFA.Off += 8
			return e.CFA.Kind == sframe.RuleInReg
		}, sframeverify.CFA},
		{"base", "/lib/x86_64-linux-gnu/libc.so.6", func(_ *sframe.Contents, _ *sframe.Function, e *sframe.Entry) bool {
			e.CFA.Reg ^= 6 ^ 7
			return e.CFA.Kind == sframe.RuleInReg
		}, sframeverify.CFA},
		{"FP", "/lib/x86_64-linux-gnu/libc.so.6", func(_ *sframe.Contents, _ *sframe.Function, e *sframe.Entry) bool {
			e.FP.Off -= 8
			return e.FP.Kind == sframe.RuleSaved
		}, sframeverify.FP},
		{"FP same", "/lib/x86_64-linux-gnu/libc.so.6", func(_ *sframe.Contents, _ *sframe.Function, e *sframe.Entry) bool {
			was := e.FP.Kind
			e.FP = sframe.Rule{Kind: sframe.RuleSame}
			return was == sframe.RuleSaved
		}, sframeverify.FP},
		{"outermost", "/lib/x86_64-linux-gnu/libc.so.6", func(_ *sframe.Contents, _ *sframe.Function, e *sframe.Entry) bool {
			is := e.RA.Kind != sframe.RuleUndefined
			*e = sframe.Entry{Offset: e.Offset, RA: sframe.Rule{Kind: sframe.RuleUndefined}}
			return is
		}, sframeverify.Outermost},
		{"signal", "/lib/x86_64-linux-gnu/libc.so.6", func(_ *sframe.Contents, f *sframe.Function, _ *sframe.Entry) bool {
			f.Signal = !f.Signal
			return len(f.Entries) == 1
		}, sframeverify.Signal},
		{"mangled", "testdata/arm64-v3.so", func(_ *sframe.Contents, _ *sframe.Function, e *sframe.Entry) bool {
			e.MangledRA = !e.MangledRA
			return e.RA.Kind != sframe.RuleUndefined
		}, sframeverify.MangledRA},
		{"key", "testdata/arm64-v2.so", func(_ *sframe.Contents, f *sframe.Function, e *sframe.Entry) bool {
			f.PauthKey = sframe.PauthA
			mangled := 0
			for _, e := range f.Entries {
				if e.MangledRA {
					mangled++
				}
			}
			return mangled == 1 && e.MangledRA
		}, sframeverify.PauthKey},
		{"RA", "testdata/arm64-v3.so", func(_ *sframe.Contents, _ *sframe.Function, e *sframe.Entry) bool {
			e.RA.Off += 8
			return e.RA.Kind == sframe.RuleSaved
		}, sframeverify.RA},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, data, _ := inputFromCFI(t, tt.path, sframe.V3)
			before := reopen(t, data)
			changed := 0
			for i := 0; i < int(before.NumFDEs); i += max(1, int(before.NumFDEs)/97) {
				// The next change starts from the original.
				c, err := before.Contents()
				if err != nil {
					t.Fatal(err)
				}
				f := &c.Functions[i]
				if len(f.Entries) == 0 || f.PCType == sframe.PCMask {
					continue
				}
				j := len(f.Entries) / 2
				end := f.Size
				if j+1 < len(f.Entries) {
					end = f.Entries[j+1].Offset
				}
				want := sframeverify.Range{Lo: f.Start + uint64(f.Entries[j].Offset), Hi: f.Start + uint64(end)}
				if !tt.change(c, f, &f.Entries[j]) {
					continue
				}
				data, err := c.Encode(addr)
				if err != nil {
					t.Fatal(err)
				}
				in, _, _ := inputFromCFI(t, tt.path, sframe.V3)
				in.SFrame[0] = reopen(t, data)
				r := sframeverify.Compare(&in)
				if len(r.Disagreements) != 1 {
					t.Fatalf("function %d, row %d: %d disagreements: %v", i, j, len(r.Disagreements), lines(r))
				}
				if d := r.Disagreements[0]; d.Lo != want.Lo || d.Hi != want.Hi || d.Fields != tt.want || d.Times != 1 {
					t.Errorf("function %d, row %d: %v, want %#x..%#x %v", i, j, lines(r), want.Lo, want.Hi, tt.want)
				}
				if changed++; changed == 3 {
					break
				}
			}
			if changed == 0 {
				t.Error("there was nothing to change")
			}
		})
	}
}

// TestBlocks changes a row of a PLT. The result is one disagreement whose Times is the number of
// blocks.
func TestBlocks(t *testing.T) {
	in, data, _ := inputFromCFI(t, "/usr/bin/gdb", sframe.V3)
	c, err := reopen(t, data).Contents()
	if err != nil {
		t.Fatal(err)
	}
	for i := range c.Functions {
		f := &c.Functions[i]
		if f.PCType != sframe.PCMask {
			continue
		}
		f.Entries[1].CFA.Off += 8
		if data, err = c.Encode(addr); err != nil {
			t.Fatal(err)
		}
		in.SFrame[0] = reopen(t, data)
		r := sframeverify.Compare(&in)
		if len(r.Disagreements) != 1 {
			t.Fatal(lines(r))
		}
		if d := r.Disagreements[0]; d.Lo != f.Start+uint64(f.Entries[1].Offset) || d.Hi != f.Start+16 || d.Times != int(f.Size)/16 {
			t.Errorf("%v %d times, want %d", lines(r), d.Times, f.Size/16)
		}
		return
	}
	t.Error("no function of PC type mask")
}

// TestErrors opens files that cannot be compared.
func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		path string
		want error
	}{
		{"/bin/ls", object.ErrNoSFrame},
		{"../../format/cfi/testdata/s390x.so", object.ErrNoSFrame},
	} {
		if _, err := sframeverify.File(installed(t, tt.path)); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.path, err, tt.want)
		}
	}
}

// TestDebugFrame compares with the .debug_frame of a file that has no .eh_frame. From one set of
// directives the assembler writes only .eh_frame, .debug_frame, or SFrame. So fromcfi makes the
// SFrame section of the .eh_frame.
func TestDebugFrame(t *testing.T) {
	gcc := gdbtest.Tool(t, "gcc")
	dir := t.TempDir()
	build := func(name string, flags ...string) string {
		out := filepath.Join(dir, name)
		args := append([]string{"-g", "-O2", "-mavx2", "-fno-exceptions", "-c", "../../testdata/progs/realign.c", "-o", out}, flags...)
		if msg, err := exec.Command(gcc, args...).CombinedOutput(); err != nil {
			gdbtest.Cannot(t, fmt.Sprintf("%v %s", err, msg))
		}
		return out
	}
	in, _, left := inputFromCFI(t, build("eh.o", "-fasynchronous-unwind-tables"), sframe.V3)
	debug, err := fromcfi.Open(installed(t, build("debug.o", "-fno-asynchronous-unwind-tables")))
	if err != nil {
		t.Fatal(err)
	}
	in.CFI = debug
	r := sframeverify.Compare(&in)
	if len(r.Disagreements) > 0 || len(r.Problems) > 0 || r.Compared < 200 || r.Bytes.Both != r.Compared || r.Bytes.CFIOnly > 0 || left != nil {
		t.Errorf("problems %v, %v, coverage %+v, left out %v", r.Problems, lines(r), r.Bytes, left)
	}
}
