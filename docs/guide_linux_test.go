package docs

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/sniffer"
)

// cloned is the first command of the guides. The clone is this checkout, by a link that the shell
// resolves: its packages are compiled already.
const cloned = "git clone https://github.com/sfwalk/sfwalk"

// TestWritingASniffer does what docs/writing-a-sniffer.md says, from the first line to the
// last: it writes the files, runs the commands and compares what they print.
func TestWritingASniffer(t *testing.T) {
	gdbtest.NeedAMD64(t)
	for _, tool := range []string{"go", "gcc", "protoc", "openssl", "sha256sum"} {
		gdbtest.Tool(t, tool)
	}
	checkout, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	// What a reader gets from elsewhere is here already: all other commands are run as they stand.
	g := guide{t: t, instead: map[string]string{}}
	for command, other := range map[string]string{
		cloned: "ln -s CHECKOUT sfwalk",
		"go install github.com/sfwalk/sfwalk/cmd/...@latest": "(cd CHECKOUT && go install ./cmd/...)",
		"go get github.com/sfwalk/sfwalk/plugin@latest": `
			cp CHECKOUT/go.sum . &&
			go mod edit -require=github.com/sfwalk/sfwalk@v0.0.0 -replace=github.com/sfwalk/sfwalk=CHECKOUT &&
			(GOPROXY=off go get github.com/sfwalk/sfwalk/plugin || go get github.com/sfwalk/sfwalk/plugin)`,
		"sudo apt-get install -qy python3-grpcio python3-protobuf protobuf-compiler openssl": `
			dpkg-query --show python3-grpcio python3-protobuf protobuf-compiler openssl`,
	} {
		g.instead[command] = strings.ReplaceAll(other, "CHECKOUT", checkout)
	}
	gdbtest.Later(t, "python3")
	if err := exec.Command("/usr/bin/python3", "-c", "import grpc, google.protobuf").Run(); err != nil {
		gdbtest.Missing(t, "python3-grpcio is not installed")
	}
	g.start()
	files, commands := g.follow("writing-a-sniffer.md")
	if files < 3 || commands < 20 || len(g.instead) > 0 {
		t.Errorf("the guide has only %d files and %d commands, or lacks the ones that are replaced: %q", files, commands, g.instead)
	}
	if out, err := exec.Command("gofmt", "-l", g.home+"/sniffer-twostacks").CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("gofmt: %v %s", err, out)
	}
}

// TestWritingADecorator does what docs/writing-a-decorator.md says.
func TestWritingADecorator(t *testing.T) {
	gdbtest.NeedAMD64(t)
	for _, tool := range []string{"go", "gcc", "sha256sum"} {
		gdbtest.Tool(t, tool)
	}
	checkout, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	g := guide{t: t, instead: map[string]string{cloned: "ln -s " + checkout + " sfwalk"}}
	g.start()
	if files, commands := g.follow("writing-a-decorator.md"); files < 3 || commands < 15 || len(g.instead) > 0 {
		t.Errorf("the guide has only %d files and %d commands, or lacks the ones that are replaced: %q", files, commands, g.instead)
	}
	for _, b := range blocks(readFile(t, "writing-a-decorator.md")) { // the example has the same files
		if name := map[string]string{"toy.c": "target/toy.c", "queue.toy": "target/queue.toy", "decorator-toy/main.go": "main.go"}[b.file]; name != "" {
			if readFile(t, "../examples/decorator-toy/"+name) != b.text {
				t.Errorf("line %d: %s is not %s of examples/decorator-toy", b.line, b.file, name)
			}
		}
	}
	if out, err := exec.Command("gofmt", "-l", g.home+"/decorator-toy").CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("gofmt: %v %s", err, out)
	}
}

// TestExample holds the example that the guide is of against it.
func TestExample(t *testing.T) {
	files := map[string]string{"twostacks.c": "target/twostacks.c", "sniffer-twostacks/main.go": "main.go"}
	for _, b := range blocks(readFile(t, "writing-a-sniffer.md")) {
		if name, ok := files[b.file]; ok {
			delete(files, b.file)
			if readFile(t, "../examples/sniffer-twostacks/"+name) != b.text {
				t.Errorf("writing-a-sniffer.md: line %d: %s is not %s of examples/sniffer-twostacks", b.line, b.file, name)
			}
		}
	}
	if len(files) > 0 {
		t.Errorf("writing-a-sniffer.md lacks %q", files)
	}
}

// TestEmbedding does what docs/embedding.md says, and holds the code that it shows against
// the example that it is of.
func TestEmbedding(t *testing.T) {
	gdbtest.NeedAMD64(t)
	for _, tool := range []string{"go", "gcc"} {
		gdbtest.Tool(t, tool)
	}
	checkout, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	g := guide{t: t, instead: map[string]string{
		cloned:     "ln -s " + checkout + " sfwalk",
		"go get .": "cp " + checkout + "/go.sum . && (GOPROXY=off go get . || go get .)", // most machines have the modules already
	}}
	g.start()
	if files, commands := g.follow("embedding.md"); files < 3 || commands < 4 || len(g.instead) > 0 {
		t.Errorf("the guide has only %d files and %d commands, or lacks the ones that are replaced: %q", files, commands, g.instead)
	}
}

// The guide on plug-ins shows the sniffers in their order.
func TestOrder(t *testing.T) {
	page := readFile(t, "writing-a-sniffer.md")
	var names []string
	for _, line := range strings.Split(page, "\n") {
		if strings.HasPrefix(line, "    ") && strings.Contains(line, " →") {
			for _, name := range strings.Split(line, "→") {
				if name = strings.TrimSpace(name); name != "" && name != "(plug-ins)" {
					names = append(names, name)
				}
			}
		}
	}
	if want := sniffer.Names(); !slices.Equal(names, want) {
		t.Errorf("writing-a-sniffer.md has %q, the order is %q", names, want)
	}
}

// follow does what a page says from the first line to the last, and returns how many
// files it has and how many commands.
func (g *guide) follow(page string) (files, commands int) {
	t := g.t
	for _, b := range blocks(readFile(t, page)) {
		switch {
		case slices.Contains([]string{"examples", "delve", "frame", "goroutine", "logical", "sniffer"}, strings.Split(b.file, "/")[0]): // of this repository
			files++
			if !strings.Contains(readFile(t, "../"+b.file), b.text) {
				t.Errorf("%s: line %d: this is not in %s:\n%s", page, b.line, b.file, b.text)
			}
		case b.file != "":
			files++
			if err := os.WriteFile(filepath.Join(g.home, b.file), []byte(b.text), 0o666); err != nil {
				t.Fatal(err)
			}
		case b.language == "console":
			commands += g.console(b)
		case b.language != "":
			t.Errorf("%s: line %d: a block of %s that nobody runs", page, b.line, b.language)
		}
	}
	return files, commands
}

// block is a fenced block: "```language file".
type block struct {
	language, file, text string
	line                 int // of its first line
}

func blocks(text string) (list []block) {
	in := false
	for i, line := range strings.Split(text, "\n") {
		fence, ok := strings.CutPrefix(line, "```")
		switch {
		case ok && !in:
			b := block{line: i + 2}
			b.language, b.file, _ = strings.Cut(fence, " ")
			list, in = append(list, b), true
		case ok:
			in = false
		case in:
			list[len(list)-1].text += line + "\n"
		}
	}
	return list
}

// guide is the reader of one.
type guide struct {
	t       *testing.T
	instead map[string]string // commands, and what is run in their place, once
	home    string
	shell   io.Writer
	output  *bufio.Reader
	pid     string // of the last program in the background
	inside  int    // frames that its C library has inside pause, without names where its debug file is not installed: none in older releases
}

// start starts the reader's shell, in a home that is empty, on a machine that has built sfwalk
// before.
func (g *guide) start() {
	t := g.t
	g.home = t.TempDir()
	env, err := exec.Command("go", "env", "GOMODCACHE", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	caches := strings.Fields(string(env))
	if len(caches) != 2 {
		t.Fatalf("go env: %q", env)
	}
	temp := filepath.Join(g.home, "tmp")
	if err := os.Mkdir(temp, 0o777); err != nil {
		t.Fatal(err)
	}
	shell := exec.Command("bash", "-o", "physical")
	shell.Dir = g.home
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	shell.Env = []string{"HOME=" + g.home, "TMPDIR=" + temp, "PATH=" + os.Getenv("PATH"), "GOMODCACHE=" + caches[0], "GOCACHE=" + caches[1],
		"GOFLAGS=-modcacherw", "GOTELEMETRY=off", "LC_ALL=C.UTF-8"}
	for _, name := range []string{"GOPROXY", "GOSUMDB", "GONOSUMDB", "GOTOOLCHAIN", "SSL_CERT_FILE", "HTTPS_PROXY", "https_proxy"} {
		if v, ok := os.LookupEnv(name); ok {
			shell.Env = append(shell.Env, name+"="+v)
		}
	}
	g.shell, err = shell.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	shell.Stdout, shell.Stderr = w, w
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	r.SetReadDeadline(gdbtest.Deadline(t))
	g.output = bufio.NewReader(r)
	t.Cleanup(func() {
		syscall.Kill(-shell.Process.Pid, syscall.SIGKILL) // with what it has left in the background
		shell.Wait()
		r.Close()
	})
}

// console runs the commands of a block, and returns how many there are.
func (g *guide) console(b block) (commands int) {
	command, line := "", 0
	var want []string
	run := func() {
		if command != "" {
			commands++
			g.run(command, line, want)
		}
		want = nil
	}
	for i, text := range strings.Split(strings.TrimSuffix(b.text, "\n"), "\n") {
		if next, ok := strings.CutPrefix(text, "$ "); ok {
			run()
			command, line = next, b.line+i
		} else {
			want = append(want, text)
		}
	}
	run()
	return commands
}

// late is a check's line that a plug-in in Python gets on a busy machine.
var late = regexp.MustCompile(`^FAIL +deadline `)

// shown runs one command once, and returns the lines that it prints, and its exit code.
func (g *guide) shown(run, command string, line int) (got []string, status string) {
	t := g.t
	t.Helper()
	// The mark must be at the beginning of a line.
	const mark = "guide: end of command "
	fmt.Fprintf(g.shell, "%s\n{ code=$?; echo; echo \"%s$code $!\"; } 2>&1\n", run, mark)
	for {
		text, err := g.output.ReadString('\n')
		if err != nil {
			t.Fatalf("line %d: %s: %v after\n%s", line, command, err, strings.Join(got, "\n"))
		}
		text = strings.TrimSuffix(text, "\n")
		if end, ok := strings.CutPrefix(text, mark); ok {
			status, g.pid, _ = strings.Cut(end, " ")
			if n := len(got) - 1; got[n] == "" {
				got = got[:n] // the mark's own, behind a whole line
			}
			return got, status
		}
		got = append(got, text)
	}
}

// run runs one command, and compares what it prints and how it ends.
func (g *guide) run(command string, line int, want []string) {
	t := g.t
	t.Helper()
	run := command
	if other, ok := g.instead[command]; ok {
		run = other
		delete(g.instead, command)
	}
	got, status := g.shown(run, command, line)
	for try := 1; try < 5 && slices.ContainsFunc(got, late.MatchString); try++ {
		got, status = g.shown(run, command, line)
	}
	if strings.HasSuffix(command, "&") {
		g.await()
	}
	wantStatus := 0
	for _, text := range want {
		if strings.HasPrefix(text, "stop: ") {
			wantStatus = 3 // some stack ended early
		}
	}
	if status != strconv.Itoa(wantStatus) {
		t.Fatalf("line %d: %s: exit code %s, want %d; it prints\n%s", line, command, status, wantStatus, strings.Join(got, "\n"))
	}
	got = inTime(g.without(got))
	if !g.match(want, got) {
		t.Errorf("line %d: %s prints\n%s\n\ninstead of\n%s", line, command, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// await waits until the program in the background rests, as it does when a reader has typed
// the next command.
func (g *guide) await() {
	gdbtest.Await(g.t, "process "+g.pid+" rests", func() bool {
		stat, err := os.ReadFile("/proc/" + g.pid + "/stat") // "PID (NAME) STATE ..."
		if err != nil {
			g.t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(stat), " (")
		name, state, _ := strings.Cut(rest, ") ")
		return name != "bash" && strings.HasPrefix(state, "S")
	})
}

var (
	inPause  = regexp.MustCompile(`^#\d+ +0x[0-9a-f]+ in (\?\?|__(internal_)?syscall_cancel(_arch)?\+0x[0-9a-f]+) \(.*/libc\.so\.6`)
	numbered = regexp.MustCompile(`^#\d+|": \d+ frames`)
)

// without takes the frames inside pause out of a stack, and numbers the others as if there were
// none.
func (g *guide) without(lines []string) (out []string) {
	if n := slices.IndexFunc(lines, inPause.MatchString); n >= 0 {
		g.inside = 0
		for _, line := range lines[n:] {
			if inPause.MatchString(line) {
				g.inside++
			} else if !strings.HasPrefix(line, "  ") {
				break
			}
		}
	}
	drop := false
	for _, line := range lines {
		drop = g.inside > 0 && (inPause.MatchString(line) || drop && strings.HasPrefix(line, "  "))
		if drop {
			continue
		}
		out = append(out, numbered.ReplaceAllStringFunc(line, func(s string) string {
			n, _ := strconv.Atoi(strings.Trim(s, "#\": frames"))
			if n < g.inside {
				return s // a task's frame: it is on no stack
			}
			return strings.Replace(s, strconv.Itoa(n), strconv.Itoa(n-g.inside), 1)
		}))
	}
	return out
}

// slow is a check's line that only a slow machine gets.
var slow = regexp.MustCompile(`^warn +(start .* the handshake comes after|deadline|[a-z-]+ .*: it begins after) `)

// inTime makes the checks pass that only a slow machine warns of.
func inTime(lines []string) []string {
	lines = slices.Clone(lines)
	for i, line := range lines {
		if slow.MatchString(line) {
			lines[i] = strings.Replace(line, "warn", "pass", 1)
			last := &lines[len(lines)-1]
			*last = warnings.ReplaceAllStringFunc(*last, func(s string) string {
				n, _ := strconv.Atoi(strings.Fields(s)[0])
				return fmt.Sprintf("%d warnings", n-1)
			})
		}
	}
	return lines
}

var warnings = regexp.MustCompile(`\d+ warnings`)

// match compares lines. "…" stands for anything, alone on a line for any lines.
func (g *guide) match(want, got []string) bool {
	if len(want) == 0 {
		return len(got) == 0
	}
	if strings.TrimSpace(want[0]) == "…" {
		for i := 0; i <= len(got); i++ {
			if g.match(want[1:], got[i:]) {
				return true
			}
		}
		return false
	}
	return len(got) > 0 && g.pattern(want[0]).MatchString(got[0]) && g.match(want[1:], got[1:])
}

// varies is what differs from run to run: addresses, checksums, times, counts; and anything.
var varies = regexp.MustCompile(`0x[0-9a-f]{6,}|\b[0-9a-f]{64}\b|\b[0-9.]+[mµ]?s\b|\b[0-9]+ (?:questions|requests)|…`)

// pattern makes a regular expression of a line.
func (g *guide) pattern(line string) *regexp.Regexp {
	line = strings.ReplaceAll(line, "4242", g.pid)
	text, from := "^", 0
	for _, at := range varies.FindAllStringIndex(line, -1) {
		text += regexp.QuoteMeta(line[from:at[0]])
		switch what := line[at[0]:at[1]]; {
		case what == "…":
			text += ".*"
		case strings.HasPrefix(what, "0x"):
			text += "0x[0-9a-f]+"
		case len(what) == 64:
			text += "[0-9a-f]{64}"
		case strings.Contains(what, " "):
			number := "[1-9][0-9]* "
			if what[0] == '0' {
				number = "0 "
			}
			text += number + what[strings.Index(what, " ")+1:]
		default:
			text += "[0-9.]+[mµ]?s"
		}
		from = at[1]
	}
	return regexp.MustCompile(text + regexp.QuoteMeta(line[from:]) + "$")
}
