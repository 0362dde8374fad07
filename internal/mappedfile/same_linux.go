package mappedfile

import (
	"bytes"
	"cmp"
	"debug/elf"
	"fmt"
	"os"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// maxPage bounds the first page of a file that is compared, bytes.
const maxPage = 4096

// same reports whether file is the mapped one. On overlay and btrfs file systems, the mapping's
// device and inode differ from what stat(2) says, but not from the device and inode of another
// mapping. A copy of the mapped file serves as well: there the contents decide, the build ID, or,
// without one, the first page.
func (p *Process) same(file *os.File, m *procmaps.File) bool {
	var st unix.Stat_t
	if err := unix.Fstat(int(file.Fd()), &st); err != nil {
		return false
	}
	if st.Ino == m.Inode && unix.Major(uint64(st.Dev)) == m.Major && unix.Minor(uint64(st.Dev)) == m.Minor {
		return true
	}
	if major, minor, inode, ok := asMapped(file); ok && major == m.Major && minor == m.Minor && inode == m.Inode {
		return true
	}
	if p.Memory == nil {
		return false
	}
	inFile, err := openImage(file)
	if err != nil {
		return false
	}
	if m.Offset != 0 && p.sameCode(inFile, m) { // a part of the file that is mapped once more, elsewhere
		return true
	}
	if mapped := p.mappedID(inFile, m); inFile.BuildID != "" || mapped != "" {
		return inFile.BuildID == mapped
	}
	if st.Ino != m.Inode {
		return false
	}
	var a, b [maxPage]byte
	n, _ := file.ReadAt(a[:], 0)
	_, err = p.Memory.ReadMemory(m.Mappings[0].Lo, b[:n])
	return err == nil && bytes.Equal(a[:n], b[:n])
}

// sameCode reports whether the code that is mapped is the file's.
func (p *Process) sameCode(file *elfimage.Image, m *procmaps.File) bool {
	bias, err := target.LoadBias(file, m.Mappings)
	if err != nil {
		return false
	}
	for _, x := range m.Mappings {
		if x.Exec {
			same, known := target.SameCode(file, bias, p.Memory, x.Lo, x.Hi)
			return same && known
		}
	}
	return false
}

// holds reports whether an address is in one of the file's mappings.
func holds(m *procmaps.File, addr uint64) bool {
	return slices.ContainsFunc(m.Mappings, func(x target.Mapping) bool { return addr >= x.Lo && addr < x.Hi })
}

// asMapped returns the device and the inode that a mapping of file has.
func asMapped(file *os.File) (major, minor uint32, inode uint64, ok bool) {
	own, err := unix.Mmap(int(file.Fd()), 0, 1, unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return 0, 0, 0, false
	}
	defer unix.Munmap(own)
	text, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return 0, 0, 0, false
	}
	maps, err := procmaps.Parse(text)
	if err != nil {
		return 0, 0, 0, false
	}
	i, ok := procmaps.Find(maps, uint64(uintptr(unsafe.Pointer(&own[0]))))
	if !ok {
		return 0, 0, 0, false
	}
	return maps[i].Major, maps[i].Minor, maps[i].Inode, true
}

// difference describes how file differs from the mapped one.
func (p *Process) difference(file *os.File, m *procmaps.File) string {
	var id, mapped string
	if im, err := openImage(file); err == nil {
		id, mapped = im.BuildID, p.mappedID(im, m)
	}
	return fmt.Sprintf("build ID %s, mapped %s", cmp.Or(id, "unknown"), cmp.Or(mapped, "unknown"))
}

// maxNotes bounds the notes that are read from memory, bytes.
const maxNotes = 1 << 16

// mappedID reads the build ID of the mapped file from memory; "" if it is not found. It looks where
// the headers in memory say, or else at the place where file, which may be the mapped one, has its
// own: Go's linker leaves the ID out of the segments of notes, so only sections tell the place.
func (p *Process) mappedID(file *elfimage.Image, m *procmaps.File) string {
	if im, err := p.inMemory(m); err == nil && im.BuildID != "" {
		return im.BuildID
	}
	s := file.ELF().Section(".note.gnu.build-id")
	bias, err := target.LoadBias(file, m.Mappings)
	if err != nil || p.Memory == nil || s == nil || s.Flags&elf.SHF_ALLOC == 0 || s.FileSize > maxNotes {
		return ""
	}
	if !holds(m, s.Addr+bias) {
		return ""
	}
	notes := make([]byte, s.FileSize)
	if n, _ := p.Memory.ReadMemory(s.Addr+bias, notes); n < len(notes) {
		return ""
	}
	return elfimage.BuildID(notes, file.Order, s.Addralign)
}

func openImage(file *os.File) (*elfimage.Image, error) {
	st, err := file.Stat()
	if err != nil {
		return nil, err
	}
	return elfimage.Open(file, st.Size())
}
