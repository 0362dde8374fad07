package usercache

import (
	"io/fs"
	"os"
	"strings"
	"sync"
	"syscall"
)

// known says that this system tells whose a folder is.
const known = true

// Ours reports whether a file or folder is this user's, and nobody else can write to it.
func Ours(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Uid == uint32(os.Geteuid()) && info.Mode()&0o022 == 0
}

// Boot returns the kernel's ID of this boot; "" if it cannot be read.
var Boot = sync.OnceValue(func() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
})
