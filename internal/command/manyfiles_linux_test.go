package command_test

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// copies writes a file under n names, each a file of its own.
func copies(t *testing.T, path string, n int) (names []string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for i := range n {
		name := filepath.Join(dir, fmt.Sprintf("l%d.so", i))
		if err := os.WriteFile(name, data, 0o700); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	return names
}

// withSymbols copies a library with a compressed table of n symbols of one function.
func withSymbols(t *testing.T, path string, n int) string {
	t.Helper()
	return small(t, path, func(f *elf.File, data []byte) []byte {
		order := binary.LittleEndian
		text := f.Section(".text")
		table := make([]byte, 0, 24*n)
		for i := range n {
			table = append(table, 1, 0, 0, 0, byte(elf.STT_FUNC), 0, 1, 0)
			table = order.AppendUint64(order.AppendUint64(table, text.Addr+uint64(i)%text.Size), 1)
		}
		for i, s := range f.Sections {
			if s.Type == elf.SHT_SYMTAB {
				header := data[order.Uint64(data[40:])+uint64(64*i):]
				order.PutUint64(header[8:], uint64(elf.SHF_COMPRESSED))
				order.PutUint64(header[24:], uint64(len(data)))
				packed := bytes.NewBuffer(order.AppendUint64(order.AppendUint64(order.AppendUint64(nil, 1), uint64(len(table))), 1))
				w := zlib.NewWriter(packed)
				w.Write(table)
				w.Close()
				packed.Write(bytes.Repeat([]byte{0xa5}, len(table)/32))
				order.PutUint64(header[32:], uint64(packed.Len()))
				data = append(data, packed.Bytes()...)
				break
			}
		}
		return data
	})
}

// TestManyFiles has files of less than 1 MB, each of which expands to the most that one file may.
// Many of them do not take that much each. The stack goes through all, and a warning says what is
// left out: symbols, but nothing of entries, which are dropped and read again.
func TestManyFiles(t *testing.T) {
	const n, most = 40, 256 << 10 // KiB
	program := gdbtest.Build(t, "libraries.c", "-O1")
	library := gdbtest.Build(t, "hop.c", "-g", "-O1", "-shared", "-fPIC")
	bare := gdbtest.Build(t, "hop.c", "-O1", "-shared", "-fPIC")
	f, err := elf.Open(library)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	order := binary.LittleEndian
	entries := append([]byte{4, 0, 0, 0, 0, 0, 8, 1}, order.AppendUint64(nil, f.Section(".text").Addr)...)
	entries = order.AppendUint32(order.AppendUint64(entries, f.Section(".text").Size), 0)
	entries = append(entries, bytes.Repeat([]byte{2}, 24<<20)...)
	for name, test := range map[string]struct {
		path string
		left int // warnings
	}{
		"entries": {withDWARF(t, library, append(order.AppendUint32(nil, uint32(len(entries))), entries...), nil), 0},
		"symbols": {withSymbols(t, bare, 1<<20), 1},
	} {
		t.Run(name, func(t *testing.T) {
			p := gdbtest.Start(t, program, copies(t, test.path, n)...)
			out, warnings := commandtest.Within(t, most, "attach", strconv.Itoa(p.PID))
			if strings.Count(out, "\n#") < n+3 || strings.Contains(out, "stop:") || strings.Count(warnings, "expand to too much") != test.left {
				t.Errorf("%s\n%s", out, warnings)
			}
			p.Exit(t)
		})
	}
}
