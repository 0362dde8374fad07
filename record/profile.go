package record

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sfwalk/sfwalk/format/perfevent"
	"github.com/sfwalk/sfwalk/internal/jitname"
	"github.com/sfwalk/sfwalk/internal/kernelnames"
	"github.com/sfwalk/sfwalk/internal/printable"
	"github.com/sfwalk/sfwalk/picture"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/jit"
)

// Profile is what was recorded: stacks, and how often each was found.
type Profile struct {
	Event     perfevent.Event
	Frequency int
	Start     time.Time
	Duration  time.Duration
	Threads   []Thread
	Stats     Stats
	Kernel    bool // samples in the kernel's code are there, too
	// Period is how many events are from one sample to the next, where Frequency is 0.
	Period uint64

	stacks
	part   int // how often profiles were taken before
	owners map[*target.Module]owner
	file   *recorded // that this is of; nil for a recording of this machine
}

// nanoseconds returns the time from one sample to the next; 0 where that is not known, or is not
// what was asked for.
func (p *Profile) nanoseconds() int64 {
	if p.Event.Unit != "nanoseconds" || p.Event.Switches {
		return 0
	}
	return int64(min(between(uint64(max(p.Frequency, 0)), p.Period), math.MaxInt64))
}

// between returns the nanoseconds from one sample to the next; 0 if they are not known. Either
// frequency, samples a second, or period is 0: a file may have 0 for both.
func between(frequency, period uint64) uint64 {
	if frequency == 0 {
		return period
	}
	return uint64(time.Second) / frequency
}

// Process returns the process that a module was mapped in, so that its files can be found; 0 if m
// is of none.
func (p *Profile) Process(m *target.Module) (pid int) { return p.owners[m].pid }

// OpenNamed opens a file that a module or its debug information names, below root or, if that is
// "", on this machine: with the rights of the user whose process had the module mapped; of a file
// that was recorded, with this program's. It is for [symbol.Options].
func (p *Profile) OpenNamed(m *target.Module, root, path string) (*os.File, error) {
	return p.owners[m].word.Open(root, path)
}

// Since returns what was recorded after an earlier profile of the same recording; all of it if
// earlier is nil, or from before a [Recorder.Take].
func (p *Profile) Since(earlier *Profile) *Profile {
	if earlier == nil || earlier.part != p.part {
		return p
	}
	later := *p
	later.Start, later.Duration = p.Start.Add(earlier.Duration), p.Duration-earlier.Duration
	later.counts = slices.Clone(p.counts)
	for i, c := range earlier.counts {
		// Samples may have moved to the code that they were in.
		later.counts[i].samples -= min(c.samples, later.counts[i].samples)
		later.counts[i].value -= min(c.value, later.counts[i].value)
	}
	s, before := &later.Stats, &earlier.Stats
	s.Samples -= before.Samples
	s.Lost -= before.Lost
	s.Unread -= before.Unread
	s.Throttled -= before.Throttled
	s.Whole -= before.Whole
	s.Chained -= before.Chained
	s.Cut -= before.Cut
	s.Stopped -= before.Stopped
	s.Empty -= before.Empty
	s.Unwalked -= before.Unwalked
	s.Bounded -= before.Bounded
	s.Unfollowed -= before.Unfollowed
	s.Bare -= before.Bare
	s.Unsampled -= before.Unsampled
	s.Missed -= before.Missed
	return &later
}

// Picture names the frames, and returns the stacks, for package picture to draw. Call
// [Namer.Picture] instead for several profiles of one recording.
func (p *Profile) Picture(symbols *symbol.Symbolizer) *picture.Stacks {
	return NewNamer(symbols).Picture(p)
}

// Namer names the frames of one recording's profiles. It keeps the names, for the next profile. One
// goroutine may use it.
type Namer struct {
	// Kernel returns the names of the running kernel's functions that hold addresses. If it is nil,
	// /proc/kallsyms is read, which takes the kernel some 50 ms to write.
	Kernel func(addrs []uint64) map[uint64]string

	// MaxText bounds the text of all names and labels in bytes, 0 for 32 MiB. Places and samples
	// beyond have addresses and threads alone, and a warning says so.
	MaxText int64
	// LeftOut says what the last picture lacks because of MaxText.
	LeftOut []string
	// Enough, if it is not nil, reports that no more names are to be looked for: places that have
	// none have addresses alone then, and a warning says so.
	Enough func() bool

	symbols  *symbol.Symbolizer
	profile  *Profile
	text     int64             // bytes of named
	unnamed  int               // of these, how many have no names because of MaxText
	named    [][]picture.Place // by the numbers of places; nil where nobody has asked
	modules  map[*target.Module]*picture.Module
	alone    map[*target.Module]*target.Modules
	kernel   map[uint64]string
	jitNames map[jitAt]string // names of code that processes have made
	said     []string         // see Warnings
}

// jitAt is where a process has made code.
type jitAt struct {
	pid  int32
	addr uint64
}

// NewNamer returns a Namer that has names from symbols, which the caller closes after it.
func NewNamer(symbols *symbol.Symbolizer) *Namer {
	return &Namer{symbols: symbols, modules: map[*target.Module]*picture.Module{}, alone: map[*target.Module]*target.Modules{}, kernel: map[uint64]string{}}
}

// Picture names the frames of a profile, and returns its stacks, for package picture to draw. Call
// it for each profile of the recording: names are found once.
func (n *Namer) Picture(p *Profile) *picture.Stacks {
	if n.profile != nil && n.profile.part != p.part {
		n.keep(p)
	}
	n.profile, n.jitNames = p, map[jitAt]string{}
	n.named = append(n.named, make([][]picture.Place, len(p.places)-min(len(p.places), len(n.named)))...)
	s := &picture.Stacks{Time: p.Start, Duration: p.Duration}
	s.Types = []picture.Type{{Name: "samples", Unit: "count"}}
	counted := picture.Type{Name: p.Event.Name, Unit: p.Event.Unit}
	if counted == (picture.Type{Name: perfevent.Events[0].Name, Unit: perfevent.Events[0].Unit}) {
		counted.Name = "cpu"
	}
	s.Types = append(s.Types, counted)
	s.Lost = p.Stats.Lost
	if s.Period = p.nanoseconds(); s.Period > 0 {
		s.PeriodType = counted
	}
	if !n.enough() {
		n.nameKernel()
	}
	if !n.enough() {
		n.nameJITCode(n.inNoFile())
	}
	n.namePlaces()
	processes := map[int]bool{}
	for _, t := range p.Threads {
		processes[t.PID] = true
	}
	var room []picture.Place
	labels := map[sampleKey]labelled{} // samples have them in common: there are many
	text, unlabelled := int64(0), 0    // of labels: some formats have them with each sample
	values := make([]int64, 0, 2*len(p.counts))
	for i, c := range p.counts {
		if c.samples == 0 {
			continue
		}
		key := p.keys[i]
		room = room[:0]
		if key.cut {
			room = append(room, picture.Place{Name: "[inner frames are left out: there are too many different stacks]"})
		}
		for at := key.node; at != 0; at = p.nodes[at].parent {
			room = append(room, n.named[p.nodes[at].place]...)
		}
		key.node, key.cut = 0, false
		sample, ok := labels[key]
		if !ok {
			sample = p.labels(key, len(processes) > 1)
			labels[key] = sample
		}
		if text += sample.text; text > n.mostText() {
			text -= sample.text
			sample.Texts = sample.Texts[:sample.own]
			unlabelled++
		}
		values = append(values, int64(c.samples), int64(c.value))
		sample.Values = values[len(values)-2:]
		s.Add(room, sample.Sample)
	}
	if p.manyNamed {
		n.say(fmt.Sprintf("sniffers and languages have more than %d different names: further ones are left out", maxNamed))
	}
	n.LeftOut = nil
	n.leaveOut("%d different samples have no labels of the program's", unlabelled)
	n.leaveOut("%d places have no names", n.unnamed)
	if len(processes) == 1 {
		s.Program = program(s.Places, p.Threads[0].Process)
	}
	return s
}

// program returns the path of the program of a process, by the name that the kernel has given it;
// "" if there is none of that name.
func program(places []picture.Place, process string) string {
	const longest = 15 // TASK_COMM_LEN, without the byte behind the name
	for i := range places {
		if m := places[i].Module; m != nil {
			if name := path.Base(m.Path); name == process || len(name) > longest && name[:longest] == process {
				return m.Path
			}
		}
	}
	return ""
}

// keep keeps the names of those places alone that a profile after a [Recorder.Take] has, where they
// have other numbers.
func (n *Namer) keep(p *Profile) {
	known := make(map[place][]picture.Place, len(n.named))
	for i, named := range n.named {
		if at := n.profile.places[i]; named != nil && at.kind != placeEnd && at.name == 0 { // names have other numbers
			known[at] = named
		}
	}
	n.named = make([][]picture.Place, len(p.places))
	used := map[*target.Module]bool{}
	for i, at := range p.places {
		n.named[i] = known[at]
		used[at.module] = true
	}
	n.text, n.unnamed = 0, 0
	for _, list := range n.named {
		n.text += textOf(list)
	}
	maps.DeleteFunc(n.modules, func(m *target.Module, _ *picture.Module) bool { return !used[m] })
	maps.DeleteFunc(n.alone, func(m *target.Module, _ *target.Modules) bool { return !used[m] })
}

// labels returns what a sample has beside its frames and values. several says that there are
// several processes.
func (p *Profile) labels(key sampleKey, several bool) labelled {
	t := p.Threads[key.thread]
	sample := picture.Sample{Numbers: []picture.Number{{Key: "tid", Value: int64(t.TID)}, {Key: "pid", Value: int64(t.PID)}}}
	if t.Name != "" {
		sample.Texts = []picture.Text{{Key: "thread", Value: t.Name}}
	}
	if name := stateNames[key.state]; name != "" {
		sample.Texts = append(sample.Texts, picture.Text{Key: "state", Value: name})
	}
	own, text := len(sample.Texts), int64(0)
	tag := &p.tags[key.tag]
	for _, l := range tag.labels {
		name := l.Key
		switch name {
		case "thread", "state", "tid", "pid", "goroutine":
			name = "go." + name // the program's own, not the sample's
		}
		sample.Texts = append(sample.Texts, picture.Text{Key: name, Value: l.Value})
		text += textLen(name) + textLen(l.Value)
	}
	if tag.goroutine != 0 {
		sample.Numbers = append(sample.Numbers, picture.Number{Key: "goroutine", Value: int64(tag.goroutine)})
	}
	if several {
		sample.Root = fmt.Sprintf("%s [%d]", t.Process, t.PID)
	}
	return labelled{sample, own, text}
}

// labelled is what samples have in common.
type labelled struct {
	picture.Sample
	own  int   // of Texts, how many are not the program's
	text int64 // bytes of the others
}

// usualText is [Namer.MaxText] if none is given: 512 bytes for each of as many places as there may
// be.
const usualText = 32 << 20

func (n *Namer) mostText() int64 { return cmp.Or(n.MaxText, usualText) }

// leaveOut notes how many things have no text, for all would be too much.
func (n *Namer) leaveOut(what string, count int) {
	if count > 0 {
		n.LeftOut = append(n.LeftOut, fmt.Sprintf(what+": all are more than %d bytes of text", count, n.mostText()))
	}
}

// textOf returns the bytes of the names of places.
func textOf(list []picture.Place) (bytes int64) {
	for i := range list {
		bytes += textLen(list[i].Function) + textLen(list[i].Name) + textLen(list[i].File)
	}
	return bytes
}

// textLen returns how long a text is, as it is written: an escape takes up to six bytes.
func textLen(text string) int64 {
	if printable.Escape(text) != text {
		return 6 * int64(len(text))
	}
	return int64(len(text))
}

// namePlaces names the places of the samples that have no name yet, file by file and by their
// addresses there: what lies side by side is read once then.
func (n *Namer) namePlaces() {
	p := n.profile
	var list []uint32
	seen := make([]bool, len(p.nodes))
	for i, c := range p.counts {
		if c.samples == 0 {
			continue
		}
		for at := p.keys[i].node; at != 0 && !seen[at]; at = p.nodes[at].parent {
			seen[at] = true
			if id := p.nodes[at].place; n.named[id] == nil {
				list = append(list, id)
			}
		}
	}
	slices.SortFunc(list, func(a, b uint32) int {
		aPath, aAt := p.places[a].inFile()
		bPath, bAt := p.places[b].inFile()
		return cmp.Or(strings.Compare(aPath, bPath), cmp.Compare(aAt, bAt))
	})
	bare := 0
	var unnamed []uint32 // in files that have no name for them
	for _, id := range list {
		switch {
		case n.named[id] != nil:
		case n.enough():
			n.named[id] = n.nameCode(&p.places[id], true)
			bare++
		default:
			n.named[id] = n.name(&p.places[id])
			if n.lacksName(id) {
				unnamed = append(unnamed, id)
			}
		}
	}
	if len(unnamed) > 0 && !n.enough() {
		n.nameInFiles(unnamed)
	}
	if bare > 0 {
		n.say(fmt.Sprintf("%d of %d places have no names: it was interrupted while it looked for them", bare, len(list)))
	}
}

// enough reports whether no more names are to be looked for.
func (n *Namer) enough() bool { return n.Enough != nil && n.Enough() }

// nameKernel finds the names of the kernel's functions that have none yet, all at once.
func (n *Namer) nameKernel() {
	var addrs []uint64
	for i := range n.profile.places {
		if p := &n.profile.places[i]; p.kind == placeKernel && n.named[i] == nil {
			addrs = append(addrs, p.addr)
		}
	}
	if n.profile.file != nil {
		maps.Copy(n.kernel, n.profile.file.kernel.names(addrs))
		return
	}
	names := n.Kernel
	if names == nil {
		names = kernelnames.Running
	}
	maps.Copy(n.kernel, names(addrs))
}

// maxSaid bounds the Warnings.
const maxSaid = 16

func (n *Namer) say(what string) {
	switch {
	case slices.Contains(n.said, what):
	case len(n.said) < maxSaid:
		n.said = append(n.said, what)
	case len(n.said) == maxSaid:
		n.said = append(n.said, fmt.Sprintf("there are more warnings of names than %d: further ones are left out", maxSaid))
	}
}

// Warnings returns what the user should know of the names so far. Call it after Picture.
func (n *Namer) Warnings() []string { return n.said }

// Tables calls said for each thing that went wrong with the symbols of a module that frames are in;
// path is the module's. Call it after Picture.
func (n *Namer) Tables(said func(path string, err error)) {
	list := slices.SortedFunc(maps.Keys(n.modules), func(a, b *target.Module) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Lo(), b.Lo()))
	})
	for _, m := range list {
		for _, err := range n.symbols.Warnings(m) {
			said(m.Path, err)
		}
	}
}

// Module returns a module by its name and an address in it, among the modules that frames are in;
// nil if there is none.
func (n *Namer) Module(path string, addr uint64) *target.Module {
	for m := range n.modules {
		if m.Path == path && m.Lo() <= addr && addr < m.Hi() {
			return m
		}
	}
	return nil
}

// Locate returns what is at an address of a module, as [symbol.Symbolizer.Locate] does.
func (n *Namer) Locate(m *target.Module, addr uint64) []symbol.Location {
	alone := n.alone[m]
	if alone == nil {
		alone = target.Only(m)
		n.alone[m] = alone
	}
	return n.symbols.Locate(alone, addr)
}

// name returns the frames of a place: the calls that are inlined there, then the function; the
// address alone if there is no room for their text.
func (n *Namer) name(p *place) []picture.Place {
	list := n.nameAll(p)
	text := textOf(list)
	if n.text+text > n.mostText() {
		n.unnamed++
		return n.nameCode(p, true)
	}
	n.text += text
	return list
}

// nameAll is name without a bound.
func (n *Namer) nameAll(p *place) []picture.Place {
	list := n.nameCode(p, false)
	if p.name == 0 || p.kind == placeLanguage {
		return list
	}
	// A name for the code comes behind names from files, as in the other commands.
	if by := &n.profile.named[p.name-1]; by.FrameOnly || list[len(list)-1].Function == "" || list[len(list)-1].NameFrom != "" {
		at := &list[len(list)-1]
		at.Function, at.NameFrom, at.File, at.Line, at.Name = by.Function, "", by.File, by.Line, ""
		if by.FrameOnly {
			at.Inlined = false
			return list[len(list)-1:]
		}
	}
	return list
}

// nameCode returns the frames of a place by what is known of the code there; with bare, by its
// address alone.
func (n *Namer) nameCode(p *place, bare bool) []picture.Place {
	jitted, kernel := n.jitNames[n.jitAt(p)], n.kernel[p.addr]
	if bare {
		jitted, kernel = "", ""
	}
	switch {
	case p.kind == placeEnd:
		return []picture.Place{{Name: "[" + n.profile.reasons[p.addr] + "]"}}
	case p.kind == placeLanguage:
		return []picture.Place{n.nameLanguage(p, bare)}
	case p.kind == placeKernel:
		return []picture.Place{{Function: kernel, Name: fmt.Sprintf("[kernel] %#x", p.addr), Address: p.addr, Code: picture.KernelCode}}
	case p.module == nil || p.module.Doubted() && jitted != "":
		at := jitname.Split(jitname.Readable(jitted))
		return []picture.Place{{Function: at.Function, File: at.File, Line: at.Line, Name: fmt.Sprintf("%#x", p.addr), Address: p.addr, Code: picture.MadeCode}}
	}
	m := n.modules[p.module]
	dumped := jit.IsDump(p.module.Path) // each function is a module: they would be thousands
	if m == nil && !dumped {
		m = &picture.Module{Path: p.module.Path, BuildID: p.module.BuildID(), Lo: p.module.Lo(), Hi: p.module.Hi()}
		if len(p.module.Mappings) > 0 {
			m.Offset = p.module.Mappings[0].Offset
		}
		n.modules[p.module] = m
	}
	var list []picture.Place
	var found []symbol.Location
	if !bare {
		found = n.Locate(p.module, p.addr)
	}
	for _, at := range found {
		file := at.File
		if at.Dir != "" { // a relative name counts from there
			file = path.Join(at.Dir, file)
		}
		list = append(list, picture.Place{Function: at.Function, NameFrom: at.NameFrom, File: file, Line: at.Line, Address: p.addr, Module: m, Inlined: at.Inline})
	}
	if len(list) == 0 {
		list = []picture.Place{{Address: p.addr, Module: m}}
	}
	if outer := &list[len(list)-1]; outer.Function == "" && jitted != "" {
		at := jitname.Split(jitname.Readable(jitted))
		outer.Function, outer.File, outer.Line = at.Function, at.File, at.Line
	}
	code := picture.LibraryCode
	switch {
	case dumped || p.module.Registered():
		code = picture.MadeCode
	case p.module.IsProgram():
		code = picture.OwnCode
	}
	for i := range list {
		list[i].Code = code
		switch {
		case list[i].Function == "" && dumped:
			list[i].Name = fmt.Sprintf("%#x", p.addr)
		case list[i].Function == "":
			list[i].Name = fmt.Sprintf("%s+%#x", filepath.Base(m.Path), p.addr-m.Lo+m.Offset)
		}
	}
	return list
}

// nameLanguage returns the frame of a language at a place.
func (n *Namer) nameLanguage(p *place, bare bool) picture.Place {
	if p.name == 0 || bare {
		return picture.Place{Name: "[a frame of a language, whose name is left out]", Code: picture.LanguageCode}
	}
	by := &n.profile.named[p.name-1]
	return picture.Place{Function: by.Function, File: by.File, Line: by.Line, Code: picture.LanguageCode}
}
