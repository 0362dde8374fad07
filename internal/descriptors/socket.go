package descriptors

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"io"
	"net/netip"
	"os"
	"strconv"
	"strings"
)

// socket describes a socket. The kernel's lists have it only while it has an address.
func (r *Reader) socket(f *File, tid int, at place, inode uint64) {
	name := at.protocol()
	var tables []string
	switch name {
	case "TCP", "UDP":
		tables = []string{strings.ToLower(name)}
		f.Protocol = name
	case "TCPv6", "UDPv6":
		f.Protocol = strings.TrimSuffix(name, "v6")
		tables = []string{strings.ToLower(f.Protocol) + "6"}
	case "MPTCP", "MPTCPv6": // it is in TCP's lists by its own inode
		tables = []string{"tcp", "tcp6"}
	case "UNIX", "UNIX-STREAM":
		f.Protocol = "unix"
		tables = []string{"unix"}
	case "":
		tables = []string{"unix", "tcp", "tcp6", "udp", "udp6"}
	default:
		f.Protocol = name
		return
	}
	for _, t := range tables {
		e, ok := r.table(tid, t).find(inode)
		if !ok {
			continue
		}
		f.Protocol = map[string]string{"unix": "unix", "tcp": "TCP", "tcp6": "TCP", "udp": "UDP", "udp6": "UDP"}[t]
		if t == "unix" {
			f.Path = e.path
			if e.listens {
				f.State = "LISTEN"
			}
			r.unixPeer(f, tid, inode)
			return
		}
		f.Local = endpoint(e.local)
		if e.peer.Port() != 0 {
			f.Peer = endpoint(e.peer)
		}
		if strings.HasPrefix(t, "tcp") && int(e.state) < len(states) {
			f.State = states[e.state]
		}
		return
	}
}

// states are TCP's (include/net/tcp_states.h).
var states = [...]string{
	1: "ESTABLISHED", 2: "SYN_SENT", 3: "SYN_RECV", 4: "FIN_WAIT1", 5: "FIN_WAIT2", 6: "TIME_WAIT", 7: "CLOSE", 8: "CLOSE_WAIT",
	9: "LAST_ACK", 10: "LISTEN", 11: "CLOSING", 12: "NEW_SYN_RECV",
}

// endpoint returns an address with its port: "10.0.0.2:5432", "[::1]:80", "*:8080".
func endpoint(a netip.AddrPort) string {
	port := strconv.Itoa(int(a.Port()))
	if a.Port() == 0 {
		port = "*"
	}
	switch addr := a.Addr().Unmap(); {
	case !addr.IsValid() || addr.IsUnspecified():
		return "*:" + port
	case addr.Is6():
		return "[" + addr.String() + "]:" + port
	default:
		return addr.String() + ":" + port
	}
}

// entry is a socket in one of the kernel's lists.
type entry struct {
	local, peer netip.AddrPort
	state       uint8
	path        string // of a unix socket
	listens     bool   // a unix socket
}

// table is one of the kernel's lists of sockets, as far as it was read.
type table struct {
	parse func(line []byte) (inode uint64, e entry, ok bool)
	from  *bufio.Reader // nil if all is read
	file  io.Closer
	known map[uint64]entry // by inode
	left  int              // how many lines may still be read
}

// mostSockets bounds the lines of one list.
const mostSockets = 1 << 15

// table returns a list, which a thread of the process has in its network namespace.
func (r *Reader) table(tid int, name string) *table {
	if t, ok := r.tables[name]; ok {
		return t
	}
	parse := parseInternet
	if name == "unix" {
		parse = parseUnix
	}
	t := &table{parse: parse}
	if f, err := os.Open(r.task(tid, "net/"+name)); err == nil {
		*t = *newTable(f, f, parse)
	}
	r.tables[name] = t
	return t
}

func newTable(from io.Reader, file io.Closer, parse func([]byte) (uint64, entry, bool)) *table {
	return &table{parse: parse, from: bufio.NewReaderSize(from, 64<<10), file: file, known: map[uint64]entry{}, left: mostSockets}
}

// find reads the list up to a socket.
func (t *table) find(inode uint64) (entry, bool) {
	if e, ok := t.known[inode]; ok {
		return e, true
	}
	for t.from != nil {
		line, err := t.from.ReadSlice('\n')
		if t.left--; err == nil || err == io.EOF && len(line) > 0 {
			if n, e, ok := t.parse(line); ok && n != 0 {
				t.known[n] = e
				if n == inode {
					return e, true
				}
			}
		}
		if err != nil && err != bufio.ErrBufferFull || t.left <= 0 {
			t.close()
		}
	}
	return entry{}, false
}

func (t *table) close() {
	if t.from = nil; t.file != nil {
		t.file.Close()
	}
}

// Close closes what was opened.
func (r *Reader) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fds.close()
	r.fds, r.closed = noFolder, true
	for _, t := range r.tables {
		t.close()
	}
}

// parseInternet reads a line of /proc/net/tcp and its like (proc_pid_net(5)): number, local
// address, remote address, state, queues, timer, retransmissions, user ID, timeout, inode.
func parseInternet(line []byte) (inode uint64, e entry, ok bool) {
	f := bytes.Fields(line)
	if len(f) < 10 {
		return 0, e, false
	}
	state, err := strconv.ParseUint(string(f[3]), 16, 8)
	inode, err2 := strconv.ParseUint(string(f[9]), 10, 64)
	local, ok1 := parseAddress(f[1])
	peer, ok2 := parseAddress(f[2])
	return inode, entry{local: local, peer: peer, state: uint8(state)}, err == nil && err2 == nil && ok1 && ok2
}

// parseAddress reads an address as the kernel prints it: its words of 32 bits as numbers of this
// machine, in hexadecimal, and the port.
func parseAddress(text []byte) (netip.AddrPort, bool) {
	addr, port, ok := bytes.Cut(text, []byte(":"))
	n, err := strconv.ParseUint(string(port), 16, 16)
	b := make([]byte, hex.DecodedLen(len(addr)))
	if _, wrong := hex.Decode(b, addr); wrong != nil || err != nil || !ok {
		return netip.AddrPort{}, false
	}
	for i := 0; i+4 <= len(b); i += 4 {
		binary.NativeEndian.PutUint32(b[i:], binary.BigEndian.Uint32(b[i:]))
	}
	a, ok := netip.AddrFromSlice(b)
	return netip.AddrPortFrom(a, uint16(n)), ok
}

// parseUnix reads a line of /proc/net/unix: address, reference count, protocol, flags, type, state,
// inode, path. The flag 0x10000 says that the socket listens.
func parseUnix(line []byte) (inode uint64, e entry, ok bool) {
	const listens = 0x10000 // __SO_ACCEPTCON
	f := bytes.Fields(line)
	if len(f) < 7 {
		return 0, e, false
	}
	flags, err := strconv.ParseUint(string(f[3]), 16, 32)
	inode, err2 := strconv.ParseUint(string(f[6]), 10, 64)
	if err != nil || err2 != nil {
		return 0, e, false
	}
	e.listens = flags&listens != 0
	if len(f) > 7 {
		at := bytes.Index(line, append([]byte(" "), f[6]...)) + 1 + len(f[6])
		e.path = string(bytes.TrimSuffix(bytes.TrimPrefix(line[at:], []byte(" ")), []byte("\n")))
	}
	return inode, e, true
}
