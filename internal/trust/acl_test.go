//go:build unix

package trust

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// ace is an nfsace4 (RFC 7530, section 6.2.1) in XDR (RFC 4506).
func ace(kind, flags, mask uint32, who string) []byte {
	b := binary.BigEndian.AppendUint32(nil, kind)
	b = binary.BigEndian.AppendUint32(b, flags)
	b = binary.BigEndian.AppendUint32(b, mask)
	b = binary.BigEndian.AppendUint32(b, uint32(len(who)))
	b = append(b, who...)
	return append(b, make([]byte, -len(who)&3)...)
}

func nfs4(aces ...[]byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(aces)))
	for _, a := range aces {
		b = append(b, a...)
	}
	return b
}

func TestNFS4Writers(t *testing.T) {
	const read, all = 0x1 | 0x20 | 0x80 | 0x20000, 0x1f01ff
	owner := ace(0, 0, all, "OWNER@")
	for _, tt := range []struct {
		name string
		acl  []byte
		want string
	}{
		{"0755", nfs4(owner, ace(0, 0x40, read, "GROUP@"), ace(0, 0, read, "EVERYONE@")), ""},
		{"0775", nfs4(owner, ace(0, 0x40, read|2, "GROUP@"), ace(0, 0, read, "EVERYONE@")), "group 4711"},
		{"0757", nfs4(owner, ace(0, 0x40, read, "GROUP@"), ace(0, 0, read|4, "EVERYONE@")), "EVERYONE@"},
		{"a user", nfs4(owner, ace(0, 0, read|2, "mallory@example.org"), ace(0, 0, read, "EVERYONE@")), "mallory@example.org"},
		{"a user who may delete", nfs4(owner, ace(0, 0, 0x40, "mallory@example.org")), "mallory"},
		{"a user who may change the list", nfs4(owner, ace(0, 0, 0x40000, "mallory@example.org")), "mallory"},
		{"a group", nfs4(owner, ace(0, 0x40, 2, "gang@example.org")), "gang"},
		{"root", nfs4(owner, ace(0, 0, all, "root@example.org")), ""},
		{"a group named root", nfs4(owner, ace(0, 0x40, all, "root@example.org")), "root"},
		{"denied", nfs4(owner, ace(1, 0, all, "mallory@example.org")), ""},
		{"for new files alone", nfs4(owner, ace(0, 0x08|0x01, all, "mallory@example.org")), ""},
		{"empty", nil, "cannot read"},
		{"cut", nfs4(owner)[:20], "cannot read"},
		{"more", append(nfs4(owner), 0), "cannot read"},
		{"a name that is too long", binary.BigEndian.AppendUint32(append([]byte{0, 0, 0, 1}, make([]byte, 12)...), ^uint32(0)), "cannot read"},
	} {
		err := nfs4Writers("/file", tt.acl, 4711)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

func FuzzACL(f *testing.F) {
	f.Add(nfs4(ace(0, 0, 2, "EVERYONE@")))
	f.Add([]byte{2, 0, 0, 0, 2, 0, 7, 0, 1, 0, 0, 0, 0x10, 0, 5, 0, 255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, acl []byte) {
		bounds.Hold(t, 64<<10+64*len(acl), func() {
			posixWriters("/file", acl, 0)
			nfs4Writers("/file", acl, 0)
		})
	})
}
