package crash

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// crashLetters are the ways in which testdata/progs/windows/dumps.c crashes.
const crashLetters = "rwxdibe"

// TestOracleWindowsMinidumps: programs of Windows run under wine, and have its MiniDumpWriteDump
// write dumps: where they crash, and at instructions that chance has chosen. Stacks are held
// against the stacks that the program has noted by wine's own unwinder; threads, modules, reasons
// and addresses against Breakpad's tools.
func TestOracleWindowsMinidumps(t *testing.T) {
	gdbtest.NeedSoak(t)
	gdbtest.NeedAMD64(t)
	commandtest.InstallPackages(t, "wine wine64 gcc-mingw-w64-x86-64-posix")
	w := startWine(t)
	chance := rand.New(rand.NewPCG(3, 0))
	for _, flags := range [][]string{{"-O0"}, {"-O1"}, {"-O2"}, {"-O2", "-fno-omit-frame-pointer"}, {"-O3"}} {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			dir := t.TempDir()
			exe := filepath.Join(dir, "dumps.exe")
			build := append(flags, "-g", "-o", exe, gdbtest.Testdata(t, "progs", "windows", "dumps.c"), "-ldbghelp")
			if out, err := exec.Command(gdbtest.Tool(t, "x86_64-w64-mingw32-gcc"), build...).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			w.copyLibraries(t, dir)
			var sum windowsScore
			for _, letter := range crashLetters {
				args := []string{exe, "."}
				for range 3 {
					args = append(args, fmt.Sprint(chance.IntN(1<<chance.IntN(13))))
				}
				args = append(args, string(letter))
				cmd := w.command(dir, args...)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v: %v\n%s", args, err, out)
				}
				for _, name := range args[2:] {
					if _, err := os.Stat(filepath.Join(dir, name+".dmp")); err == nil { // else it has ended before
						compareWindows(t, filepath.Join(dir, name+".dmp"), &sum)
						os.Remove(filepath.Join(dir, name+".dmp"))
					} else if name == string(letter) {
						t.Errorf("%v: no dump", args)
					}
				}
			}
			t.Logf("%d dumps (in %d, wine itself goes astray), %d frames; minidump_stackwalk %v; sfwalk %v", sum.dumps, sum.astray, sum.frames, sum.peer, sum.own)
		})
	}
}

type windowsScore struct {
	dumps, astray, frames int
	peer, own             score
}

// wine is a Windows that wine makes, in a folder.
type wine struct{ env []string }

func startWine(t *testing.T) *wine {
	t.Helper()
	prefix := filepath.Join(t.TempDir(), "prefix")
	w := &wine{append(os.Environ(), "WINEPREFIX="+prefix, "WINEDEBUG=-all", "WINEDLLOVERRIDES=mscoree,mshtml=", "DISPLAY=")}
	server := gdbtest.Tool(t, "wineserver")
	t.Cleanup(func() {
		for _, what := range []string{"-k", "-w"} { // end what runs in this folder, and wait for it
			cmd := exec.Command(server, what)
			cmd.Env = w.env
			cmd.Run()
		}
	})
	if out, err := w.command("/", "wineboot", "-i").CombinedOutput(); err != nil {
		t.Fatalf("wineboot: %v\n%s", err, out)
	}
	return w
}

func (w *wine) command(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("wine", args...)
	cmd.Dir, cmd.Env = dir, w.env
	return cmd
}

// copyLibraries copies the libraries of that Windows beside the dumps.
func (w *wine) copyLibraries(t *testing.T, dir string) {
	t.Helper()
	for _, v := range w.env {
		prefix, ok := strings.CutPrefix(v, "WINEPREFIX=")
		if !ok {
			continue
		}
		for _, name := range []string{"ntdll", "kernel32", "kernelbase", "msvcrt", "ucrtbase"} {
			data, err := os.ReadFile(filepath.Join(prefix, "drive_c/windows/system32", name+".dll"))
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, name+".dll"), data, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// windowsNotes are what the program has noted.
type windowsNotes struct {
	thread uint64
	code   uint64
	stack  []uint64            // of the thread that crashed
	rests  map[uint64][]uint64 // of others, from the callers of the function in which they rest on
}

func readWindowsNotes(t *testing.T, path string) *windowsNotes {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n := &windowsNotes{rests: map[uint64][]uint64{}}
	resting := uint64(0)
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		v, err := strconv.ParseUint(f[1], 16, 64)
		if err != nil {
			t.Fatalf("%s: %q", path, line)
		}
		switch {
		case f[0] == "thread":
			n.thread = v
		case f[0] == "exception":
			n.code = v
		case f[0] == "rests":
			resting = v
		case f[0] == "frame" && resting != 0:
			n.rests[resting] = append(n.rests[resting], v)
		case f[0] == "frame":
			n.stack = append(n.stack, v)
		}
	}
	return n
}

var (
	dumpThread = regexp.MustCompile(`(?m)^MDRawThread\n  thread_id += 0x([0-9a-f]+)`)
	dumpModule = regexp.MustCompile(`(?s)MDRawModule\n  base_of_image += 0x([0-9a-f]+)\n  size_of_image += 0x([0-9a-f]+).*?\(code_file\) += "(.*?)"\n`)
	dumpCode   = regexp.MustCompile(`exception_record\.exception_code += 0x([0-9a-f]+)`)
	peerReason = regexp.MustCompile(`(?m)^Crash reason: +(.*)$`)
	peerFault  = regexp.MustCompile(`(?m)^Crash address: +0x([0-9a-f]+)`)
)

// compareWindows reads a dump with Breakpad's tools and with ours.
func compareWindows(t *testing.T, dump string, sum *windowsScore) {
	t.Helper()
	notes := readWindowsNotes(t, strings.TrimSuffix(dump, ".dmp")+".txt")
	name := filepath.Base(filepath.Dir(dump)) + "/" + filepath.Base(dump)
	raw, _ := exec.Command(gdbtest.Breakpad(t, "minidump_dump"), dump).Output()
	walked, _ := exec.Command(gdbtest.Breakpad(t, "minidump_stackwalk"), dump).Output()
	out, errOut, _ := commandtest.Run("minidump", dump, "--json")
	var doc struct {
		Crash struct {
			Reason, Address string
			TID             uint64
		}
		Threads []struct {
			TID    uint64
			Frames []struct {
				PC, Function, Sniffer string
				Guess                 bool
			}
		}
		Modules []struct{ Name, Base, End string }
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, errOut)
	}

	// What is in it.
	var threads, ours, modules, ourModules []string
	for _, m := range dumpThread.FindAllStringSubmatch(string(raw), -1) {
		threads = append(threads, m[1])
	}
	for _, x := range doc.Threads {
		ours = append(ours, fmt.Sprintf("%x", x.TID))
	}
	var code []uint64 // beginning and end of each module
	for _, m := range dumpModule.FindAllStringSubmatch(string(raw), -1) {
		base, _ := strconv.ParseUint(m[1], 16, 64)
		size, _ := strconv.ParseUint(m[2], 16, 64)
		code = append(code, base, base+size)
		modules = append(modules, fmt.Sprintf("%s %#016x %#016x", m[3], base, base+size))
	}
	for _, m := range doc.Modules {
		base, _ := strconv.ParseUint(m.Base, 0, 64)
		end, _ := strconv.ParseUint(m.End, 0, 64)
		ourModules = append(ourModules, fmt.Sprintf("%s %#016x %#016x", m.Name, base, end))
	}
	slices.Sort(threads)
	slices.Sort(ours)
	slices.Sort(modules)
	slices.Sort(ourModules)
	if len(threads) != 3 || !slices.Equal(threads, ours) {
		t.Errorf("%s: threads %v, minidump_dump has %v", name, ours, threads)
	}
	if len(modules) < 4 || !slices.Equal(modules, ourModules) {
		t.Errorf("%s: modules %v, minidump_dump has %v", name, ourModules, modules)
	}
	reason, fault, exception := peerReason.FindSubmatch(walked), peerFault.FindSubmatch(walked), dumpCode.FindSubmatch(raw)
	if reason == nil || fault == nil || exception == nil {
		t.Fatalf("%s: minidump_stackwalk has no reason:\n%s", name, walked)
	}
	if doc.Crash.Reason != string(reason[1]) || doc.Crash.Address != "0x"+strings.TrimLeft(string(fault[1]), "0") && strings.Trim(string(fault[1]), "0") != "" {
		t.Errorf("%s: %+v, minidump_stackwalk has %s at %s", name, doc.Crash, reason[1], fault[1])
	}
	if string(exception[1]) != fmt.Sprintf("%x", notes.code) || len(notes.rests) != 2 {
		t.Errorf("%s: exception %s, threads %v; the program has noted %+v", name, exception[1], threads, notes)
	}

	// Stacks.
	inCode := func(pc uint64) bool {
		for i := 0; i < len(code); i += 2 {
			if pc-1 >= code[i] && pc-1 < code[i+1] {
				return true
			}
		}
		return false
	}
	sum.dumps++
	if i := slices.IndexFunc(notes.stack, func(pc uint64) bool { return !inCode(pc) && pc != notes.stack[0] }); i >= 0 {
		// ___chkstk_ms of mingw saves registers, and has no unwind codes: wine takes what it has
		// saved for its caller.
		sum.astray++
		return
	}
	want := make([]stackFrame, len(notes.stack))
	for i, pc := range notes.stack {
		want[i].pc = pc
	}
	sum.frames += len(want)
	sum.peer.add(compareFrames(want, peerFramesOf(walked)))
	for i, x := range doc.Threads {
		var got []stackFrame
		guess := false
		text := ""
		for _, f := range x.Frames {
			pc, _ := strconv.ParseUint(f.PC, 0, 64)
			guess = guess || f.Guess
			got = append(got, stackFrame{pc: pc, guess: guess})
			text += fmt.Sprintf("%s %s by %s, guess: %v\n", f.PC, f.Function, f.Sniffer, f.Guess)
		}
		if i == 0 {
			own := compareFrames(want, got)
			sum.own.add(own)
			if x.TID != notes.thread || own.right != len(want) || own.wrong+own.guess > 0 {
				t.Errorf("%s: %v; thread %x\n%s\nthe program has noted\n%x", name, own, x.TID, text, notes)
			}
			if strings.Contains(crashLetters, filepath.Base(dump)[:1]) && !strings.Contains(text, " dies by") {
				t.Errorf("%s: dies() is not on the stack:\n%s", name, text)
			}
			continue
		}
		outer := notes.rests[x.TID]
		if len(outer) < 2 || len(got) < len(outer) {
			t.Errorf("%s: thread %x:\n%s\nthe program has noted %x", name, x.TID, text, outer)
			continue
		}
		for k, f := range got[len(got)-len(outer):] {
			if f.pc != outer[k] || f.guess {
				t.Errorf("%s: thread %x:\n%s\nthe program has noted %x", name, x.TID, text, outer)
				break
			}
		}
	}
}
