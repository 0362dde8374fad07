package live

import (
	"bytes"
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/elfimage"
	"github.com/sfwalk/sfwalk/internal/regular"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// useMapFiles allows the way to a file that needs privileges, /proc/PID/map_files. Tests turn it
// off.
var useMapFiles = true

// image opens the mapped file, and no other of the same name. It tries /proc/PID/map_files, which
// needs privileges; the open program; and the file's path below the process's own root. If none of
// them leads to the mapped file, the image is read from memory. The user is told so if the module
// was used and its file is an ELF file.
func (f *files) image(m *procmaps.File, module *target.Module) (*elfimage.Image, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed.Load() {
		return nil, fmt.Errorf("%s: %w", m.Path, errClosed)
	}
	file := f.mapFile(m)
	if file == nil && m.Path == f.exePath && f.exe != nil && f.same(f.exe, m) {
		file = f.exe
	}
	var onDisk *os.File // another file that now has the path
	var err error
	if file == nil || m.Deleted {
		var found *os.File
		if found, onDisk, err = f.byPath(m); file == nil {
			file = found
		}
	}
	var im *elfimage.Image
	var failed error
	instead := "unwinding from memory"
	if file != nil {
		var st os.FileInfo
		if st, failed = file.Stat(); failed == nil {
			im, _, failed = f.shared.Open(file, st.Size())
		}
		instead = "using the mapped file, which is still there"
	} else {
		im, failed = f.mapped(m)
	}
	switch {
	case errors.Is(failed, elfimage.ErrNotELF):
		return nil, failed
	case failed != nil:
		instead = fmt.Sprintf("no symbols and no unwind tables of it (%v)", failed)
	}
	switch {
	case onDisk != nil:
		f.warn(module, "%s: the file on disk is not what is mapped (%s): %s", m.Path, f.difference(onDisk, m), instead)
	case file != nil && failed != nil:
		f.warn(module, "%s: %s", m.Path, instead)
	case file != nil:
	case m.Deleted || ended(err):
		f.warn(module, "%s: the file was deleted: %s", m.Path, instead)
	default:
		f.warn(module, "%s: cannot be opened (%v): %s", m.Path, withoutPath(err), instead)
	}
	if failed != nil {
		return nil, fmt.Errorf("%s: %w", m.Path, failed)
	}
	return im, nil
}

// withoutPath removes the path from an error whose message the caller begins with the path.
func withoutPath(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// mapFile opens the file through a range of addresses that it is mapped at.
func (f *files) mapFile(m *procmaps.File) *os.File {
	if !useMapFiles {
		return nil
	}
	for _, x := range m.Mappings {
		file, err := openRegular(int(f.proc.dir.Fd()), fmt.Sprintf("map_files/%x-%x", x.Lo, x.Hi), m.Path)
		if err == nil {
			f.opened = append(f.opened, file)
			if f.same(file, m) { // by now another file may be mapped at the range
				return file
			}
		}
		if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
			break
		}
	}
	return nil
}

// byPath opens the mapped file by its path. If another file now has that path, byPath returns that
// as other. The kernel writes a path as seen from our root if the file can be reached from there (a
// chroot folder), else as seen from the root of the process's mount namespace.
func (f *files) byPath(m *procmaps.File) (mapped, other *os.File, err error) {
	err = os.ErrPermission
	for _, root := range [...]*os.File{f.root, f.ownRoot} {
		if root == nil {
			continue
		}
		var file *os.File
		if file, err = openBelow(root, m.Path); err != nil {
			continue
		}
		f.opened = append(f.opened, file)
		if f.same(file, m) {
			return file, nil, nil
		}
		if other == nil {
			other = file
		}
	}
	return nil, other, err
}

func openBelow(root *os.File, path string) (*os.File, error) {
	at := regular.At{Root: fmt.Sprintf("/proc/self/fd/%d", root.Fd()), Path: path}
	file, err := at.Open()
	if errors.Is(err, unix.ENOENT) && strings.Contains(path, "\n") {
		// The name may hold the four characters that the kernel writes for a newline.
		file, err = at.With(strings.ReplaceAll(path, "\n", `\012`)).Open()
	}
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: withoutPath(err)}
	}
	return file, nil
}

// openRegular opens a regular file. Opening other kinds of files alone could do harm. Errors call
// the file by name.
func openRegular(dir int, path, name string) (*os.File, error) {
	fd, err := unix.Openat(dir, path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	defer unix.Close(fd)
	return regular.Reopen(fd, name)
}

// same reports whether file is the mapped one. On overlay and btrfs file systems, the mapping's
// device and inode differ from those of stat(2), so the contents must decide: the build ID, or,
// without one, the first page.
func (f *files) same(file *os.File, m *procmaps.File) bool {
	var st unix.Stat_t
	if err := unix.Fstat(int(file.Fd()), &st); err != nil {
		return false
	}
	if st.Ino == m.Inode && unix.Major(uint64(st.Dev)) == m.Major && unix.Minor(uint64(st.Dev)) == m.Minor {
		return true
	}
	inFile, err := openImage(file)
	if err != nil {
		return false
	}
	if mapped := f.mappedID(inFile, m); inFile.BuildID != "" || mapped != "" {
		return inFile.BuildID == mapped
	}
	if st.Ino != m.Inode {
		return false
	}
	var a, b [pageSize]byte
	n, _ := file.ReadAt(a[:], 0)
	_, err = f.memory.ReadMemory(m.Mappings[0].Lo, b[:n])
	return err == nil && bytes.Equal(a[:n], b[:n])
}

// difference describes how file differs from the mapped one.
func (f *files) difference(file *os.File, m *procmaps.File) string {
	var id, mapped string
	if im, err := openImage(file); err == nil {
		id, mapped = im.BuildID, f.mappedID(im, m)
	}
	return fmt.Sprintf("build ID %s, mapped %s", cmp.Or(id, "unknown"), cmp.Or(mapped, "unknown"))
}

// maxNotes bounds the notes that are read from memory, bytes.
const maxNotes = 1 << 16

// mappedID reads the build ID of the mapped file from memory; "" if it is not found. It looks where
// the headers in memory say, or else at the place where file, which may be the mapped one, has its
// own: Go's linker leaves the ID out of the segments of notes, so only sections tell the place.
func (f *files) mappedID(file *elfimage.Image, m *procmaps.File) string {
	if im, err := f.mapped(m); err == nil && im.BuildID != "" {
		return im.BuildID
	}
	s := file.ELF().Section(".note.gnu.build-id")
	bias, err := target.LoadBias(file, m.Mappings)
	if err != nil || s == nil || s.Flags&elf.SHF_ALLOC == 0 || s.FileSize > maxNotes {
		return ""
	}
	notes := make([]byte, s.FileSize)
	if n, _ := f.memory.ReadMemory(s.Addr+bias, notes); n < len(notes) {
		return ""
	}
	return elfimage.BuildID(notes, file.Order, s.Addralign)
}

// mapped opens the image in the process's memory.
func (f *files) mapped(m *procmaps.File) (*elfimage.Image, error) {
	first := m.Mappings[0]
	if first.Offset != 0 { // dynamic linkers map the beginning of a file; run times map files for code of their own otherwise
		return nil, fmt.Errorf("the beginning of the file is not mapped: %w", elfimage.ErrNotELF)
	}
	im, err := elfimage.OpenMapped(f.memory, first.Lo, m.Mappings[len(m.Mappings)-1].Hi-first.Lo)
	if err != nil {
		return nil, fmt.Errorf("image in memory: %w", err)
	}
	return im, nil
}

func openImage(file *os.File) (*elfimage.Image, error) {
	st, err := file.Stat()
	if err != nil {
		return nil, err
	}
	return elfimage.Open(file, st.Size())
}
