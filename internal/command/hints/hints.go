package hints

import (
	"debug/elf"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sfwalk/sfwalk/internal/perfmap"
	"github.com/sfwalk/sfwalk/internal/regular"
	"github.com/sfwalk/sfwalk/target"
)

// About is what hints must know of a process, and of the command that has looked at it.
type About struct {
	PID     int              // 0 if it is not known
	Exe     string           // the program's path; "" if it is not known
	Modules []*target.Module // all of the process
	Root    string           // the folder below which its files are; "" for this machine's root
	// Open opens a file by its path below a root; nil has this program's rights.
	Open func(root, path string) (*os.File, error)
	// Lacks returns the build IDs of the debug files that a module has not.
	Lacks func(m *target.Module) []string
	// Refused reports whether a debug file was found for a module that is another build's: then a
	// warning has said so.
	Refused func(m *target.Module) bool
	// Languages have run times in the process, so that their frames have names unasked.
	Languages []string
	// Sampled says that the kernel has copied the stacks: languages whose frames are on the heap
	// have none.
	Sampled bool
	Live    bool // the process runs on this machine
	// Registered says that frames are in code which the process has told debuggers or perf of.
	Registered bool

	Servers        bool // DEBUGINFOD_URLS names servers
	ServersUnasked bool // they were not asked: --no-debuginfod
	ServersFailed  bool // they could not be asked for all: a warning has said so
	Held           bool // the command asks no servers, for instance because it holds the process

	OneMoment bool  // the threads are of one moment: the command says for which locks they wait
	Suspected []int // threads that seem to be in a deadlock, if they are not of one moment

	FileFlags string // which flags say where files are: "--exe FILE or --sysroot DIR"; "" if none does
	ExeFlag   string // which of them names the program alone; "" if none does
}

// Lines returns what helps, one line a subject.
func (s *Seen) Lines(a *About) (list []Line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	modules := make([]*module, 0, len(s.modules))
	for _, m := range a.Modules {
		if of := s.modules[m]; of != nil {
			modules = append(modules, of)
		}
	}
	// The order of their addresses is another one in each process: the kernel maps small files into
	// gaps, which differ.
	slices.SortStableFunc(modules, func(a, b *module) int { return strings.Compare(path.Base(a.of.Path), path.Base(b.of.Path)) })
	for _, line := range []*Line{s.missing(a, modules), symbolsOf(a, modules), s.strippedIn(a, modules), s.runtime(a, modules), s.locks(a), suspected(a)} {
		if line != nil {
			list = append(list, *line)
		}
	}
	return list
}

// locks says which flag tells for which locks threads wait.
func (s *Seen) locks(a *About) *Line {
	if len(s.waiting) == 0 || a.OneMoment || !a.Live {
		return nil
	}
	l := &Line{waiting, nil, "--consistent says for which, and who holds"}
	for _, w := range s.waiting {
		if l.files = append(l.files, strconv.Itoa(w.tid)); w.end {
			l.kind = waitingEnds
		}
	}
	return l
}

// suspected says which flag tells whether threads are in a deadlock.
func suspected(a *About) *Line {
	if len(a.Suspected) == 0 || !a.Live {
		return nil
	}
	l := &Line{deadlocked, nil, "--consistent says whether they are"}
	for _, tid := range a.Suspected {
		l.files = append(l.files, strconv.Itoa(tid))
	}
	return l
}

// isHere reports whether the file of a module was read, and is the one that is mapped.
func isHere(m *target.Module) bool {
	if im, _, err := m.PeekImage(); err == nil {
		return im.File() != nil
	}
	im, err := m.PE()
	return err == nil && !im.Mapped()
}

// missing says by which flags the files of another machine's process are found.
func (s *Seen) missing(a *About, modules []*module) *Line {
	if a.FileFlags == "" {
		return nil
	}
	var files []string
	exe := false
	for _, m := range a.Modules {
		if !m.ImageUsed() || !strings.ContainsAny(m.Path, `/\`) || inNoFile(m.Path) || isHere(m) || slices.Contains(files, m.Path) {
			continue
		}
		if of := s.modules[m]; of == nil || !of.unnamed {
			continue // symbols or memory have told the names
		}
		if m.Path == a.Exe {
			exe = true
			files = slices.Insert(files, 0, m.Path)
		} else {
			files = append(files, m.Path)
		}
	}
	switch {
	case len(files) == 0:
		return nil
	case exe && len(files) == 1 && a.ExeFlag != "":
		return &Line{missingProgram, files, a.ExeFlag}
	}
	return &Line{missingFiles, files, a.FileFlags}
}

// lacksSymbols reports whether a module's file has no symbols, and no debug file has them.
func lacksSymbols(a *About, m *module) (buildID string, lacks bool) {
	if !m.unnamed || !isHere(m.of) || a.Refused(m.of) {
		return "", false
	}
	im, _, err := m.of.PeekImage()
	if err != nil {
		return "", false // one of Windows
	}
	for _, section := range im.ELF().Sections {
		if section.Type == elf.SHT_SYMTAB {
			return "", false
		}
	}
	if list := a.Lacks(m.of); len(list) > 0 {
		return list[0], true
	}
	return "", im.BuildID == "" // then nobody can find a debug file
}

// symbolsOf says which package or server has the symbols of the system's libraries.
func symbolsOf(a *About, modules []*module) *Line {
	var files []string
	var of []string // the packages of the files
	first := ""     // the build ID of the first
	inFile := ""    // the path of the first
	for _, m := range modules {
		file := a.inside(m.of.Path)
		if !ofSystem(file) || ofCompiler(file) || beginsThreads(m) {
			continue
		}
		id, lacks := lacksSymbols(a, m)
		if !lacks || id == "" {
			continue
		}
		base := path.Base(m.of.Path)
		if slices.Contains(files, base) {
			continue
		}
		if files = append(files, base); first == "" {
			first, inFile = id, file
		}
		if name := packageOf(m.of.Path); !slices.Contains(of, name) {
			of = append(of, name)
		}
	}
	if len(files) == 0 || a.ServersFailed {
		return nil
	}
	says := func(remedy string) *Line { return &Line{lackingSymbols, files, remedy} }
	switch {
	case a.ServersUnasked:
		return says("without --no-debuginfod, the servers of DEBUGINFOD_URLS are asked for their symbols")
	case a.Servers && a.Held:
		return says("'debuginfod-find debuginfo " + first + "' fetches symbols, for this command asks no servers")
	}
	release := Release(a.Root, a.Open)
	sys := systemOf(release)
	install := sys.install[""]
	if len(of) == 1 && sys.install[of[0]] != "" {
		install = sys.install[of[0]]
	}
	if install == installLibc6 {
		processor := processorOf(inFile)
		there, other := installed(a.Root, "libc6-dbg", processor)
		if !there && processor != "" && (other || a.foreign(processor)) {
			install += ":" + processor
		}
		if there {
			return says("libc6-dbg is installed, but of another build than the C library that the process has mapped (build ID " + first +
				"): have both of one version, and start the process anew")
		}
	}
	where := ""
	if a.Live && release != Release("", nil) {
		where = " in its container"
	}
	if install != "" {
		install += where
	}
	if a.Servers {
		if install == "" {
			return says("the servers of DEBUGINFOD_URLS have no symbols of them")
		}
		return says("the servers of DEBUGINFOD_URLS have no symbols of them: " + install)
	}
	if sys.server == "" {
		return says(install)
	}
	set := "set DEBUGINFOD_URLS=" + sys.server
	if a.Held {
		set = "fetch symbols by 'DEBUGINFOD_URLS=" + sys.server + " debuginfod-find debuginfo " + first + "'"
	}
	if install == "" {
		return says(set)
	}
	return says(install + ", or " + set)
}

// inside returns a file's path as the process has it: after chroot, the kernel tells this
// machine's.
func (a *About) inside(file string) string {
	if !a.Live || a.Root == "" {
		return file
	}
	root, err := os.Readlink(a.Root)
	if rest, ok := strings.CutPrefix(file, root); ok && err == nil && strings.HasPrefix(rest, "/") {
		return rest
	}
	return file
}

// beginsThreads reports whether the only place in a file without a name is where libstdc++ begins
// threads. That is in the stack of each thread, and no name tells more of it.
func beginsThreads(m *module) bool {
	return !m.several && strings.HasPrefix(path.Base(m.of.Path), "libstdc++.so.")
}

// processors are Debian's names of processors, by the folders in which their libraries lie.
var processors = map[string]string{
	"x86_64-linux-gnu": "amd64", "i386-linux-gnu": "i386", "aarch64-linux-gnu": "arm64", "arm-linux-gnueabihf": "armhf", "s390x-linux-gnu": "s390x",
}

// processorOf returns Debian's name of the processor for which a library is, by the library's path;
// "" if that does not tell.
func processorOf(file string) string { return processors[path.Base(path.Dir(file))] }

// installed reports whether a package of Debian is installed below a root for a processor, "" for
// any; and whether it is for another.
func installed(root, name, processor string) (there, other bool) {
	for _, p := range processors {
		_, err := os.Lstat(filepath.Join(root, "/var/lib/dpkg/info", name+":"+p+".list"))
		there = there || err == nil && (p == processor || processor == "")
		other = other || err == nil && p != processor
	}
	return there, other
}

// foreign reports whether a processor is not the one that Debian's packages are for if their names
// do not tell. dpkg lists that one first, if there are others.
func (a *About) foreign(processor string) bool {
	own, _, _ := strings.Cut(read(a.Root, "/var/lib/dpkg/arch", a.Open), "\n")
	return own != "" && own != processor
}

// ofCompiler reports whether a file is a library of a compiler for another processor, for which no
// package has symbols: it lies in /usr/TRIPLET/lib.
func ofCompiler(file string) bool {
	rest, ok := strings.CutPrefix(file, "/usr/")
	triplet, rest, _ := strings.Cut(rest, "/")
	return ok && strings.Contains(triplet, "-linux-gnu") && strings.HasPrefix(rest, "lib")
}

// strippedIn says what helps for files that are no package's: programs that somebody has built.
func (s *Seen) strippedIn(a *About, modules []*module) *Line {
	var files []string
	for _, m := range modules {
		if ofSystem(a.inside(m.of.Path)) || isRuntime(m.of.Path) || strings.HasPrefix(m.of.Path, "[") {
			continue
		}
		if _, lacks := lacksSymbols(a, m); !lacks {
			continue
		}
		if base := path.Base(m.of.Path); !slices.Contains(files, base) {
			files = append(files, base)
		}
	}
	if len(files) == 0 {
		return nil
	}
	return &Line{withoutSymbols, files, ""}
}

// isRuntime reports whether a file is an interpreter's, or a compiler's at run time.
func isRuntime(file string) bool {
	return slices.ContainsFunc(runtimes, func(r runtime) bool { return r.file().MatchString(path.Base(file)) })
}

// runtime says which flag has an interpreter, or a compiler at run time, tell names.
func (s *Seen) runtime(a *About, modules []*module) *Line {
	if s.named || a.Registered {
		return nil // a map or a jitdump was read
	}
	for i := range runtimes {
		r := &runtimes[i]
		if r.language != "" && slices.Contains(a.Languages, r.language) {
			continue
		}
		for _, m := range a.Modules {
			file := r.file().FindStringSubmatch(path.Base(m.Path))
			if file == nil {
				continue
			}
			of := s.modules[m]
			ran := of != nil && (of.evals || r.bare && of.bare)
			if !ran && (!s.made || r.never) {
				continue
			}
			if a.Live && a.hasMap() {
				return nil
			}
			remedy := r.remedy
			switch {
			case r.onHeap && a.Sampled:
				return &Line{atRunTime, []string{r.subject}, "--wall has them"}
			case r.older != nil:
				if text := r.older(file); text != "" {
					remedy = text
				}
			}
			if strings.Contains(remedy, "%d") {
				if !a.Live {
					remedy = strings.ReplaceAll(remedy, "%d", "PID")
				} else {
					remedy = fmt.Sprintf(remedy, a.PID)
				}
			}
			return &Line{atRunTime, []string{r.subject}, remedy}
		}
	}
	return nil
}

// hasMap reports whether the process has written a perf map. In a container it knows itself by
// another number.
func (a *About) hasMap() bool {
	status, err := os.Open(fmt.Sprintf("/proc/%d/status", a.PID))
	if err != nil {
		return false
	}
	defer status.Close()
	own, _ := perfmap.Owner(status)
	_, err = regular.At{Root: a.Root, Path: fmt.Sprintf("/tmp/perf-%d.map", own)}.Stat()
	return err == nil
}
