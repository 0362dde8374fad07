package sframe

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

func dump(t testing.TB, s *Section) string {
	t.Helper()
	var b strings.Builder
	if err := s.Dump(&b); err != nil {
		t.Error(err)
	}
	return b.String()
}

// sameLines shows the first line that differs.
func sameLines(t *testing.T, got, want string) {
	t.Helper()
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		if i >= len(g) || i >= len(w) || g[i] != w[i] {
			t.Errorf("line %d:\n got %q\nwant %q", i+1, g[min(i, len(g)-1)], w[min(i, len(w)-1)])
			return
		}
	}
}

// TestDumpFixtures compares dumps of real sections with dumps by their own binutils, from which
// blanks at ends of lines were removed.
func TestDumpFixtures(t *testing.T) {
	for _, fx := range fixtures {
		t.Run(fx.name, func(t *testing.T) {
			s, _ := openFixture(t, fx.name)
			want, err := os.ReadFile(filepath.Join("testdata", fx.name+".dump"))
			if err != nil {
				t.Fatal(err)
			}
			_, text, _ := strings.Cut(string(want), "\n")
			var got strings.Builder
			for line := range strings.Lines(dump(t, s)) {
				got.WriteString(strings.TrimRight(line, " \n") + "\n")
			}
			sameLines(t, got.String(), strings.TrimRight(text, "\n")+"\n")
		})
	}
}

// TestDumpOdd compares dumps of made-up sections with readelf's output, to the last blank. The
// sections have all forms that binutils reads. testdata/odd.txt has for each section its bytes and
// readelf's output. -write makes the file anew with the commands READELF_V1, READELF_V2 and
// READELF_V3 of the environment, which read an ELF file from standard input.
func TestDumpOdd(t *testing.T) {
	const file = "testdata/odd.txt"
	if *write {
		writeOdd(t, file)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for record := range strings.SplitSeq(strings.TrimPrefix(string(text), "== "), "\n== ") {
		head, want, _ := strings.Cut(record, "\n")
		var name, bytes string
		var addr uint64
		if _, err := fmt.Sscanf(head, "%s %v %s", &name, &addr, &bytes); err != nil {
			t.Fatalf("%q: %v", head, err)
		}
		data, err := hex.DecodeString(bytes)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			sameLines(t, "Contents of the SFrame section .sframe:\n"+dump(t, mustOpen(t, data, addr)), strings.TrimSuffix(want, "\n")+"\n")
		})
		version, _, _ := strings.Cut(name, "-")
		count[version]++
	}
	if count["v1"] < 26 || count["v2"] < 36 || count["v3"] < 36 {
		t.Errorf("only %v sections", count)
	}
}

func writeOdd(t *testing.T, file string) {
	t.Helper()
	const addr = 0x10000
	var out strings.Builder
	count := map[Version]int{}
	try := func(name string, data []byte) {
		s := mustOpen(t, data, addr)
		var text strings.Builder
		if s.Dump(&text) != nil {
			return
		}
		// 2.44 reads neither s390x nor starts relative to their fields, nor an undefined RA. A
		// fixed offset, which s390x does not have, names no register.
		reader := s.Version
		if s.Version == V2 && (s.ABI == S390X || s.Flags&FDEFuncStartPCRel != 0) {
			reader = V3
		}
		if reader == V2 && strings.Contains(text.String(), "RA undefined") || s.ABI == S390X && (s.FixedFP != 0 || s.FixedRA != 0) {
			return
		}
		cmd := exec.Command("sh", "-c", os.Getenv(fmt.Sprintf("READELF_V%d", reader)))
		cmd.Stdin = bytes.NewReader(wrap(data, s.ABI, addr))
		want, err := cmd.Output()
		if err != nil {
			return // readelf refuses this section
		}
		count[s.Version]++
		fmt.Fprintf(&out, "== v%d-%s %#x %x\n%s", s.Version, name, addr, data, want)
	}
	for seed := range uint64(1 << 14) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		c := madeUp(rnd, Version(1+seed%3), ABI(1+rnd.IntN(4)), Flags(rnd.IntN(8)))
		start := uint64(0x1000)
		rows := 0
		for i := range c.Functions {
			f := &c.Functions[i]
			for j := range f.Entries { // readelf wants FREs to be in their function
				f.Entries[j].Offset = uint32(j * (1 << (5 * uint(i%3)))) // of 1, 2 or 4 bytes
			}
			f.Start, f.Size = start, 1<<12
			start += 1 << 13
			rows += len(f.Entries)
		}
		if data, err := c.Encode(addr); err == nil && rows >= 4 && count[c.Version] < 24 {
			try(fmt.Sprint(seed), data)
		}
	}
	clear(count)
	for seed := range uint64(1 << 10) {
		rnd := rand.New(rand.NewPCG(seed, 8))
		v, abi := Version(1+seed%3), ABI(1+rnd.IntN(4))
		if count[v] < 16 && (v != V1 || abi != S390X) {
			try(fmt.Sprintf("raw%d", seed), rawSection(rnd, v, abi))
		}
	}
	if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// wrap makes an ELF file with a section .sframe at addr and nothing else.
func wrap(data []byte, abi ABI, addr uint64) []byte {
	const names = "\x00.sframe\x00.shstrtab\x00"
	const at = 64 + 3*64
	h := elf.Header64{
		Type: uint16(elf.ET_DYN), Version: 1, Shoff: 64, Ehsize: 64, Shentsize: 64, Shnum: 3, Shstrndx: 2,
		Machine: uint16(map[ABI]elf.Machine{AMD64: elf.EM_X86_64, AArch64LE: elf.EM_AARCH64, AArch64BE: elf.EM_AARCH64, S390X: elf.EM_S390}[abi]),
	}
	copy(h.Ident[:], elf.ELFMAG)
	h.Ident[elf.EI_CLASS], h.Ident[elf.EI_DATA], h.Ident[elf.EI_VERSION] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), 1
	order := little
	if abi.bigEndian() {
		order = big
		h.Ident[elf.EI_DATA] = byte(elf.ELFDATA2MSB)
	}
	kind := uint32(elf.SHT_PROGBITS)
	if Version(data[2]) == V3 {
		kind = 0x6ffffff4 // SHT_GNU_SFRAME
	}
	var b bytes.Buffer
	binary.Write(&b, order, &h)
	binary.Write(&b, order, []elf.Section64{
		{},
		{Name: 1, Type: kind, Flags: uint64(elf.SHF_ALLOC), Addr: addr, Off: at, Size: uint64(len(data)), Addralign: 1},
		{Name: 9, Type: uint32(elf.SHT_STRTAB), Off: at + uint64(len(data)), Size: uint64(len(names)), Addralign: 1},
	})
	b.Write(data)
	b.WriteString(names)
	return b.Bytes()
}

// TestDumpMalformed: Dump prints what it can read, and returns the first error.
func TestDumpMalformed(t *testing.T) {
	s, _ := openFixture(t, "amd64-v3")
	whole := dump(t, s)
	before, rest, _ := strings.Cut(whole, "\n    func idx [12]")
	function, after, _ := strings.Cut(rest, "\n    func idx [13]")
	lines := strings.SplitAfter(function, "\n")
	const bad = headerSize + 12*16 + 12 // start of FREs of an FDE in the middle
	attr := headerSize + int(s.FREOff) + int(s.u32(s.Data, bad))
	for _, tt := range []struct {
		name   string
		change func(data []byte)
		want   string // the error
		rows   []string
	}{
		{"start of FREs", func(data []byte) { s.ByteOrder.PutUint32(data[bad:], 0x9f00) },
			fmt.Sprintf("sframe: FDE 12: start of FREs 0x9f00 lies beyond the FRE sub-section (%#x bytes), field at section offset %#x", len(s.fres), bad), nil},
		{"number of FREs", func(data []byte) { s.ByteOrder.PutUint16(data[attr:], 0xffff) },
			fmt.Sprintf("sframe: FDE 12: 65535 FREs, but those before leave no room for them in the FRE sub-section (%#x bytes): FREs are shared, field at section offset %#x", len(s.fres), headerSize+12*16), nil},
		{"word size", func(data []byte) { data[attr+attrSize+2] |= 3 << 5 }, // of the first FRE, which has 2-byte offsets
			fmt.Sprintf("sframe: FDE 12: FRE 0: data word size 3, expected 0 to 2, field at section offset %#x", attr+attrSize+2), nil},
		{"descending offsets", func(data []byte) { s.ByteOrder.PutUint16(data[attr+attrSize:], 0xff) },
			fmt.Sprintf("sframe: FDE 12: FRE 1: start offset 0xb after 0xff, expected ascending order, field at section offset %#x", attr+attrSize+4),
			[]string{strings.Replace(lines[2], "0000000000000bc0", "0000000000000cbf", 1)}},
	} {
		data := bytes.Clone(s.Data)
		tt.change(data)
		var b strings.Builder
		err := mustOpen(t, data, s.Addr).Dump(&b)
		var format *FormatError
		if !errors.As(err, &format) || format.FDE != 12 || err.Error() != tt.want {
			t.Errorf("%s:\ngot  %v\nwant %s", tt.name, err, tt.want)
		}
		sameLines(t, b.String(), before+"\n    func idx [12]"+strings.Join(append(lines[:2:2], tt.rows...), "")+"\n    func idx [13]"+after)
	}
	if err := s.Dump(failing{}); err != io.ErrShortWrite {
		t.Errorf("the writer's error became %v", err)
	}
}

// TestManyFREs: an FDE that claims more FREs than there can be does not hide the others. This holds
// on 32-bit hosts, too.
func TestManyFREs(t *testing.T) {
	s, _ := openFixture(t, "amd64-v2")
	data := bytes.Clone(s.Data)
	const field = headerSize + 20 + 12 // number of FREs of FDE 1
	s.ByteOrder.PutUint32(data[field:], 0xffffffff)
	bad := mustOpen(t, data, s.Addr)
	const want = "sframe: FDE 1: 4294967295 FREs, but those before leave no room for them"
	var b strings.Builder
	if err := bad.Dump(&b); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("Dump: %v", err)
	}
	_, got, _ := strings.Cut(b.String(), "idx [2]")
	_, others, _ := strings.Cut(dump(t, s), "idx [2]")
	sameLines(t, got, others)
	if _, err := bad.Contents(); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("Contents: %v", err)
	}
}

type failing struct{}

func (failing) Write(p []byte) (int, error) { return 0, io.ErrShortWrite }

// FuzzDump prints any bytes. Their number bounds the text: a line of at most 100 bytes for each
// FRE, four for each FDE.
func FuzzDump(f *testing.F) {
	for _, fx := range fixtures {
		s, _ := openFixture(f, fx.name)
		f.Add(s.Data, s.Addr)
	}
	f.Fuzz(func(t *testing.T, data []byte, addr uint64) {
		s, err := Open(data, addr)
		if err != nil {
			return
		}
		var b strings.Builder
		bounds.Hold(t, 1<<20+5*100*(int(s.NumFDEs)+len(s.fres)), func() { checkFormatError(t, s.Dump(&b)) })
		if limit := 400 + 400*int(s.NumFDEs) + 100*len(s.fres)/minFRESize; b.Len() > limit {
			t.Fatalf("%d bytes made %d bytes of text, want at most %d", len(data), b.Len(), limit)
		}
	})
}
