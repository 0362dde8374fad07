package pprofhost

import (
	"net"
	"os"
	"strconv"
	"sync"

	"github.com/sfwalk/sfwalk/internal/peer"
)

// ours closes the connections of this machine's other users.
type ours struct {
	net.Listener
	warn func(format string, args ...any)
	once sync.Once // warns: others may connect as often as they like
}

// Accept implements [net.Listener].
func (o *ours) Accept() (net.Conn, error) {
	for {
		conn, err := o.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if err = peer.SameUser(conn, whoBecameRoot()...); err == nil {
			return conn, nil
		}
		conn.Close()
		o.once.Do(func() { o.warn("--http: a connection is closed: %v", err) })
	}
}

// whoBecameRoot returns the user who has become root by sudo, and has the browser.
func whoBecameRoot() []int {
	uid, err := strconv.Atoi(os.Getenv("SUDO_UID"))
	if err != nil || os.Getuid() != 0 {
		return nil
	}
	return []int{uid}
}
