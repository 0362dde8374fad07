package stacks_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/internal/command/files"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/targets"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target/core"
	"github.com/sfwalk/sfwalk/target/live"
	"github.com/sfwalk/sfwalk/target/snapshot"
)

// saved attaches to a process, as 'sfwalk attach --save' does, and returns the
// document and the snapshot's path.
func saved(t *testing.T, pid int, flags *report.Flags) (doc *report.Document, path string) {
	t.Helper()
	return savedBy(t, pid, live.Options{Timeout: 5 * time.Second}, flags)
}

func savedBy(t *testing.T, pid int, opts live.Options, flags *report.Flags) (doc *report.Document, path string) {
	t.Helper()
	s, err := targets.Process(context.Background(), pid, opts)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if doc, _, err = report.Collect(s, flags); err != nil {
		t.Fatal(err)
	}
	snapshot, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "snapshot")
	file, err := files.New("--save", path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Discard()
	if err := file.Write(snapshot); err != nil {
		t.Fatal(err)
	}
	return doc, path
}

// end kills a process and waits until it is gone.
func end(t *testing.T, p *gdbtest.Process) {
	t.Helper()
	if err := syscall.Kill(p.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	p.Exit(t)
}

// reopened returns the document of a snapshot, and the warnings.
func reopened(t *testing.T, path string, opts core.Options, flags *report.Flags) (*report.Document, []string) {
	t.Helper()
	s, err := targets.Snapshot(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	doc, warnings, err := report.Collect(s, flags)
	if err != nil {
		t.Fatal(err)
	}
	return doc, warnings
}

// asCore returns the document of the snapshot as a core file.
func asCore(t *testing.T, path string, opts core.Options, flags *report.Flags) *report.Document {
	t.Helper()
	s, err := targets.Core(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	doc, _, err := report.Collect(s, flags)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// equalAll is equalThreads, but also compares the names of the threads and the reasons why stacks
// end.
func equalAll(t *testing.T, got, want *report.Document) {
	t.Helper()
	equalThreads(t, got, want)
	for i := range min(len(got.Threads), len(want.Threads)) {
		g, w := &got.Threads[i], &want.Threads[i]
		if g.TID != w.TID || g.Name != w.Name || g.Error != w.Error || g.Whole != w.Whole {
			t.Errorf("thread %d %q (%s, whole %v), want %d %q (%s, whole %v)", g.TID, g.Name, g.Error, g.Whole, w.TID, w.Name, w.Error, w.Whole)
		}
	}
}

// The snapshot of a process that has died since shows what the process showed, frame by frame with
// all registers. Read as a core file it shows the same, and gdb reads the same from it.
func TestOpenIsAttach(t *testing.T) {
	for i, tt := range matrix {
		t.Run(tt.name, func(t *testing.T) {
			gdbtest.Share(t, i+1)
			p := commandtest.StartTarget(t, tt.src, tt.flags, tt.args)
			deep := tt.src == "recurse.c" // 20,000 frames
			flags := &report.Flags{Registers: !deep}
			want, path := saved(t, p.PID, flags)
			end(t, p)
			got, _ := reopened(t, path, core.Options{}, flags)
			equalAll(t, got, want)
			if got.PID != p.PID || got.Exe != want.Exe || got.Arch != want.Arch || *got.PauseUS != *want.PauseUS || got.Snapshot != path {
				t.Errorf("snapshot of %d, %s, %s, pause %d; want %d, %s, %s, %d", got.PID, got.Exe, got.Arch, *got.PauseUS, p.PID, want.Exe, want.Arch, *want.PauseUS)
			}
			equalThreads(t, asCore(t, path, core.Options{}, flags), want)
			if deep {
				out := gdbtest.Batch(t, []string{want.Exe, path}, "bt -1")
				frames := got.Threads[0].Frames
				main := slices.IndexFunc(frames, func(f report.Frame) bool { return f.Function == "main" })
				if main < 20000 || !strings.Contains(out, fmt.Sprintf("\n#%d ", frames[main].Level)) || !strings.Contains(out, " in main ") {
					t.Errorf("gdb's outermost frame: %s", out)
				}
				return
			}
			commandtest.CompareAll(t, got, gdbtest.BacktraceCore(t, p.PID, want.Exe, path))
		})
	}
}

// The dynamic linker's list, which gdb reads, has a library that dlopen has loaded.
func TestOpenDlopen(t *testing.T) {
	lib := gdbtest.Build(t, "plugin.c", append([]string{"-shared", "-fPIC"}, gdbtest.Plain...)...)
	p := commandtest.StartTarget(t, "dlopen.c", gdbtest.Plain, []string{lib})
	flags := &report.Flags{Registers: true}
	want, path := saved(t, p.PID, flags)
	end(t, p)
	got, warnings := reopened(t, path, core.Options{}, flags)
	equalAll(t, got, want)
	if len(warnings) > 0 {
		t.Errorf("warnings %q", warnings)
	}
	commandtest.CompareAll(t, got, gdbtest.BacktraceCore(t, p.PID, want.Exe, path))
}

// The program and one of its libraries were deleted while the process ran; then the process died.
// The snapshot has all that was shown, also names and lines.
func TestOpenDeleted(t *testing.T) {
	p, lib := withPlugin(t)
	flags := &report.Flags{Registers: true}
	exe := commandtest.Take(t, p.PID, flags).Exe
	if err := errors.Join(os.Remove(exe), os.Remove(lib)); err != nil {
		t.Fatal(err)
	}
	want, path := saved(t, p.PID, flags)
	end(t, p)
	got, _ := reopened(t, path, core.Options{}, flags)
	equalAll(t, got, want)
	equalThreads(t, asCore(t, path, core.Options{}, flags), want)
	if os.Geteuid() == 0 && !slices.ContainsFunc(got.Threads[0].Frames, func(f report.Frame) bool { return f.Function == "plugin_inner" && f.Line > 0 }) {
		t.Error("the deleted library's functions and lines are not known")
	}
	// Another file at a deleted file's path does not replace it.
	if err := os.WriteFile(lib, []byte("no library"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, _ = reopened(t, path, core.Options{}, flags)
	equalAll(t, got, want)
}

// withPlugin starts dlopen.c with plugin.c, both in a folder of their own.
func withPlugin(t *testing.T) (p *gdbtest.Process, lib string) {
	t.Helper()
	dir := t.TempDir()
	lib = filepath.Join(dir, "plugin.so")
	exe := filepath.Join(dir, "dlopen")
	commandtest.CopyFile(t, gdbtest.Build(t, "plugin.c", append([]string{"-shared", "-fPIC"}, gdbtest.Plain...)...), lib)
	commandtest.CopyFile(t, gdbtest.Build(t, "dlopen.c", gdbtest.Plain...), exe)
	return gdbtest.Start(t, exe, lib), lib
}

// A library that was replaced after the snapshot was saved is recognized and not used.
func TestOpenReplacedLater(t *testing.T) {
	p, lib := withPlugin(t)
	want, path := saved(t, p.PID, &report.Flags{})
	end(t, p)
	commandtest.CopyFile(t, gdbtest.Build(t, "plugin.c", "-shared", "-fPIC", "-O0"), lib)
	got, warnings := reopened(t, path, core.Options{}, &report.Flags{})
	id := ""
	for _, f := range want.Threads[0].Frames {
		if f.Module == lib {
			id = f.BuildID
		}
	}
	if text := strings.Join(warnings, "\n"); !strings.Contains(text, lib) || !strings.Contains(text, "mapped "+id) || id == "" {
		t.Errorf("warnings %q, want one of %s, mapped %s", warnings, lib, id)
	}
	for _, f := range got.Threads[0].Frames {
		if f.Module == lib && (f.BuildID != id || f.Line != 0) {
			t.Errorf("frame %+v is of the other library", f)
		}
	}
}

// On another machine, the files are in a folder.
func TestOpenSysroot(t *testing.T) {
	p, lib := withPlugin(t)
	flags := &report.Flags{Registers: true}
	want, path := saved(t, p.PID, flags)
	end(t, p)
	root := t.TempDir()
	for _, f := range want.Threads[0].Frames {
		if to := filepath.Join(root, f.Module); f.Module != "" {
			commandtest.CopyFile(t, f.Module, to)
		}
	}
	if err := errors.Join(os.Remove(want.Exe), os.Remove(lib)); err != nil {
		t.Fatal(err)
	}
	got, _ := reopened(t, path, core.Options{Sysroot: root}, flags)
	equalAll(t, got, want)
	// The program's library is found beside it.
	got, warnings := reopened(t, path, core.Options{Exe: filepath.Join(root, want.Exe)}, flags)
	equalAll(t, got, want)
	if len(warnings) > 0 {
		t.Errorf("warnings %q", warnings)
	}
	// Without its library, the stack differs, and a warning says so.
	if err := os.Remove(filepath.Join(root, lib)); err != nil {
		t.Fatal(err)
	}
	_, warnings = reopened(t, path, core.Options{Exe: filepath.Join(root, want.Exe)}, flags)
	if !slices.ContainsFunc(warnings, func(w string) bool { return strings.HasPrefix(w, lib+": ") }) {
		t.Errorf("warnings %q, want one of %s", warnings, lib)
	}
}

// A Go program has its threads' stacks in its heap, among many others.
func TestOpenGo(t *testing.T) {
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "gotarget"))
	p.Stop(t)
	want, path := saved(t, p.PID, &report.Flags{})
	end(t, p)
	got, warnings := reopened(t, path, core.Options{}, &report.Flags{})
	equalAll(t, got, want)
	if len(warnings) > 0 {
		t.Errorf("warnings %q", warnings)
	}
	c, err := core.Open(path, core.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if c.Note(core.FileNoteOwner, core.FileNote, 100) != nil {
		t.Error("the program, which is at its path, is in the snapshot")
	}
}

// Code of no file: the snapshot has the parts that were read. The calls must have the order of the
// source, jit.c.
func TestOpenJIT(t *testing.T) {
	p := gdbtest.Start(t, gdbtest.Build(t, "jit.c", "-g", "-O2", "-fno-omit-frame-pointer", "-Wa,--gsframe"))
	flags := &report.Flags{Registers: true}
	want, path := saved(t, p.PID, flags)
	end(t, p)
	got, _ := reopened(t, path, core.Options{}, flags)
	equalAll(t, got, want)
	var names []string
	for _, f := range got.Threads[0].Frames {
		names = append(names, f.Function)
	}
	i := slices.Index(names, "callback")
	if i < 0 || len(names) < i+3 || names[i+1] != "" || names[i+2] != "main" || !got.Threads[0].Whole {
		t.Fatalf("stack %q, %s %s", names, got.Threads[0].Stop, got.Threads[0].Error)
	}
	s, err := targets.Snapshot(path, core.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var made [4]byte // call *%rdi; leave; ret
	if n, err := s.Memory().ReadMemory(got.Threads[0].Frames[i+1].PC.V-2, made[:]); n != 4 || made != [4]byte{0xff, 0xd7, 0xc9, 0xc3} {
		t.Errorf("the code is % x, %v", made[:n], err)
	}
}

// TestSave checks the command's output, the file's mode, and that a file stays as it was if nothing
// can be written.
func TestSave(t *testing.T) {
	p := commandtest.StartDemo(t)
	pid := strconv.Itoa(p.PID)
	dir := t.TempDir()
	path := filepath.Join(dir, "snapshot")
	if _, _, err := commandtest.Run("attach", "2147483647", "--save", path); err == nil {
		t.Error("no error for a process that is not there")
	}
	shown, errOut, err := commandtest.Run("attach", pid, "--save", path, "--max-frames", "1")
	if err != nil || errOut != "" {
		t.Fatalf("%v\n%s", err, errOut)
	}
	if strings.Count(shown, "more frames follow") != 6 {
		t.Errorf("%s", shown)
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("%v in the folder, want the snapshot alone", files)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 || info.Size() > 4<<20 {
		t.Errorf("mode %v, %d bytes, %v", info.Mode(), info.Size(), err)
	}
	t.Logf("%d bytes", info.Size())
	out, errOut, err := commandtest.Run("open", path)
	if err != nil || errOut != "" {
		t.Fatalf("%v\n%s", err, errOut)
	}
	head, stacks, _ := strings.Cut(out, "\n")
	if !strings.HasPrefix(head, "Process "+pid+" (") || !strings.Contains(head, " as of 2") {
		t.Errorf("%q", head)
	}
	if strings.Contains(stacks, "more frames follow") || strings.Count(stacks, "Thread ") != 6 {
		t.Errorf("%s", stacks)
	}
	out, _, err = commandtest.Run("open", path, "--json", "--registers", "--explain")
	if err != nil {
		t.Fatal(err)
	}
	commandtest.InPage(t, "sfwalk open", out)

	// What would be the folder is a file; the path is a folder.
	for to, want := range map[string]string{filepath.Join(path, "snapshot"): "not a directory", dir: "it is a folder"} {
		if out, _, err := commandtest.Run("attach", pid, "--save", to); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "--save "+to) || out != "" {
			t.Errorf("--save %s: %v, %q", to, err, out)
		}
	}
	after, err := os.Stat(path)
	if err != nil || !os.SameFile(info, after) {
		t.Errorf("the snapshot is another file: %v", err)
	}
}

// A file that is no snapshot is refused, and the error says what to do instead.
func TestOpenErrors(t *testing.T) {
	p := gdbtest.Start(t, gdbtest.Build(t, "chain.c", gdbtest.Plain...))
	path := filepath.Join(t.TempDir(), "core")
	commandtest.GCore(t, p.PID, path)
	_, _, err := commandtest.Run("open", path)
	if !errors.Is(err, snapshot.ErrNotSnapshot) || !strings.Contains(fmt.Sprint(err), "'sfwalk core'") {
		t.Errorf("a core file: %v", err)
	}
	if _, _, err = commandtest.Run("open", "/nonexistent"); err == nil || err.Error() != "snapshot /nonexistent: no such file or directory" {
		t.Errorf("no file: %v", err)
	}
}
