package record

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/format/perfevent"
	"github.com/sfwalk/sfwalk/record/internal/ring"
)

// Each thread has a clock of its own, which gives a sample when the thread has run for the time
// between two. A thread that ends before has none, and the time since a thread's last sample is in
// none either: a server with a thread for each request may have no sample at all. The clocks of
// processors go on whoever runs. Samples of others are left out then, which costs something; and
// not everybody may have samples of others.

// manyThreads is how many threads are sampled each by itself from the beginning on: each takes an
// event, and a file, for each processor.
const manyThreads = 500

// A recording goes over to processors where at least this many threads have begun and ended, or
// this many times between two samples are in none, and the part of all samples is at least one of
// so many.
const (
	manyBrief = 20
	briefPart = 10
)

// shortLived reports whether threads are so short that much of their time is in no sample.
func (r *Recorder) shortLived() bool {
	if r.refused || r.opts.Event.Switches || len(r.opts.PIDs) == 0 || r.engine.only != nil {
		return false
	}
	s := &r.engine.stats
	if brief := r.engine.brief; brief >= manyBrief && brief >= s.Samples/briefPart {
		return true
	}
	if r.part > 0 || !r.clock() {
		return false
	}
	taken := cpuTime(r.opts.PIDs) - r.cpu
	missed := taken - r.period()*time.Duration(s.Samples+s.Lost)
	return missed >= manyBrief*r.period() && missed >= taken/briefPart
}

// cpuTime is what processes have taken of the processors, with all their threads, also threads that
// have ended. A process that has ended counts as 0.
func cpuTime(pids []int) (sum time.Duration) {
	for _, pid := range pids {
		const sched = 2 // CPUCLOCK_SCHED: clock_getcpuclockid(3) makes the same number
		var t unix.Timespec
		if unix.ClockGettime(int32(^pid<<3|sched), &t) == nil {
			sum += time.Duration(t.Nano())
		}
	}
	return sum
}

// clock reports whether the time of processors is counted, at a frequency.
func (r *Recorder) clock() bool {
	return r.wall == nil && r.opts.Event.Type == perfevent.Events[0].Type && r.opts.Event.Config == perfevent.Events[0].Config
}

// period is the time from one sample of a clock to the next.
func (r *Recorder) period() time.Duration { return time.Second / time.Duration(r.opts.Frequency) }

// processors goes over to sampling processors, from now on, if this user may, and reports whether
// it has.
func (r *Recorder) processors() (ok bool, err error) {
	group, err := r.newGroup()
	if err == nil {
		if err = group.AddAll(); err != nil {
			group.Close()
		}
	}
	if err != nil {
		r.refused = true
		return false, nil
	}
	now := r.now()
	if err := r.read(now); err != nil {
		group.Close()
		return false, err
	}
	_, lost := r.group.Totals()
	r.closed += lost
	if err := r.group.Close(); err != nil {
		group.Close()
		return false, err
	}
	r.since = now
	return true, r.use(group)
}

// use has a group of processors in the place of the one of threads, which is closed.
func (r *Recorder) use(group *ring.Group) error {
	r.mu.Lock()
	r.group, r.engine.format = group, &group.Format
	r.engine.only, r.engine.fresh = r.engine.family, nil
	r.engine.stats.Processors = true
	r.mu.Unlock()
	return r.watch()
}

// now is the time up to which samples count.
func (r *Recorder) now() time.Duration {
	if r.stopped {
		return r.until
	}
	return min(ring.Now(), r.until)
}

// stats returns the stats of now. A caller holds mu.
func (r *Recorder) stats() Stats {
	s := r.engine.stats
	if !r.stopped {
		s.Lost = r.lostSamples(s.Lost, time.Duration(r.processorCount())*(r.now()-r.begin))
	}
	return s
}

// processorCount is how many processors are sampled at once.
func (r *Recorder) processorCount() int {
	if r.group == nil {
		return 0
	}
	return r.group.Processors()
}

// count finds out at the end what is in no sample. What the kernel counts is as of now, which may
// be later than the end where the machine is busy: of that, the part up to the end counts.
func (r *Recorder) count() {
	s := &r.engine.stats
	total, lost := r.group.Totals()
	lost = max(s.Lost, max(r.closed+lost, r.lost)-r.lost)
	most := time.Duration(r.processorCount()) * (r.until - r.begin)
	counted := time.Duration(float64(total) * float64(r.until-r.begin) / float64(max(ring.Now()-r.opened, 1)))
	whole := r.clock() && r.engine.only == nil && r.part == 0 && len(r.opts.PIDs) > 0
	if whole {
		most = min(most, counted)
	}
	if s.Lost = r.lostSamples(lost, most); whole {
		s.Missed = max(counted-r.period()*time.Duration(s.Samples+s.Lost), 0)
	}
}

// lostSamples returns how many samples were lost of so many records: no more than there can have
// been in a time of processors beside the taken ones, and of samples of other processes as
// large a part as of the samples that were taken.
func (r *Recorder) lostSamples(records uint64, most time.Duration) uint64 {
	s := &r.engine.stats
	taken := s.Samples + r.engine.others
	if r.clock() {
		records = min(records, uint64(max(most/r.period()-time.Duration(taken), 0)))
	}
	if r.engine.others > 0 {
		records = uint64(float64(records) * float64(s.Samples) / float64(taken))
	}
	return records
}
