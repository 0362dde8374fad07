package peer

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// SameUser returns an error if the kernel says that another user of this machine, who is not in
// also, has made the connection, or does not say who has.
func SameUser(conn net.Conn, also ...int) error {
	uid, known := 0, false
	var err error
	switch conn := conn.(type) {
	case *net.UnixConn:
		uid, err = credentials(conn) // a socket without a file has no permissions
		known = err == nil
	case *net.TCPConn:
		local, remote := conn.LocalAddr().(*net.TCPAddr), conn.RemoteAddr().(*net.TCPAddr)
		uid, known, err = tcpUser(local, remote)
		if !known && err == nil && !ofMachine(remote.IP) {
			return nil // from another machine: its users are unknown here
		}
	}
	switch {
	case !known:
		return errors.Join(errors.New("the kernel does not list it, so its user is not known"), err)
	case uid != os.Getuid() && !slices.Contains(also, uid):
		return fmt.Errorf("it is of user %d, and only user %d may connect", uid, os.Getuid())
	}
	return nil
}

// credentials returns the ID of the user at the other end of the connection.
func credentials(conn *net.UnixConn) (uid int, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var of *unix.Ucred
	if failed := raw.Control(func(fd uintptr) { of, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); failed != nil {
		err = failed
	}
	if err != nil {
		return 0, fmt.Errorf("its credentials: %w", err)
	}
	return int(of.Uid), nil
}

// tcpUser returns the ID of the user of this machine whose socket is at the other end. known is
// false if no table lists the socket. The error says that a table cannot be read.
func tcpUser(local, remote *net.TCPAddr) (uid int, known bool, err error) {
	for path, ip := range map[string]func(net.IP) net.IP{"/proc/net/tcp": net.IP.To4, "/proc/net/tcp6": net.IP.To16} {
		table, failed := os.ReadFile(path)
		if failed != nil {
			if !errors.Is(failed, os.ErrNotExist) { // a kernel without that protocol
				err = errors.Join(err, failed)
			}
			continue
		}
		// This is the client's socket: its local address is our remote one.
		n, state := socketUser(string(table), socket(ip(remote.IP), remote.Port), socket(ip(local.IP), local.Port))
		switch state {
		case ofUser:
			return n, true, nil
		case orphaned:
			err = errors.Join(err, errors.New("the client has closed it"))
		}
	}
	return 0, false, err
}

// socket renders an address as /proc/net/tcp does: as words of 32 bits in this machine's byte
// order.
func socket(ip net.IP, port int) string {
	var s strings.Builder
	for ; len(ip) >= 4; ip = ip[4:] {
		fmt.Fprintf(&s, "%08X", binary.NativeEndian.Uint32(ip))
	}
	return fmt.Sprintf("%s:%04X", &s, port)
}

// ofMachine reports whether ip is, or may be, an address of this machine.
func ofMachine(ip net.IP) bool {
	addrs, err := net.InterfaceAddrs()
	return ip.IsLoopback() || err != nil || slices.ContainsFunc(addrs, func(a net.Addr) bool {
		n, ok := a.(*net.IPNet)
		return ok && n.IP.Equal(ip)
	})
}

// ownership is what a table says about a socket.
type ownership uint8

const (
	unlisted ownership = iota
	ofUser
	// orphaned is a socket that its process has closed. The kernel may have kept only its
	// addresses, and lists it as root's, whoever owned it.
	orphaned
)

// socketUser finds the user of a socket in a table like /proc/net/tcp.
func socketUser(table, local, remote string) (uid int, is ownership) {
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		if len(f) < 10 || f[1] != local || f[2] != remote {
			continue
		}
		uid, err := strconv.Atoi(f[7])
		if inode := f[9]; err != nil || inode == "0" {
			is = orphaned
			continue
		}
		return uid, ofUser
	}
	return 0, is
}
