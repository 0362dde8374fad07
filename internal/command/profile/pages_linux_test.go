package profile

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// browsed is a recording that browsers can see.
type browsed struct {
	t    *testing.T
	cmd  *exec.Cmd
	addr string // http://HOST:PORT
	// token is what the printed address has, cookie what a browser has then.
	token, cookie string
}

// browse records a process until the test ends, and shows it.
func browse(t *testing.T, pid int, args ...string) *browsed {
	t.Helper()
	return browseCommand(t, append([]string{"record", strconv.Itoa(pid), "--http", "localhost:0", "-F", "499"}, args...)...)
}

// browseCommand runs a command that shows pages until the test ends.
func browseCommand(t *testing.T, args ...string) *browsed {
	t.Helper()
	cmd := exec.Command(filepath.Join(commandtest.Install(t, "sfwalk", "sfwalk-full"), "sfwalk"), args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	b := &browsed{t: t, cmd: cmd}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	m := regexp.MustCompile(`^See (http://127\.0\.0\.1:\d+)/\?(token=\w{20,})\n$`).FindStringSubmatch(line)
	if m == nil {
		t.Fatalf("%q, %v", line, err)
	}
	b.addr, b.token = m[1], m[2]
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Get(b.addr + "/?" + b.token)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	cookies := answer.Cookies()
	if len(cookies) != 1 || !cookies[0].HttpOnly || cookies[0].SameSite != http.SameSiteStrictMode || answer.Header.Get("Location") != "/" {
		t.Fatalf("the printed address gives %v", answer.Header)
	}
	b.cookie = cookies[0].Name + "=" + cookies[0].Value
	return b
}

// opened is the address of a page, as a browser without a cookie needs it.
func (b *browsed) opened(path string) string {
	if strings.Contains(path, "?") {
		return b.addr + path + "&" + b.token
	}
	return b.addr + path + "?" + b.token
}

// get returns a page, and its status.
func (b *browsed) get(path string, header ...string) (text string, status int) {
	b.t.Helper()
	return b.ask("GET", path, append([]string{"Cookie", b.cookie}, header...)...)
}

func (b *browsed) ask(method, path string, header ...string) (text string, status int) {
	b.t.Helper()
	r, err := http.NewRequest(method, b.addr+path, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		if r.Header.Set(header[i], header[i+1]); header[i] == "Host" {
			r.Host = header[i+1]
		}
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return string(data), answer.StatusCode
}

// samples returns how many samples the profile has that the pages show now.
func (b *browsed) samples() (n int64) {
	text, status := b.get("/download")
	if status != http.StatusOK {
		return 0 // there are no samples yet
	}
	p, err := profile.Parse(strings.NewReader(text))
	if err != nil {
		b.t.Fatal(err)
	}
	for _, s := range p.Sample {
		n += s.Value[0]
	}
	return n
}

// instructions returns the addresses of instructions, from a function's begin, and their names.
func instructions(lines []string, line *regexp.Regexp) (list []string) {
	first := int64(-1)
	for _, l := range lines {
		m := line.FindStringSubmatch(l)
		if m == nil {
			continue
		}
		addr, _ := strconv.ParseInt(m[1], 16, 64)
		if first < 0 {
			first = addr
		}
		list = append(list, fmt.Sprintf("%x %s", addr-first, m[2]))
	}
	return list
}

// A recording is shown while it goes on: each page has the samples so far. Its instructions are
// objdump's, and its source is the program's.
func TestRecordPages(t *testing.T) {
	commandtest.CanRecord(t)
	gdbtest.NeedAMD64(t)
	// By -I, the program, which is kept for other runs, belongs to these sources. The pages read
	// them.
	exe := gdbtest.Build(t, "shares.c", "-g", "-O2", "-pthread", "-I"+filepath.Dir(gdbtest.Testdata(t, "progs", "shares.c")))
	p := gdbtest.StartRunning(t, exe, "1", "5")
	b := browse(t, p.PID)
	early := int64(0)
	gdbtest.Await(t, "there are samples in half", func() bool {
		early = b.samples()
		text, _ := b.get("/top")
		return early > 0 && strings.Contains(text, `"half"`)
	})
	gdbtest.Await(t, "there are more samples", func() bool { return b.samples() > early })
	if text, status := b.get("/flamegraph"); status != http.StatusOK || !strings.Contains(text, "one_fifth") && !strings.Contains(text, "half") {
		t.Errorf("the flame graph: %d\n%s", status, text)
	}
	if text, status := b.get("/source?f=^half$"); status != http.StatusOK || !strings.Contains(html.UnescapeString(text), "WORK(half, 17)") {
		t.Errorf("the source: %d\n%s", status, text)
	}
	page, status := b.get("/disasm?f=^half$")
	if status != http.StatusOK {
		t.Fatalf("the disassembly: %d\n%s", status, page)
	}
	// "  2.33s  2.41s 55610709a310: push %r12   ;half shares.c:17"
	got := instructions(strings.Split(html.UnescapeString(page), "\n"), regexp.MustCompile(`^\s+\S+\s+\S+ ([0-9a-f]+): (\S+)`))
	objdump, err := exec.Command(gdbtest.Tool(t, "objdump"), "-d", "--no-show-raw-insn", "--disassemble=half", exe).Output()
	if err != nil {
		t.Fatal(err)
	}
	want := instructions(strings.Split(string(objdump), "\n"), regexp.MustCompile(`^\s+([0-9a-f]+):\t(\S+)`))
	// Releases of binutils write some suffixes, and name what fills the space between loops after
	// its prefixes; x86asm has one name for all moves.
	short := func(list []string) string {
		text := regexp.MustCompile(`(?m)(data16|data32|cs|nopw|nopl)$`).ReplaceAllString(strings.Join(list, "\n"), "nop")
		return regexp.MustCompile(`(?m)q$|abs$`).ReplaceAllString(text, "")
	}
	if len(want) < 10 || short(got) != short(want) {
		t.Errorf("the instructions are\n%s\nobjdump has\n%s", short(got), short(want))
	}
	if err := b.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := b.cmd.Wait(); err != nil {
		t.Errorf("at Ctrl-C: %v", err)
	}
	if err := syscall.Kill(p.PID, 0); err != nil {
		t.Error(err)
	}
}

// Other sites reach nothing, neither by a name of their own for this machine nor by a link; nor
// does who has no token. Nothing can be changed, not even pprof's settings.
func TestRecordPagesOfOthers(t *testing.T) {
	commandtest.CanRecord(t)
	settings := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", settings)
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "shares.c", "-O2", "-pthread"), "1", "5")
	b := browse(t, p.PID)
	gdbtest.Await(t, "there are samples", func() bool { return b.samples() > 0 })
	port := b.addr[strings.LastIndexByte(b.addr, ':'):]
	for _, tt := range []struct {
		path   string
		header []string
		want   int
	}{
		{"/top", []string{"Host", "evil.example" + port}, http.StatusForbidden},
		{"/top", []string{"Host", "localhost" + port}, http.StatusOK},
		{"/top", []string{"Host", "[::1]" + port}, http.StatusOK},
		{"/top", []string{"Cookie", ""}, http.StatusForbidden},
		{"/top", []string{"Cookie", b.cookie[:len(b.cookie)-1]}, http.StatusForbidden},
		{"/top", []string{"Cookie", b.cookie + "x"}, http.StatusForbidden},
		{"/top?token=x", []string{"Cookie", ""}, http.StatusForbidden},
		{"/top?" + b.token, []string{"Cookie", "", "Host", "evil.example" + port}, http.StatusForbidden},
		{"//evil.example/?" + b.token, nil, http.StatusNotFound},
		{"/saveconfig?config=x", []string{"Sec-Fetch-Site", "cross-site"}, http.StatusForbidden},
		{"/saveconfig?config=x", []string{"Sec-Fetch-Site", "same-site"}, http.StatusForbidden},
		{"/saveconfig?config=x", []string{"Origin", "http://evil.example"}, http.StatusForbidden},
		{"/saveconfig?config=x", nil, http.StatusForbidden},
		{"/deleteconfig?config=x", nil, http.StatusForbidden},
		{"/top", []string{"Sec-Fetch-Site", "same-origin", "Origin", b.addr}, http.StatusOK},
		{"/debug/pprof/", nil, http.StatusNotFound},
	} {
		if text, status := b.get(tt.path, tt.header...); status != tt.want || status != http.StatusOK && len(text) > 200 {
			t.Errorf("%s %q: %d, want %d: %s", tt.path, tt.header, status, tt.want, text)
		}
	}
	for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS", "HEAD"} {
		if _, status := b.ask(method, "/saveconfig?config=x", "Cookie", b.cookie); status != http.StatusMethodNotAllowed {
			t.Errorf("%s: %d", method, status)
		}
	}
	if list, err := os.ReadDir(settings); err != nil || len(list) > 0 {
		t.Errorf("settings are written: %v, %v", list, err)
	}
}

// Of this machine's users, the one who records has the pages, and the one who has become root by
// sudo.
func TestRecordPagesOfOtherUsers(t *testing.T) {
	commandtest.CanRecord(t)
	gdbtest.NeedRoot(t)
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "shares.c", "-O2", "-pthread"), "1", "5")
	for _, sudo := range []string{"", "65534", "65533"} {
		t.Setenv("SUDO_UID", sudo)
		b := browse(t, p.PID)
		gdbtest.Await(t, "there are samples", func() bool { return b.samples() > 0 })
		port := b.addr[strings.LastIndexByte(b.addr, ':')+1:]
		cmd := exec.Command(gdbtest.Tool(t, "bash"), "-c", `exec 3<>/dev/tcp/127.0.0.1/$0; printf 'GET /top HTTP/1.0\r\nHost: localhost\r\nCookie: %s\r\n\r\n' "$1" >&3; cat <&3`, port, b.cookie)
		cmd.Dir, cmd.SysProcAttr = "/", &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		out, _ := cmd.CombinedOutput()
		if got := strings.Contains(string(out), "200 OK"); got != (sudo == "65534") || !got && strings.Contains(string(out), "HTTP") {
			t.Errorf("SUDO_UID=%s: another user is told: %s", sudo, out)
		}
	}
}

// With --base, the pages show differences: what both profiles have as much of is nothing.
func TestRecordPagesBase(t *testing.T) {
	commandtest.CanRecord(t)
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "shares.c", "-O2", "-pthread"), "1", "5")
	base := filepath.Join(t.TempDir(), "base.pb.gz")
	gdbtest.Await(t, "there are samples", func() bool {
		_, said, err := commandtest.Run("record", strconv.Itoa(p.PID), "-d", "200ms", "-F", "499", "-o", base)
		if err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
		return !strings.HasPrefix(said, "0 samples")
	})
	b := browse(t, p.PID, "--base", base)
	gdbtest.Await(t, "the differences have both signs", func() bool {
		text, status := b.get("/download")
		if status != http.StatusOK {
			return false
		}
		x, err := profile.Parse(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		var less, more bool
		for _, s := range x.Sample {
			less, more = less || s.Value[0] < 0 && s.DiffBaseSample(), more || s.Value[0] > 0 && !s.DiffBaseSample()
		}
		return less && more
	})
}

// A file of perf's is shown as a recording is, with differences if they are asked for, until
// Ctrl-C.
func TestPerfPages(t *testing.T) {
	exe := gdbtest.Build(t, "shares.c", "-g", "-O2", "-pthread", "-I"+filepath.Dir(gdbtest.Testdata(t, "progs", "shares.c")))
	file := perfRecorded(t, exe, "-e", "cpu-clock", "--call-graph", "dwarf")
	base := filepath.Join(t.TempDir(), "base.pb.gz")
	if _, said, err := commandtest.Run("perf", file, "-o", base); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	b := browseCommand(t, "perf", file, "--http", "localhost:0")
	data, err := os.ReadFile(base)
	if err != nil {
		t.Fatal(err)
	}
	want, err := profile.ParseData(data)
	if err != nil {
		t.Fatal(err)
	}
	all := int64(0)
	for _, s := range want.Sample {
		all += s.Value[0]
	}
	if n := b.samples(); n != all || n < 50 {
		t.Errorf("the pages have %d samples, the profile %d", n, all)
	}
	for path, want := range map[string]string{"/top": `"half"`, "/source?f=^half$": "WORK(half, 17)", "/disasm?f=^half$": "xor"} {
		if text, status := b.get(path); status != http.StatusOK || !strings.Contains(html.UnescapeString(text), want) {
			t.Errorf("%s: %d\n%s", path, status, text)
		}
	}
	if err := b.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := b.cmd.Wait(); err != nil {
		t.Errorf("at Ctrl-C: %v", err)
	}
	text, status := browseCommand(t, "perf", file, "--http", "localhost:0", "--base", base).get("/download")
	x, err := profile.Parse(strings.NewReader(text))
	if err != nil || status != http.StatusOK {
		t.Fatalf("%d: %v", status, err)
	}
	before, sum := int64(0), int64(0)
	for _, s := range x.Sample {
		if sum += s.Value[0]; s.DiffBaseSample() {
			before -= s.Value[0]
		}
	}
	if sum != 0 || before != all {
		t.Errorf("the difference to itself is %d samples, of %d before", sum, before)
	}
}

// A browser draws the flame graph: its boxes have the functions' names.
func TestRecordPagesInBrowser(t *testing.T) {
	commandtest.CanRecord(t)
	if os.Getenv("SFWALK_SOAK") == "" {
		gdbtest.Cannot(t, "SFWALK_SOAK is not set: a browser is large")
	}
	chromium := gdbtest.Tool(t, "chromium")
	gdbtest.Tool(t, "dot")
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "shares.c", "-g", "-O2", "-pthread", "-I"+filepath.Dir(gdbtest.Testdata(t, "progs", "shares.c"))), "1", "5")
	b := browse(t, p.PID)
	gdbtest.Await(t, "there are samples in one_fifth", func() bool {
		text, _ := b.get("/top")
		return strings.Contains(text, `"one_fifth"`)
	})
	for path, want := range map[string]string{
		"/flamegraph": `(?s)<div class="boxtext">one_fifth</div>|>one_fifth<`, "/graph": `<text[^>]*>one_fifth</text>`, "/top": `<td[^>]*>one_fifth</td>`, "/source?f=one_fifth": `WORK\(one_fifth, 19\)`,
	} {
		args := []string{"--headless", "--no-sandbox", "--disable-gpu", "--window-size=1200,800", "--user-data-dir=" + t.TempDir(), "--virtual-time-budget=5000", "--dump-dom", b.opened(path)}
		out, err := exec.Command(chromium, args...).Output()
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if !regexp.MustCompile(want).Match(out) {
			t.Errorf("%s: want %s\n%s", path, want, out)
		}
		if shots := os.Getenv("SFWALK_SCREENSHOTS"); shots != "" { // for a person to look at
			shot := filepath.Join(shots, regexp.MustCompile(`\W`).ReplaceAllString(path, "")+".png")
			if out, err := exec.Command(chromium, append(args[:len(args)-2], "--screenshot="+shot, b.opened(path))...).CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", path, err, out)
			}
		}
	}
}
