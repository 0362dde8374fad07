package live

import (
	"os"

	"golang.org/x/sys/unix"
)

// about implements source.
func (f *files) about(name string) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed.Load() {
		return nil, errClosed
	}
	if f.whole != nil {
		if fd, err := unix.Openat(int(f.whole.Fd()), name, unix.O_RDONLY|unix.O_CLOEXEC, 0); err == nil {
			return readAll(os.NewFile(uintptr(fd), name))
		}
	}
	return f.proc.readFile(name)
}
