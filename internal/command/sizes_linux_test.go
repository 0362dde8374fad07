package command_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/internal/gdbtest"
)

// bounded runs sfwalk on what was made to hurt, and holds it to what is promised: 256 MB of
// memory and 10 s of CPU time. It returns what is printed, and warnings and errors.
func bounded(t *testing.T, args ...string) (out, warnings string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "sfwalk")
	if err := os.Symlink(self, link); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr strings.Builder
	cmd := exec.Command(link, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := cmd.Process.Pid
	hangs := time.AfterFunc(2*time.Minute, func() { syscall.Kill(pid, syscall.SIGKILL) })
	defer hangs.Stop()
	cmd.Wait()
	u := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	t.Logf("%v: %d MB, %v", args, u.Maxrss>>10, cpu)
	if u.Maxrss > 256<<10 || cpu > 10*time.Second {
		t.Errorf("%v: %d MB of memory, %v of CPU time", args, u.Maxrss>>10, cpu)
	}
	return stdout.String(), stderr.String()
}

// sparse copies an ELF file of amd64 and makes sections of it holes of 2 GiB.
func sparse(t *testing.T, path string, sections ...string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	order := binary.LittleEndian
	at := uint64(1 << 20)
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
	if at == 1<<20 {
		t.Fatalf("%s has no sections %q", path, sections)
	}
	out := filepath.Join(t.TempDir(), "sparse")
	if err := os.WriteFile(out, data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(out, int64(at)); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestHoles: a section that is a hole in its file costs nothing, whoever reads it.
func TestHoles(t *testing.T) {
	program := gdbtest.Build(t, "recurse.c", "-g", "-O0")
	for _, sections := range [][]string{
		{".symtab"}, {".strtab", ".dynstr"}, {".shstrtab"}, {".eh_frame", ".dynsym"}, {".debug_info"},
		{".debug_abbrev", ".eh_frame_hdr", ".gnu.hash"}, {".debug_line", ".debug_str", ".note.gnu.build-id"}, {".debug_line_str", ".debug_aranges"},
	} {
		p := gdbtest.Start(t, sparse(t, program, sections...), "3")
		if out, _ := bounded(t, "attach", strconv.Itoa(p.PID)); strings.Count(out, "#") < 4 {
			t.Errorf("%v: %s", sections, out)
		}
	}
	out := filepath.Join(t.TempDir(), "out")
	bounded(t, "sframe", "gen", sparse(t, program, ".eh_frame"), "-o", out)
	mix := gdbtest.Testdata(t, "bin", "mix-v3")
	bounded(t, "sframe", "dump", sparse(t, mix, ".sframe"))
	bounded(t, "sframe", "verify", sparse(t, mix, ".eh_frame", ".symtab"))
}

// bomb is a core of one page and n MiB that pack well, packed by xz into less than 1 MB.
func bomb(t *testing.T, n int, args ...string) string {
	t.Helper()
	core, err := os.ReadFile("../../target/core/testdata/amd64-gdb.core")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "bomb")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd := exec.Command(gdbtest.Tool(t, args[0]), args[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in.Write(core)
	for block := bytes.Repeat([]byte("0123456789abcdef"), 1<<16); n > 0; n-- {
		in.Write(block)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestUnpackedCores: a core that unpacks to more than it should is refused before there is a file
// of it, or with none left; the user may allow more. The dictionary that it asks for is not
// allocated for the asking.
func TestUnpackedCores(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	few := bomb(t, 20, "xz", "-0", "-c")
	if out, warnings := bounded(t, "core", few, "--max-unpacked", "30M"); !strings.Contains(out, "#0") {
		t.Errorf("%s%s", out, warnings)
	}
	for _, args := range [][]string{{"xz", "-0", "-c"}, {"zstd", "-q", "-1", "-c"}, {"zstd", "-q", "--ultra", "-20", "--long=26", "-c"}} {
		if _, warnings := bounded(t, "core", bomb(t, 20, args...), "--max-unpacked", "16M"); !strings.Contains(warnings, "--max-unpacked") {
			t.Errorf("%v: %s", args, warnings)
		}
	}
	if _, warnings := bounded(t, "open", bomb(t, 700, "zstd", "-q", "-1", "-c")); !strings.Contains(warnings, "--max-unpacked") {
		t.Error(warnings)
	}
	data, err := os.ReadFile(few)
	if err != nil {
		t.Fatal(err)
	}
	header := data[12 : 12+4*(int(data[12])+1)]
	header[bytes.Index(header, []byte{0x21, 1})+2] = 40 // 4 GiB
	binary.LittleEndian.PutUint32(header[len(header)-4:], crc32.ChecksumIEEE(header[:len(header)-4]))
	if err := os.WriteFile(few, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, warnings := bounded(t, "core", few); !strings.Contains(out, "#0") {
		t.Errorf("%s%s", out, warnings)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left in the folder for temporary files: %v, %v", left, err)
	}
}
