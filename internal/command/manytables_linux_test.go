package command_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// withHeaders copies a library with n more section headers, all for its code.
func withHeaders(t *testing.T, path string, n int) string {
	t.Helper()
	return small(t, path, func(f *elf.File, data []byte) []byte {
		order := binary.LittleEndian
		from, count := order.Uint64(data[40:]), len(f.Sections)
		text := 0
		for i, s := range f.Sections {
			if s.Name == ".text" {
				text = i
			}
		}
		header := func(i int) []byte { return data[from+uint64(64*i) : from+uint64(64*i+64)] }
		table := append(bytes.Clone(data[from:from+uint64(64*count)]), bytes.Repeat(header(text), n)...)
		for at := 64 * count; at < len(table); at += 64 {
			order.PutUint32(table[at:], 0) // no name
		}
		data = append(data, make([]byte, -len(data)&7)...)
		order.PutUint64(data[40:], uint64(len(data)))
		order.PutUint16(data[60:], uint16(count+n))
		return append(data, table...)
	})
}

// withOverlap copies a library, and makes each of the named sections extend over the whole file.
func withOverlap(t *testing.T, path string, sections ...string) string {
	t.Helper()
	return small(t, path, func(f *elf.File, data []byte) []byte {
		order := binary.LittleEndian
		for i, s := range f.Sections {
			if slices.Contains(sections, s.Name) {
				header := data[order.Uint64(data[40:])+uint64(64*i):]
				order.PutUint64(header[24:], 0)
				order.PutUint64(header[32:], uint64(len(data)))
			}
		}
		return data
	})
}

// TestManyTables: uncompressed tables of many files together do not take too much memory either.
func TestManyTables(t *testing.T) {
	const n, most = 80, 256 << 10 // KiB
	program := gdbtest.Build(t, "libraries.c", "-O1")
	assemble := func(text string, flags ...string) string {
		source := filepath.Join(t.TempDir(), "more.S")
		if err := os.WriteFile(source, []byte(".section .note.GNU-stack,\"\"\n.text\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
		return gdbtest.Build(t, "hop.c", append(flags, "-O1", "-shared", "-fPIC", source)...)
	}
	functions := ".set i, 0\n.rept 26000\n.altmacro\n.macro f n\n.type f\\n, @function\nf\\n: nop\n.endm\nf %i\n.purgem f\n.set i, i + 1\n.endr\n"
	bare := gdbtest.Build(t, "hop.c", "-O1", "-shared", "-fPIC")
	for name, path := range map[string]string{
		"symbols":      withOverlap(t, assemble(functions), ".strtab", ".dynstr", ".dynsym", ".rela.plt", ".sframe"),
		"unwind table": withOverlap(t, assemble(".rept 30000\n.cfi_startproc\nnop\n.cfi_endproc\n.endr\n", "-Wl,--no-eh-frame-hdr"), ".symtab", ".strtab", ".dynstr", ".dynsym", ".rela.plt", ".sframe"),
		"headers":      withHeaders(t, bare, 14000),
	} {
		t.Run(name, func(t *testing.T) {
			p := gdbtest.Start(t, program, copies(t, path, n)...)
			out, warnings := commandtest.Within(t, most, "attach", strconv.Itoa(p.PID))
			if strings.Count(out, "\n#") < n+3 || strings.Contains(out, "stop:") {
				t.Errorf("%s\n%s", out, warnings)
			}
			p.Exit(t)
		})
	}
}
