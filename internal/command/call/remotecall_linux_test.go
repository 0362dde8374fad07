package call

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/inferior"
	stubbed "github.com/sfwalk/sfwalk/inferior/stub"
	"github.com/sfwalk/sfwalk/internal/command/calls"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/guesttest"
	"github.com/sfwalk/sfwalk/target/remote"
)

// atMainPy connects gdb to a guest, and runs it to main.
const atMainPy = `
gdb.execute("set osabi GNU/Linux")
gdb.execute("target remote " + PARAMS["stub"], to_string=True)
gdb.Breakpoint("*main", temporary=True)
gdb.execute("continue", to_string=True)
`

// On arm64 and s390x, values that functions return are as gdb shows them: of 320 generated
// functions each, and of some more.
func TestRemoteCallsAsGDB(t *testing.T) {
	for i, processor := range []*guesttest.Processor{guesttest.ARM64, guesttest.S390X} {
		for k, level := range []string{"-O0", "-O2"} {
			t.Run(processor.Triple+level, func(t *testing.T) {
				gdbtest.Share(t, 2*i+k)
				t.Parallel()
				gdbtest.File(t, "/usr/"+processor.Triple+"/lib/libc.a")
				src, expressions, oracle := generateCalls(t, level, 160)
				path := gdbtest.Compile(t, src, gdbtest.Tool(t, processor.Triple+"-gcc"), "-g", level, "-w", "-fwrapv", "-fno-ipa-icf", "-static")
				guest := &guesttest.Guest{Processor: processor, Path: path}
				ours := callsOfGuest(t, guest, expressions)
				script := gdbtest.StartScript(t, "gdb-multiarch", atMainPy+evaluatePy, map[string]any{"expressions": oracle, "names": map[string]string{}, "stub": guest.Serve(t)}, path)
				compareCalls(t, script, expressions, ours)
			})
		}
	}
}

// callsOfGuest evaluates expressions at the beginning of a guest's main, by its stub.
func callsOfGuest(t *testing.T, guest *guesttest.Guest, expressions []string) (values []string) {
	t.Helper()
	addr := "unix:" + guest.Serve(t)
	p, err := stubbed.Dial(t.Context(), addr, remote.Options{Exe: guest.Path})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	toMain(t, p)
	cmd := &cobra.Command{}
	cmd.SetContext(t.Context())
	var stdout, stderr bytes.Buffer
	cmd.SetOut(&stdout)
	cmd.SetErr(&stderr)
	err = calls.RemoteCallee(p, addr, "").Evaluate(cmd, expressions, &calls.Flags{}, func() (inferior.Thread, error) { return p.Inferiors()[0], nil })
	values = strings.Split(strings.TrimSuffix(stdout.String(), "\n"), "\n")
	if err != nil || stderr.Len() > 0 || len(values) != len(expressions) {
		t.Fatalf("%d values of %d: %v %s %q", len(values), len(expressions), err, &stderr, values)
	}
	return values
}

// toMain runs a guest to its main function.
func toMain(t *testing.T, p *stubbed.Process) {
	t.Helper()
	im, bias, err := p.Modules().All()[0].Image()
	if err != nil {
		t.Fatal(err)
	}
	at := im.Lookup("main", 1)[0].Addr + bias
	if err := p.SetBreakpoint(at); err != nil {
		t.Fatal(err)
	}
	if err := p.Resume(inferior.Resume{}); err != nil {
		t.Fatal(err)
	}
	if e, err := p.Wait(t.Context()); err != nil || e.Kind != inferior.Breakpoint {
		t.Fatalf("%+v, %v", e, err)
	}
	if err := p.ClearBreakpoint(at); err != nil {
		t.Fatal(err)
	}
}

// A gdbserver's process calls functions, as a process of this machine does.
func TestRemoteCall(t *testing.T) {
	why := gdbtest.CannotWrite(t, "gdbserver")
	n, all := remoteCalls(t, why != "", gdbtest.Writing(t, "gdbserver")...)
	if why != "" {
		gdbtest.NoOracle(t, n, all, why, "the error that such a gdbserver must give")
	}
}

// A gdbserver that cannot write vector registers, and says OK, makes no calls.
func TestRemoteCallRefused(t *testing.T) {
	remoteCalls(t, true, gdbtest.RefuseVectors(t)...)
}

// remoteCalls makes calls with a gdbserver, which has settings in its environment. refused says
// that it can make none. It returns how many cases are of that.
func remoteCalls(t *testing.T, refused bool, settings ...string) (n, all int) {
	p := gdbtest.Start(t, gdbtest.Build(t, "held.c", "-O1", "-g", "-pthread"), "read", "3")
	for _, test := range []struct {
		args   []string
		stdout string
		err    string
	}{
		{[]string{"--call", "getpid()"}, fmt.Sprintln(p.PID), ""},
		{[]string{"--call", "add(40, 2)", "--call", "half($1)", "--alone"}, "42\n21\n", ""},
		{[]string{"--call", "(int) gettid()", "--tid", strconv.Itoa(other(t, p.PID))}, fmt.Sprintln(other(t, p.PID)), ""},
		{[]string{"--call", `(void *) dlopen("libm.so.6", 2)`, "--call", "(double) pow(2.0, 10.0)"}, "\n1024\n", ""},
		{[]string{"--call", "crash()"}, "<function called from sfwalk>", "the function was ended by SIGSEGV (address 0x8); the thread was put back"},
		{[]string{"--call", "nosuch()"}, "", "No symbol \"nosuch\""},
		{[]string{"--call", "getpid("}, "", "--call: "},
		{[]string{"--call", "getpid()", "--tid", "1"}, "", "--tid 1: the target has no such thread"},
		{[]string{"--alone"}, "", "are for --call"},
	} {
		all++
		if refused && (test.err == "" || strings.Contains(test.err, "SIGSEGV")) {
			n++
			test.stdout, test.err = "", "answers OK to a write that it has not made when the thread runs: register xmm0: "
		}
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			stdout, stderr, err := commandtest.Run(append(append([]string{"remote"}, test.args...), "--resume", "localhost:"+commandtest.GDBServer(t, p.PID, settings...))...)
			switch {
			case test.err == "" && (err != nil || stdout != test.stdout && (test.stdout[0] != '\n' || !strings.HasSuffix(stdout, test.stdout))):
				t.Errorf("%s%s%v, want %s", stdout, stderr, err, test.stdout)
			case test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err) || !strings.Contains(stdout, test.stdout)):
				t.Errorf("%s%s%v, want %s and %s", stdout, stderr, err, test.stdout, test.err)
			}
		})
	}
	p.Rest(t)
	return n, all
}

// other returns a thread of a process that is not the main one.
func other(t *testing.T, pid int) (tid int) {
	t.Helper()
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		t.Fatal(err)
	}
	tid, _ = strconv.Atoi(tasks[len(tasks)-1].Name())
	return tid
}
