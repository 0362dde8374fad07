package targets

import (
	"strings"

	"golang.org/x/sys/unix"
)

// uname returns the kernel's name, release, version and machine, as Breakpad's client has them:
// "Linux 6.1.0 #1 SMP x86_64".
func uname() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	var parts []string
	for _, field := range [][65]byte{u.Sysname, u.Release, u.Version, u.Machine} {
		parts = append(parts, unix.ByteSliceToString(field[:]))
	}
	return strings.Join(parts, " ")
}
