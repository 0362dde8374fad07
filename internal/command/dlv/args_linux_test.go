//go:build amd64 || arm64

package dlv

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// dlvHelp returns what the real dlv says of itself.
func dlvHelp(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command(gdbtest.ModuleTool(t, "dlv"), append([]string{"help"}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// Each verb of dlv's, and each of its flags, is there, or the guide says why not.
func TestDlvFlags(t *testing.T) {
	guide, err := os.ReadFile("../../../docs/editors.md")
	if err != nil {
		t.Fatal(err)
	}
	_, missing, ok := strings.Cut(string(guide), "\n## What `dlv` has, and `sfwalk dlv` has not\n")
	if !ok {
		t.Fatal("the guide does not say what is missing")
	}
	ours := New(nil, nil)
	_, list, _ := strings.Cut(dlvHelp(t), "Available Commands:\n")
	list, _, _ = strings.Cut(list, "\n\n")
	verbs, flags := regexp.MustCompile(`(?m)^ +(\w+) `).FindAllStringSubmatch(list, -1), 0
	for _, m := range verbs {
		if m[1] == "help" {
			continue
		}
		verb, _, err := ours.Find([]string{m[1]})
		if err != nil || verb == ours {
			if !strings.Contains(missing, "`"+m[1]+"`") {
				t.Errorf("sfwalk dlv %s is not there, and the guide does not say why", m[1])
			}
			continue
		}
		for _, f := range regexp.MustCompile(`(?m)^ +(?:-(\w), )?--([\w-]+)`).FindAllStringSubmatch(dlvHelp(t, m[1]), -1) {
			flags++
			got := verb.Flags().Lookup(f[2])
			if f[2] != "help" && got == nil && !strings.Contains(missing, "`--"+f[2]+"`") {
				t.Errorf("sfwalk dlv %s --%s is not there, and the guide does not say why", m[1], f[2])
			}
			if got != nil && f[1] != "" && got.Shorthand != f[1] {
				t.Errorf("sfwalk dlv %s --%s has the letter %q, with dlv %q", m[1], f[2], got.Shorthand, f[1])
			}
		}
	}
	if len(verbs) < 8 || flags < 60 {
		t.Errorf("only %d verbs and %d flags were compared", len(verbs), flags)
	}
}

// Flags stand before the verb or behind it.
func TestDlvFlagsBefore(t *testing.T) {
	for line, want := range map[string]string{
		"dlv --headless debug ./x -- --log":                       "dlv debug --headless ./x -- --log",
		"dlv --headless --listen 127.0.0.1:1 --log exec x":        "dlv exec --headless --listen 127.0.0.1:1 --log x",
		"dlv --listen=:1 -l :2 -l:3 attach 1 --log":               "dlv attach --listen=:1 -l :2 -l:3 1 --log",
		"dlv -r stdout:a --redirect b --build-flags -race test":   "dlv test -r stdout:a --redirect b --build-flags -race",
		"dlv --accept-multiclient=true --api-version 2 core x y":  "dlv core --accept-multiclient=true --api-version 2 x y",
		"dlv --help attach":                                       "dlv attach --help",
		"dlv --help":                                              "dlv --help",
		"dlv --headless":                                          "dlv",
		"dlv --headless atach 1":                                  "dlv atach 1",
		"dlv --debug-dir d --sniffers=dwarf attach 1":             "dlv attach --debug-dir d --sniffers=dwarf 1",
		"dlv attach --log 1":                                      "dlv attach --log 1",
		"dlv -":                                                   "dlv -",
		"dlv -- attach":                                           "dlv -- attach",
		"dlv --listen":                                            "dlv",
		"attach --log x 1":                                        "attach --log x 1",
		"dlv --client-addr :1 --log-dest 3 --log-output=rpc dap":  "dlv dap --client-addr :1 --log-dest 3 --log-output=rpc",
		"dlv --continue --accept-multiclient --wd / --tty t exec": "dlv exec --continue --accept-multiclient --wd / --tty t",
	} {
		args := strings.Fields(line)
		if got := BehindVerb(commandtest.New(args), args); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s: %q, want %s", line, got, want)
		}
	}
	for line, want := range map[string]string{
		"dlv --headless": "which command?", "dlv --headless atach": `there is no command "atach"`, "dlv --hedless exec x": "do you mean --headless?",
		"dlv exec x --continue": "--continue needs --accept-multiclient", "dlv exec x -r a -r stdin:b": "stdin is redirected twice", "dlv exec x -r stdout:": "a file is missing",
		"dlv exec x -r a --tty b": "exclude each other", "dlv exec x --backend rr": "want native",
	} {
		args := strings.Fields(line)
		root := commandtest.New(args)
		root.SetArgs(BehindVerb(root, args))
		if err := root.Execute(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}

// The program runs at once, with its files, as with the real dlv.
func TestDlvContinue(t *testing.T) {
	cat := gdbtest.Tool(t, "cat")
	dir := t.TempDir()
	in := filepath.Join(dir, "in")
	if err := os.WriteFile(in, []byte("a text\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := func(out string) []string {
		return []string{"--headless", "--accept-multiclient", "-r", in, "--redirect", "stdout:" + out, "exec", "--continue", cat}
	}
	copied := func(out string) bool {
		text, err := os.ReadFile(out)
		return err == nil && string(text) == "a text\n"
	}
	ours := filepath.Join(dir, "ours")
	server, _ := startDlv(t, args(ours)...)
	gdbtest.Await(t, "the program has copied its input", func() bool { return copied(ours) })
	if err := server.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := server.Wait(); err != nil {
		t.Error(err)
	}
	p := gdbtest.Start(t, gdbtest.Build(t, "chain.c"))
	server, addr := startDlv(t, "--continue", "--accept-multiclient", "attach", strconv.Itoa(p.PID))
	gdbtest.Await(t, "the process runs", func() bool { return traced(t, p.PID) && strings.Trim(p.States(t), "SR") == "" })
	if out := dlvConnect(t, addr, "stack", "quit -c"); !strings.Contains(out, "C.main") {
		t.Errorf("no stack:\n%s", out)
	}
	if err := server.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := server.Wait(); err != nil {
		t.Error(err)
	}
	gdbtest.Await(t, "the process to be let go", func() bool { return !traced(t, p.PID) && strings.Trim(p.States(t), "SR") == "" })

	theirs := filepath.Join(dir, "theirs")
	real := exec.Command(gdbtest.ModuleTool(t, "dlv"), args(theirs)...)
	if err := real.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { real.Process.Kill(); real.Wait() })
	gdbtest.Await(t, "the program has copied its input for dlv", func() bool { return copied(theirs) })
}
