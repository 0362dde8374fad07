package command

import (
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/gdbtest"
)

// Variables that gcc keeps in registers of AVX-512 alone have the values that the source gives them. gdb 13 is no
// oracle: it does not find most of these registers by DWARF's numbers, and on AMD's processors takes others for the
// rest.
func TestLocalsAVX512(t *testing.T) {
	gdbtest.NeedFlag(t, "avx512bw")
	p := gdbtest.Start(t, gdbtest.Build(t, "avx512locals.c", "-g", "-O2", "-mavx512f", "-mavx512bw", "-mavx512vl"))
	saved := t.TempDir() + "/snapshot"
	stdout, stderr, err := execute(newAttach(nil), strconv.Itoa(p.PID), "--locals", "--frame", "waits", "--save", saved)
	if err != nil {
		t.Fatal(err, stderr)
	}
	later, stderr, err := execute(newOpen(nil), saved, "--locals", "--frame", "waits")
	if err != nil {
		t.Fatal(err, stderr)
	}
	for _, want := range []string{"low = 3.5", "wide = {1, 2, 3, 4, 5, 6, 7, 8}", "half = {1, -2, 3, -4}",
		"upper = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}", "mask = 12379813738877118345"} {
		for _, got := range []string{stdout, later} {
			if !strings.Contains(got, "        "+want+"\n") {
				t.Errorf("no %s in\n%s", want, got)
			}
		}
	}
}

// A call that changes all registers of AVX-512 leaves them to the program as they were.
func TestCallKeepsAVX512(t *testing.T) {
	gdbtest.NeedFlag(t, "avx512bw")
	for _, test := range []struct {
		name  string
		build func(t testing.TB, src string, flags ...string) string
	}{{"amd64", gdbtest.Build}, {"386", gdbtest.Build386}} {
		t.Run(test.name, func(t *testing.T) {
			p := gdbtest.Start(t, test.build(t, "avx512.c", "-O1", "-g"))
			if stdout, stderr, err := execute(newCall(nil), strconv.Itoa(p.PID), "change(41)"); stdout != "42\n" || err != nil {
				t.Errorf("%s, %v %s", stdout, err, stderr)
			}
			p.Stdin.Close()
			if said, err := p.Stdout.ReadString('\n'); said != "same\n" {
				t.Errorf("the program says of its registers: %q, %v", said, err)
			}
		})
	}
}

// The same through gdbserver, which has these registers, or others in their place: then a warning says so. Vectors
// of 64 bytes are passed as the program does, or not at all.
func TestRemoteCallAVX512(t *testing.T) {
	gdbtest.NeedFlag(t, "avx512bw")
	if why := gdbtest.CannotWrite(t, "gdbserver"); why != "" {
		gdbtest.Cannot(t, why)
	}
	settings := gdbtest.Writing(t, "gdbserver")
	const misplaced = "gdbserver before release 15 does not know where this processor has"
	p := gdbtest.Start(t, gdbtest.Build(t, "avx512.c", "-O1", "-g"))
	call := func(text string) (stdout, stderr string, err error) {
		return execute(newRemote(nil), "--call", text, "--resume", "localhost:"+gdbserver(t, p.PID, settings...))
	}
	stdout, stderr, err := call("change(41)")
	if stdout != "42\n" || err != nil {
		t.Errorf("%s, %v %s", stdout, err, stderr)
	}
	p.Stdin.Close()
	if said, err := p.Stdout.ReadString('\n'); said != "same\n" && !strings.Contains(stderr, "stays changed: "+misplaced) {
		t.Errorf("the program says of its registers: %q, %v; we say %q", said, err, stderr)
	}

	program := vectorProgram(t, "-O1 -mavx512f")
	want := vectorsSaid(t, program)[9]
	p = gdbtest.Start(t, program)
	stdout, stderr, err = call("add8(3, make8(1.5), 0.25, make8(40.0))")
	got := strings.TrimSuffix(stdout, "\n")
	refused := err != nil && got == "" && strings.Contains(err.Error(), misplaced)
	if !refused && (err != nil || !sameNumbers(got, want)) {
		t.Errorf("%s, %v %s, want %s", got, err, stderr, want)
	}
	p.Rest(t)
}
