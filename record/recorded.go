package record

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/format/perfdata"
	"github.com/sfwalk/sfwalk/format/perfevent"
	"github.com/sfwalk/sfwalk/internal/regular"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// Places say where the files are that the processes of a recording had mapped.
type Places struct {
	Caches    []string // folders laid out as perf's build-id cache: ~/.debug
	DebugDirs []string // folders that have files by build ID, below .build-id
	Sysroot   string   // the folder that was the root of the machine; "" if there is none
	// Open opens a file of this machine at a path that the recording names; nil opens it with this
	// program's rights.
	Open elf.Opener
}

// maxRecorded bounds the mappings of all processes of a recording.
var maxRecorded = 1 << 19

// recorded is the host of processes that perf has recorded: what its file tells of them, and the
// files that can be found.
type recorded struct {
	data   *perfdata.Reader
	size   int64 // FileOptions.Size
	places Places
	warn   func(format string, args ...any)
	own    bool                             // the recording is of this machine
	mapped func(pid int) []procmaps.Mapping // what a process had mapped at last, as records tell

	images  elf.Cache
	files   []*os.File
	numbers map[string]uint64 // of build IDs that records have
	ids     []string
	tables  int               // how much of data's build IDs byPath has
	byPath  map[string]string // build IDs of files, by their paths
	found   map[wanted]*elf.Image
	kernel  kernelMaps
}

// wanted is a file that was mapped: its path, and its build ID, or else its inode and the root of
// its process.
type wanted struct {
	path, id string
	inode    uint64
	root     string // "" if the process has ended
}

// These are made-up device numbers of mappings: the inode is the number of a build ID, or of a
// path.
const (
	deviceBuildID = ^uint32(0)
	devicePath    = ^uint32(0) - 1
)

func newRecorded(data *perfdata.Reader, places Places, warn func(string, ...any)) *recorded {
	return &recorded{data: data, places: places, warn: warn, numbers: map[string]uint64{}, byPath: map[string]string{}, found: map[wanted]*elf.Image{},
		kernel: kernelMaps{places: places, warn: warn}}
}

// identify gives a mapping what tells its file from others: the build ID, the inode, or the path.
func (h *recorded) identify(m *perfevent.Mmap, at *procmaps.Mapping) {
	at.Major = min(at.Major, devicePath-1) // a record may claim any
	switch {
	case len(m.BuildID) > 0 && len(h.ids) < maxNumbers:
		at.Major, at.Minor, at.Inode = deviceBuildID, 0, h.number(fmt.Sprintf("%x", m.BuildID))
	case m.Inode == 0 && strings.HasPrefix(m.Path, "/") && !strings.HasPrefix(m.Path, "//"):
		at.Major, at.Minor, at.Inode = devicePath, 0, 1
	}
}

// maxNumbers bounds the build IDs that records have. Further files are known by their paths.
const maxNumbers = 1 << 17

// number returns the number of a build ID.
func (h *recorded) number(id string) uint64 {
	n, ok := h.numbers[id]
	if !ok {
		h.ids = append(h.ids, id)
		n = uint64(len(h.ids))
		h.numbers[id] = n
	}
	return n
}

// maps implements host: the records alone tell.
func (h *recorded) maps(int) ([]procmaps.Mapping, error) { return nil, os.ErrProcessDone }

// memory implements host: there is none.
func (h *recorded) memory(int) target.Memory { return nil }

// name implements host: the records alone tell.
func (h *recorded) name(int, int) string { return "" }

// word implements host: the recording is its owner's.
func (h *recorded) word(int) regular.Word { return regular.Word{} }

// forget implements host.
func (h *recorded) forget(int) {}

// replaced implements host.
func (h *recorded) replaced(int) bool { return false }

// close implements host.
func (h *recorded) close() {
	for _, f := range h.files {
		f.Close()
	}
	h.files = nil
}

// open implements host. It opens a file of the build that was mapped, and no other.
func (h *recorded) open(pid int, f *procmaps.File) (*elf.Image, error) {
	for _, b := range h.data.Info.BuildIDs[h.tables:] {
		if !b.Kernel {
			h.byPath[b.Path] = b.ID
		}
	}
	h.tables = len(h.data.Info.BuildIDs)
	w := wanted{path: f.Path, id: h.byPath[f.Path]}
	switch f.Major {
	case deviceBuildID:
		w.id = h.ids[f.Inode-1]
	case devicePath:
	default:
		if w.id == "" {
			w.inode = f.Inode
		}
	}
	root := h.root(pid)
	if w.id == "" {
		w.root = root // another process may have another file there
	}
	if im, ok := h.found[w]; ok {
		if im == nil {
			return nil, errors.New("it was not found") // why was said before
		}
		return im, nil
	}
	im, err := h.find(w, root)
	h.found[w] = im
	if err != nil {
		h.warn("%s: %v", w.path, err)
	}
	return im, err
}

// find looks for a file, also below the root of its process, if that still lives.
func (h *recorded) find(w wanted, root string) (*elf.Image, error) {
	if w.path == "[vdso]" && (w.id == "" && h.own || w.id != "") {
		if im, err := ownVDSO(); err == nil && (w.id == "" || im.BuildID == w.id) {
			return im, nil
		}
	}
	if w.id == "" {
		return h.unproven(w, root)
	}
	for _, at := range h.places.byBuildID(w.id, "elf", "vdso") {
		if im, err := h.image(at); err == nil && im.BuildID == w.id {
			return im, nil
		}
	}
	why := "it is neither in the build-id cache nor at its path"
	for _, at := range h.atPath(w.path, root) {
		switch im, err := h.named(at); {
		case err == nil && im.BuildID == w.id:
			return im, nil
		case errors.As(err, new(*regular.NotAllowedError)):
			why = err.Error()
		case err == nil:
			why = fmt.Sprintf("%v is of another build (build ID %s)", at, known(im.BuildID))
		}
	}
	return nil, fmt.Errorf("the file with build ID %s was not found: %s", w.id, why)
}

func known(id string) string {
	if id == "" {
		return "unknown"
	}
	return id
}

// unproven looks for a file whose build ID is not known.
func (h *recorded) unproven(w wanted, root string) (*elf.Image, error) {
	if !strings.HasPrefix(w.path, "/") {
		return nil, errors.New("it was not found: the recording does not tell its build ID")
	}
	var err error
	for _, at := range h.atPath(w.path, root) {
		if at.Root == "" && !h.own {
			err = errors.New("it is not used: the recording is of another machine, and does not tell the file's build ID (--sysroot names a folder with that machine's files)")
			continue
		}
		var st os.FileInfo
		if st, err = at.Stat(); err != nil {
			continue
		}
		if number, ok := inode(st); (at.Root == "" || at.Root == root) && w.inode != 0 && ok && number != w.inode {
			err = errors.New("another file is there now, and the recording does not tell the build ID")
			continue
		}
		var im *elf.Image
		if im, err = h.named(at); err == nil {
			return im, nil
		}
	}
	return nil, err
}

// atPath returns where a file may be by its path. root is the root of a process that has it mapped,
// or "".
func (h *recorded) atPath(path, root string) (list []regular.At) {
	path = strings.TrimSuffix(path, " (deleted)")
	if !filepath.IsAbs(path) {
		return nil
	}
	if h.places.Sysroot != "" {
		list = append(list, regular.At{Root: h.places.Sysroot, Path: path})
	}
	if root != "" {
		list = append(list, regular.At{Root: root, Path: path})
	}
	return append(list, regular.At{Path: path})
}

// byBuildID returns where a file may be by its build ID. names are the file's names in perf's
// cache.
func (p Places) byBuildID(id string, names ...string) (list []regular.At) {
	if len(id) < 3 {
		return nil
	}
	link := filepath.Join(".build-id", id[:2], id[2:])
	for _, dir := range p.Caches {
		for _, name := range names {
			list = append(list, regular.At{Path: filepath.Join(dir, link, name)})
		}
		list = append(list, regular.At{Path: filepath.Join(dir, link)}) // as older releases of perf have it
	}
	if slices.Contains(names, "elf") {
		for _, dir := range p.DebugDirs {
			list = append(list, regular.At{Path: filepath.Join(dir, link)})
		}
	}
	return list
}

// named opens a file that the recording names.
func (h *recorded) named(at regular.At) (*elf.Image, error) {
	file, err := h.openNamed(at.Root, at.Path)
	return h.opened(file, err)
}

func (h *recorded) openNamed(root, path string) (*os.File, error) {
	if h.places.Open != nil && root == "" {
		return h.places.Open(root, path)
	}
	return regular.Word{}.Open(root, path)
}

// image opens a file.
func (h *recorded) image(at regular.At) (*elf.Image, error) {
	file, err := at.Open()
	return h.opened(file, err)
}

// opened returns the image of a file.
func (h *recorded) opened(file *os.File, err error) (*elf.Image, error) {
	if err != nil {
		return nil, err
	}
	st, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, err
	}
	im, again, err := h.images.Open(file, st.Size())
	if err != nil || again {
		file.Close()
	} else {
		h.files = append(h.files, file)
	}
	return im, err
}

// file implements host.
func (h *recorded) file(pid int, f *procmaps.File) (*os.File, error) {
	err := error(os.ErrNotExist)
	for _, at := range h.atPath(f.Path, h.root(pid)) {
		if at.Root == "" && !h.own {
			continue
		}
		var file *os.File
		if file, err = h.openOf(pid, at); err == nil {
			h.files = append(h.files, file)
			return file, nil
		}
	}
	return nil, err
}
