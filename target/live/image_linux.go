package live

import (
	"fmt"
	"io"
	"os"

	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/mappedfile"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// useMapFiles allows the way to a file that needs privileges, /proc/PID/map_files. Tests turn it
// off.
var useMapFiles = true

// image opens the mapped file, and no other of the same name, or else reads the image from memory.
// The user is told so if the module was used and its file is an ELF file.
func (f *files) image(m *procmaps.File, module *target.Module) (*elf.Image, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed.Load() {
		return nil, fmt.Errorf("%s: %w", m.Path, errClosed)
	}
	im, said, err := f.images.Open(f.process(), m)
	if said != "" {
		f.warn(module, "%s", said)
	}
	return im, err
}

// process has the ways to the files that are mapped.
func (f *files) process() *mappedfile.Process {
	dir := f.proc.dir
	if f.whole != nil {
		dir = f.whole
	}
	return &mappedfile.Process{
		Dir: dir, Memory: f.memory, Root: f.root, OwnRoot: f.ownRoot, Exe: f.exe, ExePath: f.exePath, NoMapFiles: !useMapFiles,
	}
}

// itsFile opens a file by the path that it has for the process.
func (f *files) itsFile(path string) (io.ReadCloser, error) {
	if f.closed.Load() {
		return nil, errClosed
	}
	return f.openNamed(fmt.Sprintf("/proc/self/fd/%d", f.root.Fd()), path)
}

// openNamed is [Target.OpenNamed].
func (f *files) openNamed(root, path string) (*os.File, error) { return f.word.Open(root, path) }
