package sframe

import (
	"bytes"
	"encoding/hex"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func contents(t testing.TB, s *Section) *Contents {
	t.Helper()
	c, err := s.Contents()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func encode(t testing.TB, c *Contents, addr uint64) []byte {
	t.Helper()
	data, err := c.Encode(addr)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestRewriteLinked: Encode gives the sections that linkers write again, byte for byte.
func TestRewriteLinked(t *testing.T) {
	for _, fx := range fixtures {
		t.Run(fx.name, func(t *testing.T) {
			s, _ := openFixture(t, fx.name)
			if got := encode(t, contents(t, s), s.Addr); !bytes.Equal(got, s.Data) {
				t.Errorf("%d bytes became %d:\n%x\n%x", len(s.Data), len(got), s.Data, got)
			}
		})
	}
}

// TestEncodeBytes has the bytes of each structure of the specifications, worked out by hand.
func TestEncodeBytes(t *testing.T) {
	const addr = 0x2000
	tests := []struct {
		name string
		c    Contents
		want string // hex, with spaces and, after a ;, remarks
	}{{
		name: "V1 amd64",
		c: Contents{Version: V1, ABI: AMD64, Flags: FDESorted | FramePointer, FixedRA: -8, Functions: []Function{
			{Start: 0x1010, Size: 0x20, Entries: []Entry{
				{CFA: reg(7, 8), RA: saved(-8), FP: same},
				{Offset: 1, CFA: reg(7, 16), RA: saved(-8), FP: saved(-16)},
				{Offset: 4, CFA: reg(6, 16), RA: saved(-8), FP: saved(-16)},
			}},
			{Start: 0x1000, Size: 0x10, PCType: PCMask, RepSize: 16, Entries: []Entry{{Offset: 11, CFA: reg(7, 16), RA: saved(-8), FP: same}}},
		}},
		want: `e2de 01 03 03 00 f8 00 02000000 04000000 0e000000 00000000 22000000 ; header
			00f0ffff 10000000 0b000000 01000000 10 ; -0x1000, FREs after the other's 11 bytes, mask
			10f0ffff 20000000 00000000 03000000 00
			00 03 08  01 05 10 f0  04 04 10 f0 ; SP based 1 word, 2 words, FP based 2 words
			0b 03 10`,
	}, {
		// Errata 1: s390x. CFA = stored*8+160; FP and RA in registers are odd
		// words (register<<1|1); a lone FP needs the RA place holder 0.
		name: "V2 s390x",
		c: Contents{Version: V2, ABI: S390X, Flags: FDESorted, Functions: []Function{
			{Start: 0x1000, Size: 0x300, Entries: []Entry{
				{CFA: reg(15, 160), RA: same, FP: same},
				{Offset: 6, CFA: reg(15, 160), RA: saved(-48), FP: saved(-72)},
				{Offset: 0x0c, CFA: reg(11, 1176), RA: saved(-48), FP: saved(-72)}, // (1176-160)/8 = 127
				{Offset: 0x10, CFA: reg(11, 1184), RA: saved(-48), FP: saved(-72)}, // 128: two bytes
				{Offset: 0x100, CFA: reg(15, 320), RA: same, FP: reg(17, 0)},
				{Offset: 0x200, CFA: reg(15, 320), RA: reg(16, 0), FP: same},
				{Offset: 0x204, RA: undef}, // errata 2
			}},
		}},
		want: `dee2 02 01 04 00 00 00 00000001 00000007 00000027 00000000 00000014
			fffff000 00000300 00000000 00000007 01 00 0000 ; FREs of 2-byte offsets
			0000 03 00
			0006 07 00 d0 b8
			000c 06 7f d0 b8
			0010 26 0080 ffd0 ffb8
			0100 07 14 00 23
			0200 05 14 21
			0204 00`,
	}, {
		// Errata 1: a start is relative to its own field: 0x1000-0x201c, 0x1400-0x2030.
		name: "V2 PCREL",
		c: Contents{Version: V2, ABI: AArch64LE, Flags: FDESorted | FDEFuncStartPCRel, Functions: []Function{
			{Start: 0x1400, Size: 4, Entries: []Entry{{CFA: reg(31, 0), RA: same, FP: same}}},
			{Start: 0x1000, Size: 0x10, PauthKey: PauthB, Entries: []Entry{{Offset: 4, MangledRA: true, CFA: reg(31, 32768), RA: saved(-8), FP: saved(-16)}}},
		}},
		want: `e2de 02 05 02 00 00 00 02000000 02000000 11000000 00000000 28000000
			e4efffff 10000000 03000000 01000000 20 00 0000
			d0f3ffff 04000000 00000000 01000000 00 00 0000
			00 03 00
			04 c7 00800000 f8ffffff f0ffffff ; mangled, words of 4 bytes, 3 of them, SP`,
	}, {
		// V3, flexible: control word = register<<3 | deref<<1 | register based.
		name: "V3 amd64",
		c: Contents{Version: V3, ABI: AMD64, Flags: FDESorted | FDEFuncStartPCRel, FixedRA: -8, AuxHeader: []byte{1, 2, 3, 4}, Functions: []Function{
			{Start: 0x100001000, Size: 0x10000, Signal: true, RepSize: 0, Entries: []Entry{
				{CFA: reg(7, 8), RA: saved(-8), FP: same},
				{Offset: 0x10, CFA: reg(10, 0), RA: saved(-8), FP: at(6, 0)},
				{Offset: 0xffff, CFA: at(6, -8), RA: reg(32, 0), FP: same}, // 32<<3|1 = 0x101: 2 bytes
			}},
			{Start: 0x1000, Size: 5}, // outermost
		}},
		want: `e2de 03 05 03 00 f8 04 02000000 03000000 22000000 00000000 20000000 01020304
			e0efffffffffffff 05000000 1d000000 ; 0x1000-0x2020
			d0efffff00000000 00000100 00000000 ; 0x100001000-0x2030
			0300 81 01 00
			0000 04 39 08
			1000 0a 51 00 00 33 00
			ffff 28 3300 f8ff 0101 0000
			0000 00 00 00`,
	}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var text string
			for line := range strings.Lines(tt.want) {
				line, _, _ = strings.Cut(line, ";")
				text += strings.Join(strings.Fields(line), "")
			}
			want, err := hex.DecodeString(text)
			if err != nil {
				t.Fatal(err)
			}
			got := encode(t, &tt.c, addr)
			if !bytes.Equal(got, want) {
				t.Errorf("got  %x\nwant %x", got, want)
			}
		})
	}
}

// TestEncodeSmallest: the word size and the FRE type change where a value no longer fits one byte
// or two.
func TestEncodeSmallest(t *testing.T) {
	size := func(abi ABI, e Entry) int {
		s := mustOpen(t, encode(t, &Contents{Version: V3, ABI: abi, Functions: []Function{{Start: 1, Size: 1, Entries: []Entry{e}}}}, 0), 0)
		f, err := s.FDE(0)
		if err != nil {
			t.Fatal(err)
		}
		for e, err := range s.FREs(f) {
			if err != nil {
				t.Fatal(err)
			}
			return e.Info.WordSize()<<8 | 1<<f.FREType
		}
		panic("no FRE")
	}
	for _, tt := range []struct {
		abi    ABI
		offset uint32
		cfa    Rule
		want   int
	}{
		{AMD64, 0, reg(7, math.MaxInt8), 0x101},
		{AMD64, math.MaxUint8, reg(7, math.MaxInt8+1), 0x201},
		{AMD64, math.MaxUint8 + 1, reg(7, math.MinInt8), 0x102},
		{AMD64, math.MaxUint16, reg(7, math.MinInt8-1), 0x202},
		{AMD64, math.MaxUint16 + 1, reg(7, math.MaxInt16), 0x204},
		{AMD64, math.MaxUint32, reg(7, math.MaxInt16+1), 0x404},
		{AMD64, 0, reg(7, math.MinInt16), 0x201},
		{AMD64, 0, reg(7, math.MinInt16-1), 0x401},
		{AMD64, 0, reg(31, 0), 0x101}, // 31<<3|1 = 0xf9, unsigned
		{AMD64, 0, reg(32, 0), 0x201},
		{AMD64, 0, reg(8191, 0), 0x201}, // 0xfff9
		{AMD64, 0, reg(8192, 0), 0x401},
		{S390X, 0, reg(15, 160+8*math.MaxInt8), 0x101},
		{S390X, 0, reg(15, 160+8*math.MaxInt8+8), 0x201},
		{S390X, 0, reg(15, 160+8*math.MinInt8), 0x101},
		{S390X, 0, reg(15, 160+8*math.MinInt16-8), 0x401},
	} {
		if got := size(tt.abi, Entry{Offset: tt.offset, CFA: tt.cfa, RA: same, FP: same}); got != tt.want {
			t.Errorf("%v at %#x, CFA %v: word size and FRE width %#x, want %#x", tt.abi, tt.offset, tt.cfa, got, tt.want)
		}
	}
}

// TestEncodeRefuses has the whole error for each thing that a version cannot hold.
func TestEncodeRefuses(t *testing.T) {
	plain := Entry{CFA: reg(7, 8), RA: saved(-8), FP: same}
	fn := func(entries ...Entry) Function { return Function{Start: 0x40, Size: 16, Entries: entries} }
	with := func(change func(*Entry)) Function { e := plain; change(&e); return fn(e) }
	whole := func(change func(*Function)) Function { f := fn(plain); change(&f); return f }
	tests := []struct {
		c    Contents
		want string
	}{
		{Contents{Version: 4, ABI: AMD64}, "version 4 cannot hold header: there is no such version"},
		{Contents{Version: V1, ABI: S390X}, "version 1 cannot hold header: SFRAME_ABI_S390X_ENDIAN_BIG is not one of its ABIs"},
		{Contents{Version: V2, ABI: 0}, "version 2 cannot hold header: ABI(0) is not one of its ABIs"},
		{Contents{Version: V1, ABI: AMD64, Flags: FDEFuncStartPCRel}, "version 1 cannot hold header: the flags SFRAME_F_FDE_FUNC_START_PCREL are not all its own"},
		{Contents{Version: V3, ABI: AMD64, AuxHeader: make([]byte, 256)}, "version 3 cannot hold header: an auxiliary header of 256 bytes, expected at most 255"},
		{amd64(V2, with(func(e *Entry) { e.CFA = reg(10, 0) })), "version 2 cannot hold function 0 at 0x40: entry 0: CFA r10+0, RA [CFA-8], FP same: the CFA is not at an offset from SP or FP"},
		{amd64(V1, with(func(e *Entry) { e.FP = at(6, 0) })), "version 1 cannot hold function 0 at 0x40: entry 0: CFA r7+8, RA [CFA-8], FP [r6+0]: FP is neither the same nor saved at an offset from the CFA"},
		{amd64(V2, with(func(e *Entry) { e.RA = saved(-16) })), "version 2 cannot hold function 0 at 0x40: entry 0: CFA r7+8, RA [CFA-16], FP same: RA is not where the header puts it"},
		{amd64(V3, with(func(e *Entry) { e.RA = same })), "version 3 cannot hold function 0 at 0x40: entry 0: CFA r7+8, RA same, FP same: RA has no control word"},
		{amd64(V3, with(func(e *Entry) { e.FP = Rule{Kind: RuleValue, Off: 8} })), "version 3 cannot hold function 0 at 0x40: entry 0: CFA r7+8, RA [CFA-8], FP CFA+8: FP has no control word"},
		{amd64(V3, with(func(e *Entry) { e.CFA = saved(8) })), "version 3 cannot hold function 0 at 0x40: entry 0: CFA [CFA+8], RA [CFA-8], FP same: the CFA is not based on a register"},
		{amd64(V1, fn(Entry{RA: undef})), "version 1 cannot hold function 0 at 0x40: entry 0: CFA none, RA undefined, FP none: RA undefined"},
		{amd64(V2, fn(Entry{RA: undef, FP: same})), "version 2 cannot hold function 0 at 0x40: entry 0: CFA none, RA undefined, FP same: an entry whose RA is undefined has no other rule"},
		{amd64(V3, fn(Entry{Offset: 4, CFA: plain.CFA, RA: plain.RA, FP: same}, plain)), "version 3 cannot hold function 0 at 0x40: entry 1: start offset 0x0 after 0x4, expected ascending order"},
		{amd64(V2, whole(func(f *Function) { f.Signal = true })), "version 2 cannot hold function 0 at 0x40: a signal frame"},
		{amd64(V2, whole(func(f *Function) { f.Type = FDEFlex })), "version 2 cannot hold function 0 at 0x40: SFRAME_FDE_TYPE_FLEX"},
		{amd64(V2, whole(func(f *Function) { f.PauthKey = PauthB })), "version 2 cannot hold function 0 at 0x40: SFRAME_AARCH64_PAUTH_KEY_B, which AArch64 alone has"},
		{amd64(V2, whole(func(f *Function) { f.PCType = PCMask })), "version 2 cannot hold function 0 at 0x40: repeat size 0 in a function of PC type mask"},
		{amd64(V1, whole(func(f *Function) { f.PCType, f.RepSize = PCMask, 32 })), "version 1 cannot hold function 0 at 0x40: repeat size 32; only 16 is understood, and only with PC type mask"},
		{amd64(V2, whole(func(f *Function) { f.Start = 1 << 32 })), "version 2 cannot hold function 0 at 0x100000000: its start is 0xffffe000 bytes from its FDE or the section, which does not fit 32 bits"},
		{amd64(V3, whole(func(f *Function) { f.Start = math.MaxUint64 - 1 })), "version 3 cannot hold function 0 at 0xfffffffffffffffe: its size 0x10 goes beyond the address space"},
		{amd64(V3, whole(func(f *Function) { f.FREType = 3 })), "version 3 cannot hold function 0 at 0x40: unknown SFRAME_FDE_PCTYPE_INC, SFRAME_FDE_TYPE_DEFAULT, FREType(3) or SFRAME_AARCH64_PAUTH_KEY_A"},
		{amd64(V3, fn(make([]Entry, 1<<16)...)), "version 3 cannot hold function 0 at 0x40: 65536 FREs, expected at most 65535"},
		{Contents{Version: V2, ABI: AArch64LE, Functions: []Function{fn(Entry{CFA: reg(31, 0), RA: same, FP: saved(-8)})}},
			"version 2 cannot hold function 0 at 0x40: entry 0: CFA r31+0, RA same, FP [CFA-8]: FP is saved and RA is not, for which s390x alone has a place holder"},
		{Contents{Version: V2, ABI: AArch64LE, Functions: []Function{fn(Entry{CFA: reg(31, 0), RA: saved(0), FP: same})}},
			"version 2 cannot hold function 0 at 0x40: entry 0: CFA r31+0, RA [CFA+0], FP same: RA at CFA+0, whose offset means that RA is not saved"},
		{Contents{Version: V2, ABI: S390X, Functions: []Function{fn(Entry{CFA: reg(15, 164), RA: same, FP: same})}},
			"version 2 cannot hold function 0 at 0x40: entry 0: CFA r15+164, RA same, FP same: s390x holds no CFA offset that is not a multiple of 8"},
		{Contents{Version: V2, ABI: S390X, Functions: []Function{fn(Entry{CFA: reg(15, 160), RA: saved(-47), FP: same})}},
			"version 2 cannot hold function 0 at 0x40: entry 0: CFA r15+160, RA [CFA-47], FP same: RA is at an odd offset, which would name a register"},
	}
	for _, tt := range tests {
		_, err := tt.c.Encode(0x2000)
		if !errors.Is(err, ErrCannotHold) || err.Error() != "sframe: "+tt.want {
			t.Errorf("got  %v\nwant sframe: %s", err, tt.want)
		}
	}
}

func amd64(v Version, f ...Function) Contents {
	return Contents{Version: v, ABI: AMD64, FixedRA: -8, Functions: f}
}

// TestContentsShared: FDEs that share FREs would make large Contents of a small section.
func TestContentsShared(t *testing.T) {
	data := section(t, little, headerLayout{Version: 2, ABI: 3, FixedRA: -8},
		[]any{fdeV2{Size: 1, NumFREs: 2}, fdeV2{Size: 1, NumFREs: 2}}, []byte{0, 3, 8, 1, 3, 8})
	_, err := mustOpen(t, data, 0).Contents()
	const want = "sframe: FDE 1: 2 FREs, but those before leave no room for them in the FRE sub-section (0x6 bytes): FREs are shared, field at section offset 0x30"
	if err == nil || err.Error() != want || !errors.Is(err, ErrMalformed) {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// TestJoin puts two real sections together and takes them apart again.
func TestJoin(t *testing.T) {
	for _, fx := range fixtures {
		s, _ := openFixture(t, fx.name)
		a, b := contents(t, s), contents(t, s)
		for i := range b.Functions {
			b.Functions[i].Start += 1 << 24
		}
		b.Flags |= FramePointer
		c, err := Join(b, a)
		if err != nil {
			t.Fatal(err)
		}
		if c.Flags != a.Flags {
			t.Errorf("%s: flags %v, want %v", fx.name, c.Flags, a.Flags)
		}
		joined := mustOpen(t, encode(t, c, s.Addr), s.Addr)
		for f := range s.FDEs() {
			for pc := f.Start; pc < f.Start+min(uint64(f.Size), 300); pc++ {
				want, wantErr := s.Find(pc)
				for range 2 {
					if got, err := joined.Find(pc); got != want || err != wantErr {
						t.Fatalf("%s: %#x: %v %v, want %v %v", fx.name, pc, got, err, want, wantErr)
					}
					pc, want.Lo = pc+1<<24, want.Lo+1<<24
				}
				pc -= 2 << 24
			}
		}
	}
	one, _ := openFixture(t, "amd64-v1")
	for _, other := range []string{"amd64-v2", "arm64-v1"} {
		s, _ := openFixture(t, other)
		if _, err := Join(contents(t, one), contents(t, s)); !errors.Is(err, ErrDiffer) {
			t.Errorf("%s and %s: %v", "amd64-v1", other, err)
		}
	}
	if _, err := Join(); !errors.Is(err, ErrDiffer) {
		t.Errorf("nothing: %v", err)
	}
}

var write = flag.Bool("write", false, "write the converted fixtures")

// TestConvertedFixtures: some fixtures have forms that no toolchain writes, and were converted from
// other fixtures. binutils' dumps show that they are right. This test shows that Convert and Encode
// still give them.
func TestConvertedFixtures(t *testing.T) {
	for name, from := range map[string]string{"s390x-v2": "s390x-v3", "amd64-v2-pcrel": "amd64-v3"} {
		s, _ := openFixture(t, from)
		c, _ := contents(t, s).Convert(V2)
		data := encode(t, c, s.Addr)
		file := filepath.Join("testdata", name+".sframe")
		if *write {
			if err := os.WriteFile(file, data, 0o644); err != nil {
				t.Fatal(err)
			}
			t.Logf("%s: for address %#x", file, s.Addr)
		}
		if want, err := os.ReadFile(file); err != nil || !bytes.Equal(data, want) {
			t.Errorf("%s in V2 is not %s (%v)", from, file, err)
		}
	}
}

// losses are the parts of the fixtures that versions cannot hold: the frame whose CFA is in a
// register (DRAP), the signal trampoline, and the function that ends the stack.
var losses = map[string]map[Version]string{
	"amd64-v3": {
		V1: "the CFA is not at an offset from SP or FP;a signal frame;RA undefined",
		V2: "the CFA is not at an offset from SP or FP;a signal frame",
	},
	"arm64-v3":       {V1: "a signal frame;RA undefined", V2: "a signal frame"},
	"arm64be-v3":     {V1: "a signal frame;RA undefined", V2: "a signal frame"},
	"s390x-v3":       {V1: "SFRAME_ABI_S390X_ENDIAN_BIG is not one of its ABIs", V2: "a signal frame"},
	"s390x-v2":       {V1: "SFRAME_ABI_S390X_ENDIAN_BIG is not one of its ABIs"},
	"amd64-v2-pcrel": {V1: "RA undefined"},
}

// TestConvertFixtures: two versions say the same about a program, as far as both can hold it.
func TestConvertFixtures(t *testing.T) {
	for _, fx := range fixtures {
		s, _ := openFixture(t, fx.name)
		c := contents(t, s)
		for v := V1; v <= V3; v++ {
			out, lost := c.Convert(v)
			var reasons []string
			for _, e := range lost {
				reasons = append(reasons, strings.TrimSpace(e.Msg[strings.LastIndex(e.Msg, ":")+1:]))
			}
			if got, want := strings.Join(reasons, ";"), losses[fx.name][v]; got != want {
				t.Errorf("%s in V%d: lost %q, want %q", fx.name, v, got, want)
			}
			if out == nil {
				continue
			}
			gone := map[uint64]bool{}
			for _, e := range lost {
				gone[e.Start] = true
			}
			got := mustOpen(t, encode(t, out, s.Addr), s.Addr)
			for f := range s.FDEs() {
				for pc := f.Start; pc < f.Start+min(uint64(f.Size), 2000); pc++ {
					want, wantErr := s.Find(pc)
					if gone[f.Start] {
						want, wantErr = Row{}, ErrNoFDE
					}
					if row, err := got.Find(pc); err != wantErr || !reflect.DeepEqual(row, want) {
						t.Fatalf("%s in V%d: %#x: %v, %v; want %v, %v", fx.name, v, pc, row, err, want, wantErr)
					}
				}
			}
		}
	}
}

// TestConvertFlags: only V3 has no promise of frame pointers, only V1 no starts relative to their
// fields.
func TestConvertFlags(t *testing.T) {
	v2 := Contents{Version: V2, ABI: AMD64, Flags: FDESorted | FramePointer | FDEFuncStartPCRel}
	for v, want := range map[Version]Flags{V1: FDESorted | FramePointer, V2: v2.Flags, V3: FDESorted | FDEFuncStartPCRel} {
		out, lost := v2.Convert(v)
		var text string
		for _, e := range lost {
			text += e.Error()
		}
		wantText := ""
		if v == V3 {
			wantText = "sframe: version 3 cannot hold header: the flag SFRAME_F_FRAME_POINTER"
		}
		if out.Flags != want || text != wantText {
			t.Errorf("V%d: flags %v, want %v; lost %q, want %q", v, out.Flags, want, text, wantText)
		}
	}
}
