package record

import (
	"slices"

	"github.com/sfwalk/sfwalk/format/perfevent"
)

// record takes a record. It returns no error, for callers that read records until an error. A
// record that does not parse is left out, and counted.
func (e *engine) record(r perfevent.Record) error {
	if err := e.read(r); err != nil {
		e.unread(err)
	}
	return nil
}

// unread counts a record that is left out.
func (e *engine) unread(why error) {
	if e.stats.Unread++; e.stats.Unread == 1 {
		e.opts.Warn("a record is left out, for it does not parse: %v", why)
	}
}

// read takes a record. The error says that it is broken.
func (e *engine) read(r perfevent.Record) error {
	e.roomForNames()
	switch r.Type {
	case perfevent.RecordSample:
		if err := e.format.Sample(r, &e.sample); err != nil {
			return err
		}
		if e.format.SampleType&perfevent.SampleStackUser != 0 || !e.deferred.wait(e, &e.sample) {
			e.take(&e.sample)
		}
	case perfevent.RecordCallchainDeferred:
		c, err := e.format.Deferred(r)
		if err != nil {
			return err
		}
		e.deferred.follow(e, &c)
	case perfevent.RecordMmap, perfevent.RecordMmap2:
		m, err := e.format.Mmap(r)
		if err != nil {
			return err
		}
		e.mapped(&m)
	case perfevent.RecordComm:
		c, err := e.format.Comm(r)
		if err != nil {
			return err
		}
		if e.foreign(c.PID) {
			break
		}
		if c.Exec {
			e.soon = true
			e.forget(c.PID)
			e.early[c.PID] = &mapped{users: 1} // records of all that it maps follow
		}
		delete(e.threads, c.TID)
		e.names[c.TID] = threadName{text: c.Name}
	case perfevent.RecordFork, perfevent.RecordExit:
		k, err := e.format.Fork(r)
		if err != nil {
			return err
		}
		if e.foreign(k.PID) && e.foreign(k.ParentPID) {
			break
		}
		e.deferred.giveUp(e, k.TID)
		delete(e.threads, k.TID)
		delete(e.names, k.TID)
		e.dropOffCPU(k.TID)
		if r.Type == perfevent.RecordExit {
			if unsampled, ok := e.fresh[k.TID]; ok {
				delete(e.fresh, k.TID)
				if e.brief++; unsampled {
					e.stats.Unsampled++
				}
			}
			if k.PID == k.TID {
				e.end(k.PID)
			}
			break
		}
		if name, ok := e.names[k.ParentTID]; ok {
			e.names[k.TID] = name
		}
		if e.begun != nil {
			e.begun[k.TID] = true
		}
		if e.fresh != nil {
			e.fresh[k.TID] = true
		}
		if k.PID == k.ParentPID || r.Misc&perfevent.MiscForkExec != 0 { // perf tells of a process that has begun long ago
			break
		}
		if e.family[k.ParentPID] {
			e.family[k.PID] = true
		} else {
			delete(e.family, k.PID) // a process that had the number before
		}
		e.soon = true
		e.forget(k.PID) // a process that had the number before
		e.ended = slices.DeleteFunc(e.ended, func(pid int32) bool { return pid == k.PID })
		if parent := e.spaces[k.ParentPID]; parent != nil {
			e.newSpace(k.PID, parent.arch, parent)
		} else if early, ok := e.early[k.ParentPID]; ok {
			e.early[k.PID] = early.share()
		}
	case perfevent.RecordLost, perfevent.RecordLostSamples:
		n, err := e.format.Lost(r)
		if err != nil {
			return err
		}
		e.stats.Lost += n
		if r.Type == perfevent.RecordLost {
			e.askAll()
		}
	case perfevent.RecordSwitch, perfevent.RecordSwitchCPUWide:
		s, err := e.format.Switch(r)
		if err != nil {
			return err
		}
		e.switched(s)
	case perfevent.RecordThrottle:
		e.stats.Throttled++
	}
	return nil
}

// forget drops a process that has ended or runs another program. Places keep its modules.
func (e *engine) forget(pid int32) {
	if s := e.spaces[pid]; s != nil {
		s.finish()
		s.life.gone.Store(true)
		s.dropModules()
		e.release(s.mapped)
		delete(e.spaces, pid)
	}
	e.release(e.early[pid])
	delete(e.early, pid)
	e.host.forget(int(pid))
}

// maxEnded is how many processes that have ended are kept: more of their samples may come.
const maxEnded = 64

// end notes that a process has ended.
func (e *engine) end(pid int32) {
	if e.ended = append(e.ended, pid); len(e.ended) > maxEnded {
		e.forget(e.ended[0])
		delete(e.family, e.ended[0])
		e.ended = e.ended[1:]
	}
}
