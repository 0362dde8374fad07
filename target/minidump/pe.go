package minidump

import (
	"bytes"
	"debug/pe"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/sfwalk/sfwalk/format/minidump"
	peimage "github.com/sfwalk/sfwalk/format/pe"
)

// openPE opens the PE file of m if it is the one that was mapped; else the image as the dump has
// it.
func (f *files) openPE(m *minidump.Module, main bool) (*peimage.Image, error) {
	for _, place := range f.placesPE(m.Name, main) {
		id := fmt.Sprintf("%x %x %s", m.Stamp, m.Size, m.DebugID(f.dump))
		im, err := f.opts.Files.peImage(place, f.opener(place), id, func(im *peimage.Image) error { return f.checkPE(m, im) })
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			return im, nil
		}
		if place.named {
			f.warn("%s: %s: %v", m.Name, place.path, err)
		}
	}
	im, err := peimage.OpenMapped(mappedAt{f, m.Base})
	if err != nil {
		return nil, errNoFile
	}
	return im, f.checkPE(m, im)
}

// placesPE returns where the PE file of a path of Windows may be. Below a root, the drive is left
// out.
func (f *files) placesPE(name string, main bool) (list []place) {
	if main && f.opts.Exe != "" {
		list = append(list, place{"", f.opts.Exe, true})
	}
	short := base(name)
	if f.opts.Sysroot != "" {
		inside := strings.ReplaceAll(name, `\`, "/")
		if len(inside) > 2 && inside[1] == ':' {
			inside = inside[2:]
		}
		list = append(list, place{f.opts.Sysroot, path.Join("/", inside), false})
	}
	if f.opts.Beside != "" && filepath.IsLocal(short) {
		list = append(list, place{"", filepath.Join(f.opts.Beside, short), false})
	}
	return list
}

// machinesPE are PE's numbers of the processors that can be walked.
var machinesPE = map[minidump.Processor]uint16{
	minidump.AMD64: pe.IMAGE_FILE_MACHINE_AMD64, minidump.X86: pe.IMAGE_FILE_MACHINE_I386, minidump.X86Win64: pe.IMAGE_FILE_MACHINE_I386,
	minidump.ARM64: pe.IMAGE_FILE_MACHINE_ARM64, minidump.ARM64Old: pe.IMAGE_FILE_MACHINE_ARM64, minidump.ARM: pe.IMAGE_FILE_MACHINE_ARMNT,
}

// checkPE compares an image with what the dump says of m: its time stamp and size, as Windows'
// symbol servers have it, and the GUID of its symbols.
func (f *files) checkPE(m *minidump.Module, im *peimage.Image) error {
	if want, ok := machinesPE[f.dump.System.Processor]; !ok || im.Machine != want {
		return errMachine
	}
	if im.Timestamp != m.Stamp || uint64(im.Size) != m.Size {
		return fmt.Errorf("time stamp and size %08X%x, in the dump %08X%x: %w", im.Timestamp, im.Size, m.Stamp, m.Size, errOther)
	}
	if guid, age, ok := im.CodeView(); ok && m.CodeView.Kind == minidump.RSDS && (!bytes.Equal(guid[:], m.CodeView.GUID[:]) || age != m.CodeView.Age) {
		return fmt.Errorf("its symbols' GUID differs: %w", errOther)
	}
	return nil
}

// maxMapped bounds what is read of all images that are mapped in a dump, bytes: any number of
// modules may lie in the same bytes of the file, and what is read of their tables is kept for each.
// Of a hundred of Windows' libraries it is some 30 MiB.
const maxMapped = 64 << 20

var errMapped = fmt.Errorf("the images of modules that the dump has take more than %d MiB together", maxMapped>>20)

// mappedAt reads an image that is mapped at base.
type mappedAt struct {
	of   *files
	base uint64
}

// ReadAt implements [io.ReaderAt].
func (m mappedAt) ReadAt(p []byte, off int64) (n int, err error) {
	if m.of.mapped.Add(int64(len(p))) > maxMapped {
		m.of.manyMapped.Do(func() { m.of.warn("%v: tables and names of some are left out", errMapped) })
		return 0, errMapped
	}
	n, err = m.of.own.ReadMemory(m.base+uint64(off), p)
	if n < len(p) && err == nil {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}
