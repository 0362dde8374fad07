package remote

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/linkmap"
	"github.com/sfwalk/sfwalk/internal/sysroot"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/jit"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// maxMaps bounds the kernel's list of mappings, bytes, maxXML the stub's lists of threads and of
// libraries. In memory, these take ten times as much.
const (
	maxMaps = 64 << 20
	maxXML  = 16 << 20
)

// load finds out what is mapped. It uses the best source that the stub offers: the kernel's list of
// mappings, the stub's list of libraries, the link map in memory, or the program alone.
func (t *Target) load(o Options) error {
	path := ""
	if text, err := t.s.transfer("exec-file", t.annex(), 1<<16); err == nil {
		path = string(text)
	} else if fatal(err) {
		return err
	}
	if t.Exe = path; path == "" {
		t.Exe = o.Exe
	}
	t.files = sysroot.New(sysroot.Options{
		Arch: t.arch, Exe: o.Exe, ExePath: t.Exe, Root: o.Sysroot,
		Fetch: func(path string) (io.ReaderAt, int64, error) {
			f, err := t.s.openFile(path, t.PID)
			if err != nil {
				return nil, 0, err
			}
			return f, f.size, nil
		},
	}, t.memory)

	modules, err := t.look()
	if err != nil {
		return err
	}
	if t.maps != nil {
		t.files.CheckExe(modules.All())
	}
	t.modules = modules
	return nil
}

// Remap finds out anew what is mapped, as it must be when the target has run: [Target.Modules]
// returns other modules then, unless nothing has changed.
func (t *Target) Remap() error {
	modules, err := t.look()
	if err != nil || modules == nil {
		return err
	}
	modules.DebugFile = t.modules.DebugFile
	t.modules = modules
	return nil
}

// look returns what is mapped; nil if that is what was mapped the last time.
func (t *Target) look() (modules *target.Modules, err error) {
	maps, err := t.readMaps()
	if fatal(err) {
		return nil, err
	}
	if err == nil {
		// A heap that grows is of no interest.
		named := slices.DeleteFunc(slices.Clone(maps), func(m procmaps.Mapping) bool { return !m.IsFile() && !m.Exec })
		if t.maps != nil && slices.Equal(named, t.maps) {
			return nil, nil
		}
		t.maps = named
		modules = t.mapped(maps)
		modules.Present = t.memory
		jit.Register(modules, t.memory, t.arch, t.files.Warn)
		return modules, nil
	}
	list, objects, err := t.listed()
	if err != nil || t.objects != nil && slices.Equal(objects, t.objects) {
		return nil, err
	}
	t.objects = objects
	modules = target.NewModules(list, nil)
	jit.Register(modules, t.memory, t.arch, t.files.Warn)
	// The list lacks the kernel's trampolines and the code that a JIT makes, so the memory itself
	// is asked. Unreadable memory is no code.
	modules.ProbeCode = func(addr uint64) bool {
		var p [2]byte
		n, _ := t.memory.ReadMemory(addr, p[:])
		return n == len(p)
	}
	return modules, nil
}

// fatal reports whether err leaves no use in asking the stub further.
func fatal(err error) bool {
	return err != nil && (errors.Is(err, ErrHungUp) || errors.Is(err, errNoAnswer))
}

// annex names the target's process in qXfer packets, because a stub may control several.
func (t *Target) annex() string {
	if t.PID == 0 {
		return ""
	}
	return strconv.FormatInt(int64(t.PID), 16)
}

// maxEnded is how many threads are asked for the list of mappings, if the first one has none.
const maxEnded = 16

// readMaps reads the kernel's list of mappings through the stub. For qemu, /proc/self/maps is the
// guest's list.
func (t *Target) readMaps() ([]procmaps.Mapping, error) {
	paths := []string{fmt.Sprintf("/proc/%d/maps", t.PID)}
	if t.s.isQemu() {
		paths = []string{"/proc/self/maps"}
	}
	var first error
	for i := 0; i < len(paths); i++ {
		text, err := t.s.readWhole(paths[i], maxMaps)
		if err == nil && len(text) == 0 && i == 0 && len(paths) == 1 {
			// The first thread has ended. Others have the memory.
			for _, th := range t.threads[:min(len(t.threads), maxEnded)] {
				paths = append(paths, fmt.Sprintf("/proc/%d/task/%d/maps", t.PID, th.id.tid))
			}
			continue
		}
		if err == nil && len(text) > 0 {
			return procmaps.Parse(text)
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

// isQemu reports whether the stub is qemu's. Other stubs do not know the packet; the answer is
// "ENABLE=1,NOIRQ=2,NOTIMER=4".
func (s *session) isQemu() bool {
	reply, err := s.exchange("qqemu.sstepbits")
	return err == nil && bytes.HasPrefix(reply, []byte("ENABLE="))
}

// mapped makes modules of the files that have code mapped, and of the vDSO.
func (t *Target) mapped(maps []procmaps.Mapping) *target.Modules {
	return procmaps.Modules(maps, func(f *procmaps.File) *target.Module {
		return t.files.Module(f.Path, f.Mappings)
	})
}

// listed makes modules of the loaded files, without the kernel's list of mappings.
func (t *Target) listed() (list []*target.Module, objects []linkmap.Object, err error) {
	objects, err = t.readObjects()
	if fatal(err) {
		return nil, nil, err
	}
	if err != nil {
		t.files.Warn("what is loaded is not all known: %v", err)
	}
	for _, o := range objects {
		if o.Program && t.Exe != "" {
			o.Path = t.Exe
		}
		if m, err := t.files.Object(o); err == nil {
			list = append(list, m)
		}
	}
	if len(list) == 0 && t.Exe == "" {
		t.files.Warn("the stub does not tell what is loaded: give the program by --exe")
	}
	return list, objects, nil
}

// readObjects lists the loaded files.
func (t *Target) readObjects() ([]linkmap.Object, error) {
	var auxv linkmap.Auxv
	data, err := t.Auxv()
	if fatal(err) {
		return nil, err
	}
	if err == nil {
		auxv = linkmap.ParseAuxv(data, t.arch)
	}
	var exe *elf.Image
	if t.Exe != "" {
		if exe, _, err = t.files.Open(t.Exe); err != nil {
			exe = nil
		}
	}
	list, err := linkmap.Read(t.memory, t.arch, auxv, exe)
	if fatal(err) || err == nil && len(list) > 1 {
		return list, err
	}
	libraries, libErr := t.libraries()
	if fatal(libErr) {
		return nil, libErr
	}
	if libErr != nil && !errors.Is(libErr, errUnsupported) {
		t.files.Warn("not all of the stub's list of libraries is known: %v", libErr)
	}
	if len(list) == 0 && exe != nil {
		// There is no auxiliary vector, so the program is taken to lie where it was linked to.
		list, err = []linkmap.Object{{Program: true, Path: t.Exe}}, nil
	}
	for _, o := range libraries {
		if !has(list, o.Bias) {
			list = append(list, o)
		}
	}
	return list, err
}

func has(list []linkmap.Object, bias uint64) bool {
	for _, o := range list {
		if o.Bias == bias {
			return true
		}
	}
	return false
}

// maxLibraries bounds the stub's list.
const maxLibraries = 1 << 14

// libraries reads the stub's own list (qXfer:libraries-svr4:read).
func (t *Target) libraries() (list []linkmap.Object, err error) {
	text, err := t.s.transfer("libraries-svr4", "", maxXML)
	if err != nil {
		return nil, err
	}
	all, err := elements(text, "library", maxLibraries)
	for _, e := range all {
		bias, convErr := strconv.ParseUint(e["l_addr"], 0, 64)
		if convErr != nil || e["name"] == "" {
			continue
		}
		list = append(list, linkmap.Object{Path: e["name"], Bias: bias, Header: bias})
	}
	return list, err
}
