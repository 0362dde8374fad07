package descriptors

import (
	"encoding/binary"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// mostPeers bounds the questions for peers: where threads wait for many sockets, some say enough.
const mostPeers = 64

// unixPeer finds the socket to which a unix socket is connected, by sock_diag(7): of a process in
// this one's network namespace. Its path names the peer, and so does who has it.
func (r *Reader) unixPeer(f *File, tid int, inode uint64) {
	if r.peers++; r.peers > mostPeers {
		return
	}
	own, err := os.Readlink("/proc/self/ns/net")
	if err != nil || f.State == "LISTEN" {
		return
	}
	if there, err := os.Readlink(r.task(tid, "ns/net")); err != nil || there != own {
		return
	}
	peer := peerOf(inode)
	if peer == 0 {
		return
	}
	if e, ok := r.table(tid, "unix").find(uint64(peer)); ok {
		f.Peer = e.path
	}
	link := fmt.Sprintf("socket:[%d]", peer)
	f.Ends = holdersAmong(r.byLink()[link], nil)
}

// Constants and structs of linux/sock_diag.h and linux/unix_diag.h.
const (
	byFamily     = 20 // SOCK_DIAG_BY_FAMILY
	showPeer     = 4  // UDIAG_SHOW_PEER
	peerInode    = 2  // UNIX_DIAG_PEER
	noCookie     = 1<<32 - 1
	requestSize  = 24 // struct unix_diag_req
	answerSize   = 16 // struct unix_diag_msg
	attrHeader   = 4  // struct nlattr
	netlinkExtra = unix.SizeofNlMsghdr
)

// peerOf returns the inode of the peer of a unix socket; 0 if it has none, or the kernel does not
// say.
func peerOf(inode uint64) uint32 {
	if inode > noCookie {
		return 0
	}
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return 0
	}
	defer unix.Close(fd)
	order := binary.NativeEndian
	b := make([]byte, 0, netlinkExtra+requestSize)
	b = order.AppendUint32(b, netlinkExtra+requestSize)
	b = order.AppendUint16(b, byFamily)
	b = order.AppendUint16(b, unix.NLM_F_REQUEST)
	b = order.AppendUint64(b, 0) // sequence number, port
	b = append(b, unix.AF_UNIX, 0, 0, 0)
	for _, v := range []uint32{noCookie, uint32(inode), showPeer, noCookie, noCookie} { // all states
		b = order.AppendUint32(b, v)
	}
	if err := unix.Sendto(fd, b, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return 0
	}
	room := make([]byte, 8<<10)
	n, from, err := unix.Recvfrom(fd, room, unix.MSG_DONTWAIT) // the kernel has answered by now
	if kernel, ok := from.(*unix.SockaddrNetlink); err != nil || !ok || kernel.Pid != 0 {
		return 0
	}
	return parsePeer(room[:n], uint32(inode))
}

// parsePeer reads the answer.
func parsePeer(b []byte, inode uint32) uint32 {
	order := binary.NativeEndian
	if len(b) < netlinkExtra+answerSize || order.Uint16(b[4:]) != byFamily {
		return 0
	}
	b = b[netlinkExtra:]
	if order.Uint32(b[4:]) != inode {
		return 0
	}
	for b = b[answerSize:]; len(b) >= attrHeader; {
		size, typ := int(order.Uint16(b)), order.Uint16(b[2:])
		if size < attrHeader || size > len(b) {
			return 0
		}
		if typ == peerInode && size == attrHeader+4 {
			return order.Uint32(b[attrHeader:])
		}
		b = b[min((size+3)&^3, len(b)):]
	}
	return 0
}
