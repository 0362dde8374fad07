package command_test

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// small is [gdbtest.Changed], and checks that the copy has at most 1 MB.
func small(t *testing.T, path string, change func(f *elf.File, data []byte) []byte) (copied string) {
	t.Helper()
	return gdbtest.Changed(t, path, func(f *elf.File, data []byte) []byte {
		if data = change(f, data); len(data) > 1<<20 {
			t.Fatalf("%d bytes", len(data))
		}
		return data
	})
}

// sparse copies an ELF file of amd64, and makes the named sections holes of 2 GiB.
func sparse(t *testing.T, path string, sections ...string) string {
	t.Helper()
	at := uint64(1 << 20)
	out := gdbtest.Changed(t, path, func(f *elf.File, data []byte) []byte {
		order := binary.LittleEndian
		for i, s := range f.Sections {
			for _, name := range sections {
				if s.Name == name {
					header := data[order.Uint64(data[40:])+uint64(64*i):]
					order.PutUint64(header[24:], at)
					order.PutUint64(header[32:], 1<<31-24)
					at += 1 << 31
				}
			}
		}
		return data
	})
	if at == 1<<20 {
		t.Fatalf("%s has no sections %q", path, sections)
	}
	if err := os.Truncate(out, int64(at)); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestHoles: a section that is a hole in its file costs no reader anything.
func TestHoles(t *testing.T) {
	program := gdbtest.Build(t, "recurse.c", "-g", "-O0")
	for _, sections := range [][]string{
		{".symtab"}, {".strtab", ".dynstr"}, {".shstrtab"}, {".eh_frame", ".dynsym"}, {".debug_info"},
		{".debug_abbrev", ".eh_frame_hdr", ".gnu.hash"}, {".debug_line", ".debug_str", ".note.gnu.build-id"}, {".debug_line_str", ".debug_aranges"},
	} {
		p := gdbtest.Start(t, sparse(t, program, sections...), "3")
		if out, _ := commandtest.Bounded(t, "attach", strconv.Itoa(p.PID)); strings.Count(out, "#") < 4 {
			t.Errorf("%v: %s", sections, out)
		}
		_, warnings := commandtest.Bounded(t, "symbols", "dump", sparse(t, program, sections...))
		if sections[0] == ".debug_info" && !strings.Contains(warnings, "a hole") {
			t.Errorf("symbols dump, %v: %s", sections, warnings)
		}
	}
	out := filepath.Join(t.TempDir(), "out")
	commandtest.Bounded(t, "sframe", "gen", sparse(t, program, ".eh_frame"), "-o", out)
	mix := gdbtest.Testdata(t, "bin", "mix-v3")
	commandtest.Bounded(t, "sframe", "dump", sparse(t, mix, ".sframe"))
	commandtest.Bounded(t, "sframe", "verify", sparse(t, mix, ".eh_frame", ".symtab"))
}

// TestDebugLinkHole: the checksum of a debug file covers its holes, so one that is nearly all holes
// is left out.
func TestDebugLinkHole(t *testing.T) {
	program := gdbtest.Build(t, "recurse.c", "-g", "-O0", "-Wl,--build-id=none")
	dir := t.TempDir()
	debug, stripped := filepath.Join(dir, "recurse.debug"), filepath.Join(dir, "recurse")
	for _, args := range [][]string{
		{"--only-keep-debug", program, debug},
		{"-g", "--add-gnu-debuglink=" + debug, program, stripped},
	} {
		if out, err := exec.Command(gdbtest.Tool(t, "objcopy"), args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	if out, warnings := commandtest.Bounded(t, "symbols", "dump", stripped); !strings.Contains(out, "recurse.c") {
		t.Errorf("%s%s", out, warnings)
	}
	if err := os.Truncate(debug, 400<<30); err != nil {
		t.Fatal(err)
	}
	if _, warnings := commandtest.Bounded(t, "symbols", "dump", stripped); !strings.Contains(warnings, "a hole") {
		t.Error(warnings)
	}
}

// withDWARF copies a program with made-up .debug_info and .debug_line, and the abbreviations
// madeUpAbbrevs. Both are compressed, with so many bytes behind that their expansion seems in
// proportion.
func withDWARF(t *testing.T, path string, info, line []byte) string {
	t.Helper()
	return small(t, path, func(f *elf.File, data []byte) []byte {
		order := binary.LittleEndian
		for i, s := range f.Sections {
			header := order.Uint64(data[40:]) + uint64(64*i)
			var of []byte
			flags := uint64(elf.SHF_COMPRESSED)
			switch s.Name {
			case ".debug_info":
				of = info
			case ".debug_line":
				of = line
			case ".debug_aranges":
			case ".debug_abbrev":
				of, flags = madeUpAbbrevs, 0
			default:
				continue
			}
			at := len(data)
			if flags != 0 {
				data = order.AppendUint64(order.AppendUint64(order.AppendUint64(data, 1), uint64(len(of))), 1)
				var packed bytes.Buffer
				w := zlib.NewWriter(&packed)
				w.Write(of)
				w.Close()
				data = append(data, packed.Bytes()...)
				data = append(data, bytes.Repeat([]byte{0xa5}, len(of)/32)...)
			} else {
				data = append(data, of...)
			}
			order.PutUint64(data[header+8:], flags)
			order.PutUint64(data[header+24:], uint64(at))
			order.PutUint64(data[header+32:], uint64(len(data)-at))
		}
		return data
	})
}

// In madeUpAbbrevs, 1 is a unit with code and lines, 2 a function without attributes, 3 one with
// code.
var madeUpAbbrevs = []byte{
	1, 0x11, 1, 0x11, 0x01, 0x12, 0x07, 0x10, 0x17, 0, 0,
	2, 0x2e, 0, 0, 0,
	3, 0x2e, 0, 0x11, 0x01, 0x12, 0x0f, 0, 0,
	0,
}

// TestCompressedDWARF: millions of entries and rows, from less than 1 MB, are not all kept.
func TestCompressedDWARF(t *testing.T) {
	program := gdbtest.Build(t, "recurse.c", "-g", "-O0", "-no-pie")
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text := f.Section(".text")
	order := binary.LittleEndian
	lo := order.AppendUint64(nil, text.Addr)
	unit := func(entries []byte) []byte {
		b := append([]byte{4, 0, 0, 0, 0, 0, 8, 1}, lo...)
		b = order.AppendUint32(order.AppendUint64(b, text.Size), 0)
		b = append(b, entries...)
		return append(order.AppendUint32(nil, uint32(len(b))), b...)
	}
	const n = 24 << 20
	head := append([]byte{1, 1, 1, 0xfb, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0}, "a.c\x00\x00\x00\x00\x00"...)
	lines := append(order.AppendUint32([]byte{4, 0}, uint32(len(head))), head...)
	lines = append(append(lines, 0, 9, 2), lo...)
	lines = append(append(lines, bytes.Repeat([]byte{0x20}, n)...), 0, 1, 1)
	lines = append(order.AppendUint32(nil, uint32(len(lines))), lines...)
	for name, test := range map[string][2][]byte{
		"entries":   {unit(bytes.Repeat([]byte{2}, n)), nil},
		"functions": {unit(bytes.Repeat(append(append([]byte{3}, lo...), 16), n/10)), nil},
		"units":     {bytes.Repeat(unit(nil), n/32), nil},
		"rows":      {unit([]byte{0}), lines},
	} {
		t.Run(name, func(t *testing.T) {
			p := gdbtest.Start(t, withDWARF(t, program, test[0], test[1]), "3")
			if out, _ := commandtest.Bounded(t, "attach", strconv.Itoa(p.PID)); strings.Count(out, "#") < 4 {
				t.Error(out)
			}
		})
	}
}
