package sframe

import (
	"bufio"
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/format/sframe"
	"github.com/sfwalk/sfwalk/format/sframe/object"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

const binaries = "../../../testdata/bin/"

// TestSFrameDump compares the text with the output of readelf from each binary's own toolchain, and
// the JSON document with the text.
func TestSFrameDump(t *testing.T) {
	for _, name := range []string{"mix-v2", "mix-v3", "plt-v3", "steps-v3", "restorer-v3"} {
		want, err := os.ReadFile(binaries + name + ".readelf")
		if err != nil {
			t.Fatal(err)
		}
		if out, _, err := commandtest.Run("sframe", "dump", binaries+name); err != nil || out != string(want) {
			t.Errorf("%s: %v\n%s\nreadelf:\n%s", name, err, out, want)
		}
		out, _, err := commandtest.Run("sframe", "dump", binaries+name, "--json")
		if err != nil {
			t.Fatal(err)
		}
		commandtest.InPage(t, "sfwalk sframe dump", out)
		sameAsText(t, name, []byte(out), string(want))
		whereItLies(t, name, []byte(out))
	}
}

// sameAsText writes a document's FDEs and FREs as readelf does, and compares.
func sameAsText(t *testing.T, name string, doc []byte, text string) {
	t.Helper()
	var d struct {
		File     string
		Sections []struct {
			NumFDEs int `json:"num_fdes"`
			FDEs    []struct {
				Index  int
				Start  string
				Size   int
				PCType struct{ Name string } `json:"pc_type"`
				FREs   []struct {
					Offset int
					PC     *string
					CFA    struct {
						Kind             string
						Register, Offset int
					}
				} `json:"fres"`
			} `json:"fdes"`
		}
	}
	if err := json.Unmarshal(doc, &d); err != nil || len(d.Sections) != 1 {
		t.Fatalf("%s: %v in %s", name, err, doc)
	}
	s := d.Sections[0]
	if len(s.FDEs) != s.NumFDEs || strings.Count(text, "func idx [") != s.NumFDEs {
		t.Errorf("%s: %d FDEs, announced %d", name, len(s.FDEs), s.NumFDEs)
	}
	for _, f := range s.FDEs {
		head := fmt.Sprintf("    func idx [%d]: pc = %s, size = %d bytes", f.Index, f.Start, f.Size)
		_, rest, ok := strings.Cut(text, head)
		rows, _, _ := strings.Cut(rest, "\n\n")
		lines := strings.Split(strings.TrimSpace(rows), "\n")
		if !ok || len(lines) < 2+len(f.FREs)-1 {
			t.Fatalf("%s: not in the text: %s with %d rows", name, head, len(f.FREs))
		}
		lines = lines[len(lines)-len(f.FREs):]
		for i, e := range f.FREs {
			at := fmt.Sprintf("%016x", e.Offset)
			if e.PC != nil {
				at = fmt.Sprintf("%016s", strings.TrimPrefix(*e.PC, "0x"))
			}
			reg := map[int]string{7: "sp", 6: "fp"}[e.CFA.Register]
			if reg == "" {
				reg = fmt.Sprintf("r%d", e.CFA.Register)
			}
			cfa := fmt.Sprintf("%s%+d ", reg, e.CFA.Offset)
			switch e.CFA.Kind {
			case "saved-at":
				cfa = fmt.Sprintf("(%s%+d) ", reg, e.CFA.Offset)
			case "none":
				cfa = "RA undefined"
			}
			if want := at + "  " + cfa; !strings.HasPrefix(strings.TrimSpace(lines[i])+" ", want) {
				t.Errorf("%s: %q, readelf: %q", name, want, lines[i])
			}
		}
	}
}

// whereItLies finds each info byte in the file, at the address that the document gives.
func whereItLies(t *testing.T, name string, doc []byte) {
	t.Helper()
	type named struct{ Value int }
	var d struct {
		Sections []struct {
			Version int
			Start   string `json:"fres_address"`
			FDEs    []struct {
				Address     string
				FREOff      uint64 `json:"start_fre_off"`
				Info, Info2 byte
				FREType     named `json:"fre_type"`
				FREs        []struct {
					Address string
					Info    byte
				} `json:"fres"`
			} `json:"fdes"`
		}
	}
	if err := json.Unmarshal(doc, &d); err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(binaries + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	section := f.Section(".sframe")
	data, err := section.Data()
	if err != nil {
		t.Fatal(err)
	}
	at := func(addr string, off uint64) []byte {
		n, err := strconv.ParseUint(addr, 0, 64)
		if err != nil || n-section.Addr+off+2 > uint64(len(data)) {
			t.Fatalf("%s: address %s, %v", name, addr, err)
		}
		return data[n-section.Addr+off:]
	}
	s := d.Sections[0]
	for _, fde := range s.FDEs {
		info := at(fde.Address, 16)
		if s.Version == 3 {
			info = at(s.Start, fde.FREOff+2)
			if info[1] != fde.Info2 {
				t.Errorf("%s: FDE at %s: info2 %#x, not %#x", name, fde.Address, info[1], fde.Info2)
			}
		}
		if info[0] != fde.Info {
			t.Errorf("%s: FDE at %s: info %#x, not %#x", name, fde.Address, info[0], fde.Info)
		}
		for _, fre := range fde.FREs {
			if info := at(fre.Address, 1<<fde.FREType.Value)[0]; info != fre.Info {
				t.Errorf("%s: FRE at %s: info %#x, not %#x", name, fre.Address, info, fre.Info)
			}
		}
	}
}

// FuzzSFrameDumpJSON: for any section, the document is valid, and its size is bounded by its FDEs
// and FREs, each of which takes at least two bytes of the section.
func FuzzSFrameDumpJSON(f *testing.F) {
	for _, name := range []string{"amd64-v1", "arm64be-v2", "amd64-v3", "s390x-v3"} {
		data, err := os.ReadFile("../../../format/sframe/testdata/" + name + ".sframe")
		if err != nil {
			f.Fatal(err)
		}
		section, err := sframe.Open(data, 0)
		if err != nil {
			f.Fatal(err)
		}
		all, err := section.Contents()
		if err != nil {
			f.Fatal(err)
		}
		for some := range slices.Chunk(all.Functions, 1) {
			part := *all
			for i := range some { // inputs are small, since most of the time goes into the document
				some[i].Entries = some[i].Entries[:min(len(some[i].Entries), 2)]
			}
			part.Functions = some
			if data, err = part.Encode(0); err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		bounds.Hold(t, 32<<20+10_000*len(data), func() {
			sections, err := object.Read(bytes.NewReader(data), int64(len(data)))
			if err != nil {
				return
			}
			var b bytes.Buffer
			w := bufio.NewWriter(&b)
			dumpJSON(w, "fuzz", sections, 0)
			w.Flush()
			if !json.Valid(b.Bytes()) {
				t.Errorf("not JSON: %s", &b)
			}
			if limit := 1000 * (1 + len(data)); b.Len() > limit {
				t.Errorf("%d bytes made %d bytes of JSON", len(data), b.Len())
			}
		})
	})
}

// TestSFrameDumpHere compares with this machine's readelf, on an object of this machine's gcc.
func TestSFrameDumpHere(t *testing.T) {
	dir := t.TempDir()
	gdbtest.Assembler(t, "as")
	for _, args := range [][]string{
		{"-O2", "-mavx2", "../../../testdata/progs/steps.c", "-pthread"},
		{"-O0", "-static-pie", "../../../testdata/progs/mix.c", "-pthread", "-mavx2"},
		{"-O2", "-c", "../../../testdata/progs/mix.c", "-mavx2"},
	} {
		file := filepath.Join(dir, "a.out")
		if out, err := exec.Command("gcc", slices.Concat(gdbtest.Undo("gcc"), args, []string{"-w", "-Wa,--gsframe", "-o", file})...).CombinedOutput(); err != nil {
			t.Fatalf("gcc %v: %v\n%s", args, err, out)
		}
		if args[1] == "-c" { // add a second section of the same name
			bytes := filepath.Join(dir, "bytes")
			for _, args := range [][]string{
				{"--dump-section", ".sframe=" + bytes, file},
				{"--add-section", ".second=" + bytes, file},
				{"--rename-section", ".second=.sframe", file},
			} {
				if out, err := exec.Command("objcopy", args...).CombinedOutput(); err != nil {
					t.Fatalf("objcopy %v: %v\n%s", args, err, out)
				}
			}
		}
		want, err := exec.Command("readelf", "--sframe", file).Output()
		if err != nil || !bytes.Contains(want, []byte("func idx [10]")) {
			t.Fatalf("readelf: %v\n%s", err, want)
		}
		out, _, err := commandtest.Run("sframe", "dump", file)
		if !bytes.Contains(want, []byte("CFA fixed RA offset")) { // binutils before 2.43 do not show it
			out = regexp.MustCompile(`(?m)^ *CFA fixed RA offset: .*\n`).ReplaceAllString(out, "")
			out = regexp.MustCompile(`(?m) f( *)$`).ReplaceAllString(out, " u$1")
		}
		if err != nil || out != string(want) {
			t.Errorf("gcc %v: %v\n%s\nreadelf:\n%s", args, err, out, want)
		}
	}
}

// TestSFrameDumpErrors: errors are reported, and the readable parts are printed.
func TestSFrameDumpErrors(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(binaries + "mix-v3")
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	section := f.Section(".sframe")
	fde3 := section.Offset + 28 + 3*16
	f.ByteOrder.PutUint32(file[fde3+12:], 0x9f00) // where its FREs start
	bad := filepath.Join(t.TempDir(), "bad")
	if err := os.WriteFile(bad, file, 0o644); err != nil {
		t.Fatal(err)
	}
	const wantBad = "sframe: FDE 3: start of FREs 0x9f00 lies beyond the FRE sub-section (0x229 bytes), field at section offset 0x58"
	for _, tt := range []struct {
		args []string
		want string // the error's end
		some bool   // output is printed nevertheless
	}{
		{[]string{"/nowhere"}, "/nowhere: no such file or directory", false},
		{[]string{self}, "no .sframe section: assemble with -Wa,--gsframe, or make one with 'sfwalk sframe gen'", false},
		{[]string{"dump.go"}, "dump.go: not an ELF file", false},
		{[]string{"/"}, "/: not a regular file (d---------)", false},
		{[]string{binaries + "mix-v3", "--section", ".eh_frame"}, "no SFrame section is named .eh_frame", false},
		{[]string{bad}, wantBad, true},
		{[]string{bad, "--json"}, wantBad, true},
	} {
		out, _, err := commandtest.Run(append([]string{"sframe", "dump"}, tt.args...)...)
		if err == nil || !strings.HasSuffix(err.Error(), tt.want) || (out != "") != tt.some {
			t.Errorf("dump %v: %v, want %s\n%s", tt.args, err, tt.want, out)
		}
		text := len(tt.args) == 1
		if tt.some && (text && !strings.Contains(out, "idx [3]") || text && !strings.Contains(out, "idx [4]") || json.Valid([]byte(out)) == text) {
			t.Errorf("dump %v: %s", tt.args, out)
		}
	}
}

// TestSFrameDumpCut: a section of less than 1 MB, whose rows have two bytes each, has a document of
// 64 MiB, which says so. With --max-size, it has all rows.
func TestSFrameDumpCut(t *testing.T) {
	const funcs, rows = 1_900, 250
	order := binary.LittleEndian
	section := []byte{0xe2, 0xde, 2, 1, 3, 0, 0xf8, 0} // SFrame V2, section 2
	for _, v := range []uint32{funcs, funcs * rows, 2 * funcs * rows, 0, 20 * funcs} {
		section = order.AppendUint32(section, v)
	}
	for i := range uint32(funcs) {
		for _, v := range []uint32{0x100000 + 256*i, 256, 2 * rows * i, rows, 0} {
			section = order.AppendUint32(section, v)
		}
	}
	for i := range funcs * rows {
		section = append(section, byte(i%rows), 1) // no data words
	}
	path := filepath.Join(t.TempDir(), "tiny.sframe")
	if err := os.WriteFile(path, section, 0o600); err != nil {
		t.Fatal(err)
	}
	const row = `"mangled_ra":` // which each row has once
	out, _, err := commandtest.Run("sframe", "dump", "--json", path)
	if len(out) > 65<<20 || len(out) < 63<<20 || err == nil || !strings.Contains(err.Error(), "left out beyond 64 MiB of text: allow more by --max-size SIZE") {
		t.Errorf("%d bytes: %v", len(out), err)
	}
	out, _, err = commandtest.Run("sframe", "dump", "--json", "--max-size", "1M", path)
	var d struct{ Error string }
	if e := json.Unmarshal([]byte(out), &d); e != nil || err == nil || !strings.Contains(d.Error, "left out beyond 1 MiB") || len(out) > 1<<20+1<<14 {
		t.Errorf("%d bytes: %v, %v, %q", len(out), err, e, d.Error)
	}
	if out, _, _ = commandtest.Run("sframe", "dump", "--json", "--max-size", "1G", path); strings.Count(out, row) != funcs*rows {
		t.Errorf("with --max-size, %d rows", strings.Count(out, row))
	}
}
