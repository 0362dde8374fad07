//go:build linux && (amd64 || arm64)

package front

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
)

// sameUser returns an error where a connection on the loopback interface is another
// user's, as the kernel's table of sockets tells. Whoever is let in controls the process.
func sameUser(conn net.Conn) error {
	local, ok := conn.LocalAddr().(*net.TCPAddr)
	if !ok || !local.IP.IsLoopback() {
		return nil // a socket in the file system has permissions; remote users have no numbers here
	}
	remote := conn.RemoteAddr().(*net.TCPAddr)
	uid := -1
	var errs error
	for path, ip := range map[string]func(net.IP) net.IP{"/proc/net/tcp": net.IP.To4, "/proc/net/tcp6": net.IP.To16} {
		table, err := os.ReadFile(path)
		if err != nil {
			errs = errors.Join(errs, err)
			continue
		}
		// The client's socket: its own address is our remote one.
		if n, ok := owner(string(table), socket(ip(remote.IP), remote.Port), socket(ip(local.IP), local.Port)); ok {
			uid = n
		}
	}
	switch uid {
	case os.Getuid():
		return nil
	case -1:
		return errors.Join(errors.New("the kernel does not list it, so its user is not known (--only-same-user)"), errs)
	}
	return fmt.Errorf("it is of user %d, and only user %d may connect (--only-same-user)", uid, os.Getuid())
}

// socket renders an address as /proc/net/tcp does: words of 32 bits, as this machine
// reads them from memory.
func socket(ip net.IP, port int) string {
	var s strings.Builder
	for ; len(ip) >= 4; ip = ip[4:] {
		fmt.Fprintf(&s, "%08X", binary.NativeEndian.Uint32(ip))
	}
	return fmt.Sprintf("%s:%04X", &s, port)
}

// owner finds the user of a socket in a table like /proc/net/tcp.
func owner(table, local, remote string) (uid int, ok bool) {
	for line := range strings.Lines(table) {
		if f := strings.Fields(line); len(f) > 7 && f[1] == local && f[2] == remote {
			uid, err := strconv.Atoi(f[7])
			return uid, err == nil
		}
	}
	return 0, false
}
