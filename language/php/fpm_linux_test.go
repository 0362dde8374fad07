package php_test

import (
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language/php"
)

// TestWorkers attaches to workers of PHP-FPM: one serves a request, which is said; the other one
// waits for requests.
func TestWorkers(t *testing.T) {
	gdbtest.Later(t, "php-fpm")
	servers, _ := filepath.Glob("/usr/sbin/php-fpm*")
	if len(servers) == 0 {
		gdbtest.Missing(t, "php-fpm")
	}
	dir := t.TempDir()
	script, err := os.ReadFile(filepath.Join("testdata", "slow.php"))
	if err != nil {
		t.Fatal(err)
	}
	put := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	file, socket := put("slow.php", string(script)), filepath.Join(dir, "fpm")
	settings := put("fpm.conf", fmt.Sprintf("[global]\nerror_log=%[1]s/log\ndaemonize=no\n[www]\nuser=root\ngroup=root\nlisten=%[2]s\npm=static\npm.max_children=2\n", dir, socket))
	p := gdbtest.StartRunning(t, "/bin/sh", "-c", `echo ready; exec "$@"`, "sh", servers[0], "-n", "-F", "-R", "-y", settings)
	t.Cleanup(func() { syscall.Kill(-p.PID, syscall.SIGKILL) }) // the workers, too
	var to net.Conn
	gdbtest.Await(t, "the server listens", func() bool {
		to, err = net.Dial("unix", socket)
		return err == nil
	})
	defer to.Close()
	if _, err := to.Write(request(map[string]string{
		"SCRIPT_FILENAME": file, "SCRIPT_NAME": "/shop/slow.php", "REQUEST_METHOD": "GET", "QUERY_STRING": "from=3",
		"REQUEST_URI": "/shop/all?from=%33",
	})); err != nil {
		t.Fatal(err)
	}
	pid := 0
	gdbtest.Await(t, "a worker runs the script", func() bool {
		text, _ := os.ReadFile(filepath.Join(dir, "pid"))
		pid, _ = strconv.Atoi(string(text))
		return pid != 0
	})
	var workers []string
	gdbtest.Await(t, "the server has both workers", func() bool {
		children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", p.PID, p.PID))
		workers = strings.Fields(string(children))
		return len(workers) == 2
	})
	for _, w := range workers {
		worker, _ := strconv.Atoi(w)
		d := languagetest.Attach(t, worker, php.Decorator{}, nil)[worker]
		if worker != pid {
			if d.Said != nil {
				t.Errorf("the worker that waits: %+v", d.Said)
			}
			continue
		}
		gdbtest.Await(t, "the worker sleeps", func() bool {
			d = languagetest.Attach(t, worker, php.Decorator{}, nil)[worker]
			return len(d.Frames()) > 0 && d.Frames()[0].Function == "sleep"
		})
		want := fmt.Sprintf("sleep :0 native\nShop\\report %[1]s:7 \n{main} %[1]s:10 \n", file)
		if got := list(d.Frames()); got != want {
			t.Errorf("%s, want\n%s", got, want)
		}
		if said := d.Said.Threads[0].State; said != "serves GET /shop/all?from=%33" {
			t.Errorf("%q", said)
		}
	}
}

// request writes a request as FastCGI's specification has it
// (https://fastcgi-archives.github.io/FastCGI_Specification.html, section 3.3).
func request(parameters map[string]string) (b []byte) {
	record := func(kind byte, content []byte) {
		b = append(b, 1, kind, 0, 1)
		b = binary.BigEndian.AppendUint16(b, uint16(len(content)))
		b = append(append(b, 0, 0), content...)
	}
	record(1, []byte{0, 1, 0, 0, 0, 0, 0, 0}) // FCGI_BEGIN_REQUEST, FCGI_RESPONDER
	var pairs []byte
	for name, value := range parameters {
		pairs = append(pairs, byte(len(name)), 0x80, 0, byte(len(value)>>8), byte(len(value)))
		pairs = append(append(pairs, name...), value...)
	}
	record(4, pairs) // FCGI_PARAMS
	record(4, nil)
	record(5, nil) // FCGI_STDIN
	return b
}
