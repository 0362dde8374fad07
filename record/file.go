package record

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"time"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/perfdata"
	"github.com/sfwalk/sfwalk/format/perfevent"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// FileOptions say how a file that perf has recorded is read.
type FileOptions struct {
	// Event is the name of the event whose samples are walked, as perf has it, with or without
	// modifiers; "" for the first.
	Event  string
	Places Places
	// Size is how many bytes the file takes up on disk: a larger file may take more work. It is 0
	// for a stream: then the bytes that were read count.
	Size int64
	// Own says that the recording is of this machine: files are where it had them, if they are the
	// same.
	Own func(perfdata.Info) bool
	// Table returns the sniffers for the stacks of a process.
	Table func(pid int, a *arch.Arch) *frame.Table
	// Warn is called with what the user should know; nil for nobody.
	Warn func(format string, args ...any)
}

// File is what a file has that perf has recorded.
type File struct {
	// Others are the events of the file that were left out, each with its samples.
	Others  []OtherEvent
	engine  *engine
	host    *recorded
	data    *perfdata.Reader
	opts    FileOptions
	chosen  *perfdata.Event
	first   uint64
	last    uint64
	counted map[*perfdata.Event]uint64
}

// OtherEvent is an event that was left out.
type OtherEvent struct {
	Name    string
	Samples uint64
}

// ErrNoSamples says that a file has no samples of the event that was asked for.
var ErrNoSamples = errors.New("no samples")

// ReadFile reads a file to its end, and walks its samples. A file whose end is lost is read as far
// as it goes.
func ReadFile(data *perfdata.Reader, opts FileOptions) (*File, error) {
	if opts.Warn == nil {
		opts.Warn = func(string, ...any) {}
	}
	f := newFile(data, opts)
	return f, f.read()
}

func newFile(data *perfdata.Reader, opts FileOptions) *File {
	f := &File{data: data, opts: opts, counted: map[*perfdata.Event]uint64{}}
	f.host = newRecorded(data, opts.Places, opts.Warn)
	f.host.size = opts.Size
	f.engine = newEngine(f.host, nil, Options{Table: opts.Table, Warn: opts.Warn})
	f.engine.file = f.host
	f.host.mapped = func(pid int) []procmaps.Mapping {
		if s := f.engine.spaces[int32(pid)]; s != nil {
			return s.maps
		}
		return nil
	}
	return f
}

func (f *File) read() error {
	err := f.data.Read(f.take)
	f.engine.deferred.giveUpAll(f.engine)
	if why := f.data.FirstUnread; why != nil {
		f.opts.Warn("a part of the file is left out, for it cannot be read: %v", why)
		f.engine.stats.Unread += f.data.Unread
	}
	if err == nil && f.chosen == nil && len(f.data.Events) > 0 {
		err = fmt.Errorf("%w of %s; there are: %s", ErrNoSamples, cmp.Or(f.opts.Event, f.data.Events[0].Name), f.samples())
		if f.data.Unfinished {
			err = fmt.Errorf("%w; the file has no end: perf record was killed, or the file is cut", err)
		}
		if n := f.engine.stats.Unread; n > 0 {
			err = fmt.Errorf("%w; %d records were left out, which do not parse", err, n)
			if why := f.data.FirstUnread; why != nil {
				err = fmt.Errorf("%w: %w", err, why)
			}
		}
	}
	for _, e := range f.data.Events {
		if n := f.counted[e]; n > 0 && e != f.chosen {
			f.Others = append(f.Others, OtherEvent{e.Name, n})
		}
	}
	return err
}

// samples says how many samples of which events there are.
func (f *File) samples() string {
	var list []string
	for _, e := range f.data.Events {
		list = append(list, fmt.Sprintf("%d of %s", f.counted[e], e.Name))
	}
	return strings.Join(list, ", ")
}

// take takes a record.
func (f *File) take(r perfdata.Record) error {
	e := f.engine
	e.format = &r.Event.Format
	switch r.Type {
	case perfevent.RecordSample:
		f.counted[r.Event]++
		if f.chosen == nil && (f.opts.Event == "" && r.Event == f.data.Events[0] || f.opts.Event != "" && r.Event.Is(f.opts.Event)) {
			f.chosen = r.Event
			if err := f.begin(); err != nil {
				return err
			}
		}
		if r.Event != f.chosen {
			return nil
		}
		if f.first == 0 {
			f.first = r.Time
		}
		f.last = max(f.last, r.Time)
	case perfevent.RecordMmap, perfevent.RecordMmap2:
		m, err := e.format.Mmap(r.Record)
		if err != nil {
			e.unread(err)
			return nil
		}
		if m.PID == -1 || r.Misc&perfevent.MiscMode == perfevent.MiscKernel {
			f.host.kernel.mapped(&m)
			return nil
		}
		e.mapped(&m)
		return nil
	case perfevent.RecordKsymbol:
		k, err := e.format.Ksymbol(r.Record)
		if err != nil {
			e.unread(err)
		} else {
			f.host.kernel.compiled(&k)
		}
		return nil
	}
	return e.record(r.Record)
}

// begin finds out what the first sample needs.
func (f *File) begin() error {
	info := &f.data.Info
	f.host.own = f.opts.Own == nil || f.opts.Own(*info)
	f.engine.period, f.engine.otherClock = max(f.chosen.Period, 1), !f.chosen.Monotonic
	if f.chosen.Unit == "nanoseconds" {
		f.engine.period = max(between(f.chosen.Frequency, f.chosen.Period), 1)
	}
	f.engine.maxChain = int(f.chosen.MaxChain)
	var err error
	if f.engine.opts.Arch, f.engine.opts.Arch32, err = f.processor(); err != nil {
		return err
	}
	return nil
}

// processor returns the processor of the machine, and how it runs programs of 32 bits; nil where it
// does not.
func (f *File) processor() (a, narrow *arch.Arch, err error) {
	if machine := f.data.Info.Arch; machine != "" {
		if a = arch.ByUname(machine); a == nil || a.Order != f.data.Order {
			return nil, nil, fmt.Errorf("the recording is of a machine whose processor is %q, which there is no descriptor of", machine)
		}
		return a, a.Of32Bits(), nil
	}
	// A file whose end is lost does not say. The kernel's lists of registers differ.
	mask := f.chosen.Format.UserRegs
	if x := arch.ByPerfMask(mask, f.data.Order); x != nil {
		f.opts.Warn("the file does not say which processor it is of: by its registers, it is %s", x.Name)
		return x, x.Of32Bits(), nil
	}
	if mask == 0 && f.host.own {
		if a = arch.ByName(runtime.GOARCH); a != nil && a.Order == f.data.Order {
			f.opts.Warn("the file does not say which processor it is of: it is taken for one of this machine, %s", a.Name)
			return a, a.Of32Bits(), nil
		}
	}
	return nil, nil, errors.New("the file does not say which processor it is of, and its registers are none that are known")
}

// Profile returns what was read.
func (f *File) Profile() *Profile {
	e := f.engine
	e.lookAtAll()
	p := &Profile{Threads: e.list, Stats: e.stats, Kernel: true, Duration: time.Duration(f.last - f.first), stacks: e.tree.now(), owners: e.owners, file: f.host}
	if c := f.chosen; c != nil {
		p.Event, p.Frequency, p.Period = c.Event, int(min(c.Frequency, math.MaxInt32)), c.Period
	}
	info := &f.data.Info
	if !info.Wall.IsZero() && f.first != 0 {
		p.Start = info.Wall.Add(time.Duration(f.first - info.Clock))
	}
	f.host.kernel.ids, f.host.kernel.own = info.BuildIDs, f.host.own
	return p
}

// Close closes the files that [Profile.Picture] reads: call that before.
func (f *File) Close() { f.host.close() }

// usualSearches is how many instructions of code without tables are searched for all samples of a
// file, which takes some three seconds; moreSearches, how many more for each byte of the file. One
// sample in a small file may lead to thousands of places, and a file may expand to a thousand
// samples.
const usualSearches, moreSearches = 6 << 20, 6

// searchLeft returns how many instructions may still be searched for the samples of the file.
func (e *engine) searchLeft() int64 {
	size := e.file.size
	if size == 0 {
		size = int64(e.file.data.Offset())
	}
	left := usualSearches + moreSearches*size - e.searched
	if left <= 0 && !e.noSearch {
		e.noSearch = true
		e.opts.Warn("code without tables was searched for as long as a file of this size allows: later stacks may end early, " +
			"or are guessed; there is less to search where the recorded machine's files are at hand")
	}
	return left
}
