package commandtest

import (
	"bufio"
	"debug/elf"
	hexadecimal "encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/format/breakpad"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// SymbolStore makes a folder with a program's symbol file, which has the records that describe
// makes.
func SymbolStore(t *testing.T, program string, describe func(t *testing.T, program string, base uint64) []breakpad.Record) string {
	t.Helper()
	notes, err := exec.Command(gdbtest.Tool(t, "readelf"), "-n", program).Output()
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(notes), "Build ID: ")
	text, _, _ = strings.Cut(text, "\n")
	id, err := hexadecimal.DecodeString(text)
	if err != nil || len(id) == 0 {
		t.Fatalf("build ID %q: %v", text, err)
	}
	base := uint64(0x400000) // where ld puts programs that are linked for one address
	file, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	if file.Close(); file.Type == elf.ET_DYN {
		base = 0
	}
	module := breakpad.Module{OS: "Linux", Arch: "x86_64", ID: breakpad.BuildIDIdentifier(id), Name: filepath.Base(program)}
	records := append([]breakpad.Record{module}, describe(t, program, base)...)
	var lines []byte
	for _, r := range records {
		if lines, err = r.AppendText(lines); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, '\n')
	}
	inside, err := module.StorePath()
	if err != nil {
		t.Fatal(err)
	}
	store := t.TempDir()
	if err := os.MkdirAll(filepath.Dir(filepath.Join(store, inside)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(store, inside), lines, 0o644); err != nil {
		t.Fatal(err)
	}
	return store
}

// FunctionsOfNM makes a program's functions by nm, and their lines by addr2line.
func FunctionsOfNM(t *testing.T, program string, base uint64) (records []breakpad.Record) {
	t.Helper()
	files := make(map[string]int)
	nm, err := exec.Command(gdbtest.Tool(t, "nm"), "-S", "--defined-only", program).Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(nm)) {
		f := strings.Fields(line)
		if len(f) != 4 || !strings.EqualFold(f[2], "t") {
			continue
		}
		start, _ := strconv.ParseUint(f[0], 16, 64)
		size, _ := strconv.ParseUint(f[1], 16, 64)
		records = append(records, breakpad.Func{Address: start - base, Size: size, Name: f[3]})
		for i, where := range addr2line(t, program, start, size) {
			file, number, _ := strings.Cut(where, ":")
			n, err := strconv.Atoi(number)
			if err != nil {
				continue // no line
			}
			if _, ok := files[file]; !ok {
				files[file] = len(files)
				records = append(records, breakpad.SourceFile{Number: files[file], Name: file})
			}
			records = append(records, breakpad.Line{Address: start - base + uint64(i), Size: 1, Line: n, File: files[file]})
		}
	}
	return records
}

// addr2line returns file:line of each address in [start, start+size).
func addr2line(t *testing.T, program string, start, size uint64) []string {
	t.Helper()
	var addrs strings.Builder
	for i := range size {
		fmt.Fprintf(&addrs, "%#x\n", start+i)
	}
	cmd := exec.Command(gdbtest.Tool(t, "addr2line"), "-e", program)
	cmd.Stdin = strings.NewReader(addrs.String())
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for lines := bufio.NewScanner(strings.NewReader(string(out))); lines.Scan(); {
		where, _, _ := strings.Cut(lines.Text(), " (discriminator")
		all = append(all, where)
	}
	return all
}
