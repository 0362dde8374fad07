package profile

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestSlowServer runs the commands of docs/recording.md that lead from a slow server to the line:
// they lead there.
func TestSlowServer(t *testing.T) {
	commandtest.CanRecord(t)
	text, err := os.ReadFile("../../../docs/recording.md")
	if err != nil {
		t.Fatal(err)
	}
	section := regexp.MustCompile(`(?s)\n## From a slow server to the line\n(.*?)\n## `).Find(text)
	commands := regexp.MustCompile(`(?m)^    (?:cc|\./server|while|sfwalk|go tool) .*$`).FindAllString(string(section), -1)
	if len(commands) != 10 {
		t.Fatalf("the section has the commands %q", commands)
	}
	examples, err := filepath.Abs("../../../examples")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.Symlink(examples, "examples"); err != nil {
		t.Fatal(err)
	}
	s := slowServer{t: t}
	var said []string
	for _, line := range commands {
		said = append(said, s.run(strings.TrimSpace(line)))
	}
	graph, err := os.ReadFile("slow.svg")
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`>server, 2\.0 s, [\d,]+ samples at 499 Hz(?:, [\d,]+ lost)?</text>`).Match(graph) {
		t.Errorf("the flame graph does not name the program, and what was recorded: %s", graph)
	}
	if !regexp.MustCompile(`<text [^>]*>find_article</text>`).Match(graph) {
		t.Errorf("the flame graph has no find_article: %s", graph)
	}
	list, page, difference := said[5], said[6], said[9]
	costly := regexp.MustCompile(`([\d.]+)(m?)s\s+\d+:\tif \(by_name\(`).FindStringSubmatch(strings.ReplaceAll(list, "\t\t", "\t"))
	whole := regexp.MustCompile(`\s([\d.]+)(m?)s \(flat, cum\) ([\d.]+)%`).FindStringSubmatch(list)
	if costly == nil || whole == nil || seconds(t, costly) < seconds(t, whole)/2 {
		t.Errorf("the loop's line is not the one with most of find_article's time: %s", list)
	} else if share, err := strconv.ParseFloat(whole[3], 64); err != nil || share < 50 {
		t.Errorf("find_article has %s%% of the time, %v", whole[3], err)
	}
	if !strings.Contains(page, "by_name(name, &amp;catalogue[i]) == 0") {
		t.Errorf("the page lacks the line: %s", page)
	}
	// On a busy machine, the fast server may have no sample, and then there is no "File: server".
	if !regexp.MustCompile(`(?m)\s-[\d.]+m?s\s+[\d.]+%\s+find_article`).MatchString(difference) {
		t.Errorf("find_article has not become faster: %s", difference)
	}
}

// seconds returns a time that pprof has written.
func seconds(t *testing.T, m []string) float64 {
	x, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	if m[2] != "" {
		x /= 1000
	}
	return x
}

// slowServer runs what a reader of docs/recording.md types.
type slowServer struct {
	t             *testing.T
	server        *exec.Cmd
	serve, client string // the commands that have started the server and its clients
	port          string
}

// run runs a command, and returns what it has written, or shown in a browser.
func (s *slowServer) run(line string) string {
	s.t.Helper()
	switch word, _, _ := strings.Cut(line, " "); word {
	case "./server":
		s.serve = line
		s.start()
	case "while":
		s.client = line
		clients := exec.Command("sh", "-c", strings.TrimSuffix(strings.ReplaceAll(line, "8080", s.port), "&"))
		if err := clients.Start(); err != nil {
			s.t.Fatal(err)
		}
		server := s.server.Process
		s.t.Cleanup(func() { server.Kill(); clients.Wait() }) // without the server they end
	case "sfwalk":
		line = strings.NewReplacer("4242", strconv.Itoa(s.server.Process.Pid), "4243", strconv.Itoa(s.server.Process.Pid), "-d 10s", "-d 2s -F 499").Replace(line)
		if strings.Contains(line, "--http") {
			b := browse(s.t, s.server.Process.Pid)
			var page string
			gdbtest.Await(s.t, "the page has the source", func() bool {
				page, _ = b.get("/source?f=find_article")
				return strings.Contains(page, "catalogue[i]")
			})
			return page
		}
		if _, said, err := commandtest.Run(strings.Fields(line)[1:]...); err != nil {
			s.t.Fatalf("%s: %v\n%s", line, err, said)
		}
	default:
		out, err := exec.Command("sh", "-c", line).Output()
		if err != nil {
			s.t.Fatalf("%s: %v\n%s", line, err, out)
		}
		if strings.Contains(line, "-DSORTED") {
			s.server.Process.Kill()
			s.server.Wait()
			s.run(s.serve)
			s.run(s.client)
		}
		return string(out)
	}
	return ""
}

// start starts the server, at a port that is free.
func (s *slowServer) start() {
	s.t.Helper()
	server := exec.Command("./server", "0")
	out, err := server.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { server.Process.Kill(); server.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	m := regexp.MustCompile(`^http://127\.0\.0\.1:(\d+)/`).FindStringSubmatch(line)
	if m == nil {
		s.t.Fatalf("the server has written %q, %v", line, err)
	}
	s.server, s.port = server, m[1]
}
