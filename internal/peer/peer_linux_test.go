package peer

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// A socket is found by both its addresses, and so is its user.
func TestOwner(t *testing.T) {
	const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:0FC8 0100007F:E682 01 00000000:00000000 00:00000000 00000000     7        0 1 1 0000000000000000 20 0 0 10 -1
  21: 0100007F:E682 0100007F:0FC8 01 00000000:00000000 00:00000000 00000000 149098        0 8420541 2 0000000000000000 20 0 0 10 -1
   5: 00000000000000000000000001000000:D3E4 00000000000000000000000001000000:0FC8 01 00000000:00000000 00:00000000 00000000 149099        0 8425526 2
   6: 0100007F:E683 0100007F:0FC8 05 00000000:00000000 02:00000A1B 00000000     0        0 0 2 0000000000000000 20 0 0 10 -1
   7: 0100007F:0001
`
	v4, v6 := net.ParseIP("127.0.0.1").To4(), net.ParseIP("::1")
	for _, tt := range []struct {
		ip             net.IP
		client, server int
		uid            int
		is             ownership
	}{
		{v4, 59010, 4040, 149098, ofUser}, {v6, 54244, 4040, 149099, ofUser}, {v4, 4040, 59010, 7, ofUser}, {v4, 59011, 4040, 0, orphaned},
		{v4, 1, 2, 0, unlisted}, {v6, 59010, 4040, 0, unlisted},
	} {
		if uid, is := socketUser(table, socket(tt.ip, tt.client), socket(tt.ip, tt.server)); uid != tt.uid || is != tt.is {
			t.Errorf("%v %d: %d, %d", tt.ip, tt.client, uid, is)
		}
	}
}

// Another user of this machine is recognized on every kind of connection, even one that is closed
// already.
func TestSameUser(t *testing.T) {
	gdbtest.NeedRoot(t)
	const client = `
import socket, sys
s = socket.socket(socket.AF_UNIX if sys.argv[1] == "unix" else socket.AF_INET)
at = sys.argv[2].replace("@", "\0") if sys.argv[1] == "unix" else tuple(sys.argv[2].rsplit(":", 1))
s.connect(at if sys.argv[1] == "unix" else (at[0], int(at[1])))
s.sendall(b"{}")
if sys.argv[3] == "closes":
    s.close()
print("there", flush=True)
sys.stdin.read()
`
	ways := [][2]string{{"unix", filepath.Join(t.TempDir(), "s")}, {"unix", fmt.Sprintf("@sfwalk-test-%d", os.Getpid())}, {"tcp", "127.0.0.1:0"}}
	if addrs, _ := net.InterfaceAddrs(); len(addrs) > 0 {
		for _, a := range addrs { // one that other machines reach
			if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && !n.IP.IsLoopback() {
				ways = append(ways, [2]string{"tcp", n.IP.String() + ":0"})
				break
			}
		}
	}
	for _, way := range ways {
		l, err := net.Listen(way[0], way[1])
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if path := way[1]; path[0] == '/' {
			for _, p := range []string{filepath.Dir(filepath.Dir(path)), filepath.Dir(path), path} {
				os.Chmod(p, 0o777)
			}
		}
		for _, uid := range []uint32{0, 65534} {
			for _, then := range []string{"stays", "closes"} {
				cmd := exec.Command(gdbtest.Tool(t, "/usr/bin/python3"), "-c", client, way[0], l.Addr().String(), then)
				cmd.Dir, cmd.SysProcAttr = "/", &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
				in, _ := cmd.StdinPipe()
				out, _ := cmd.StdoutPipe()
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
					t.Fatalf("%q user %d: %v", way, uid, err)
				}
				conn, err := l.Accept()
				if err != nil {
					t.Fatal(err)
				}
				err = SameUser(conn)
				// The kernel does not tell which user has closed a TCP socket.
				if may := uid == 0 && (then == "stays" || way[0] == "unix"); (err == nil) != may {
					t.Errorf("%q: user %d, who %s: %v", way, uid, then, err)
				}
				if err := SameUser(conn, 65533, 65534); (err == nil) != (then == "stays" || way[0] == "unix") {
					t.Errorf("%q: user %d, who %s and may as well: %v", way, uid, then, err)
				}
				conn.Close()
				in.Close()
				cmd.Wait()
			}
		}
	}
}
