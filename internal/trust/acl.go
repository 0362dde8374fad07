//go:build unix

package trust

import (
	"encoding/binary"
	"fmt"
	"os"
	"strings"
)

// Names of extended attributes.
const (
	posixACL = "system.posix_acl_access"
	nfs4ACL  = "system.nfs4_acl"
)

// Tags of entries (linux/posix_acl.h).
const (
	aclUser     = 0x02
	aclGroupObj = 0x04
	aclGroup    = 0x08
	aclMask     = 0x10
	aclOther    = 0x20
	aclWrite    = 2
)

// posixWriters returns an error that names a user or group who may write by an access control list.
// The list is a struct posix_acl_xattr_header and a struct posix_acl_xattr_entry for each entry
// (linux/posix_acl_xattr.h), little-endian.
func posixWriters(path string, acl []byte, gid uint32) error {
	const header, entry, version = 4, 8, 2
	le := binary.LittleEndian
	if len(acl) < header || (len(acl)-header)%entry != 0 || le.Uint32(acl) != version {
		return unknownList(path)
	}
	mask := uint16(aclWrite)
	for e := acl[header:]; len(e) > 0; e = e[entry:] {
		if le.Uint16(e) == aclMask {
			mask = le.Uint16(e[2:])
		}
	}
	for e := acl[header:]; len(e) > 0; e = e[entry:] {
		tag, id := le.Uint16(e), le.Uint32(e[4:])
		may := le.Uint16(e[2:])&aclWrite != 0
		var err error
		switch masked := may && mask&aclWrite != 0; {
		case tag == aclOther && may:
			err = writable(path, "")
		case tag == aclUser && masked && id != 0 && id != uint32(os.Geteuid()):
			err = writable(path, fmt.Sprintf(" (user %d, by its access control list)", id))
		case tag == aclGroup && masked:
			err = groupWrites(path, id)
		case tag == aclGroupObj && masked:
			err = groupWrites(path, gid)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// nfs4Writers returns an error that names a user or group who may write by an access control list
// of NFS version 4. Linux's client shows such a list as an array of nfsace4 (RFC 7530, section
// 6.2.1) in XDR. nfs4Writers ignores entries that deny: it also names a user if an earlier entry
// denies what a later one allows.
func nfs4Writers(path string, acl []byte, gid uint32) error {
	const (
		allow           = 0
		inheritOnly     = 0x08
		identifierGroup = 0x40
		// WRITE_DATA, APPEND_DATA, DELETE_CHILD, DELETE, WRITE_ACL, WRITE_OWNER.
		write = 0x2 | 0x4 | 0x40 | 0x10000 | 0x40000 | 0x80000
	)
	be := binary.BigEndian
	if len(acl) < 4 {
		return unknownList(path)
	}
	n, rest := be.Uint32(acl), acl[4:]
	for ; n > 0; n-- {
		if len(rest) < 16 {
			return unknownList(path)
		}
		kind, flags, mask, size := be.Uint32(rest), be.Uint32(rest[4:]), be.Uint32(rest[8:]), uint64(be.Uint32(rest[12:]))
		rest = rest[16:]
		padded := (size + 3) &^ 3
		if padded > uint64(len(rest)) {
			return unknownList(path)
		}
		who := string(rest[:size])
		rest = rest[padded:]
		if kind != allow || flags&inheritOnly != 0 || mask&write == 0 {
			continue
		}
		user, _, _ := strings.Cut(who, "@")
		switch {
		case who == "OWNER@", flags&identifierGroup == 0 && user == "root":
		case who == "GROUP@":
			if err := groupWrites(path, gid); err != nil {
				return err
			}
		default:
			return writable(path, fmt.Sprintf(" (%q, by its access control list)", who))
		}
	}
	if len(rest) > 0 {
		return unknownList(path)
	}
	return nil
}

func unknownList(path string) error {
	return fmt.Errorf("%s has an access control list that sfwalk cannot read: chmod go-w %s", path, path)
}
