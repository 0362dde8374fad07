package remote

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/target"
)

// maxThreads bounds the threads that a stub lists.
const maxThreads = 1 << 16

// Thread is one thread of a [Target].
type Thread struct {
	// Current says that this thread made the target stop.
	Current bool

	t       *Target
	id      threadID
	name    string
	general []byte // the answer to g since the thread has stopped; t.mu guards it

	// These two are about reads of the thread's memory. memory.mu guards them.
	took time.Duration // by the stub
	over bool          // a read failed because took has reached the limit
}

// StackMemory returns the memory in which to walk the thread's stack. It is the target's memory, as
// long as the stub does not take too long ([Options.ThreadLimit]).
func (t *Thread) StackMemory() target.Memory { return threadMemory{t} }

// overtime returns the error that the stub has taken too long for the thread's memory.
func (t *Thread) overtime() error {
	return fmt.Errorf("the stub has taken %v for the thread's stack (--thread-limit): %w", t.t.threadLimit, ErrLimit)
}

type threadMemory struct{ *Thread }

func (m threadMemory) ReadMemory(addr uint64, p []byte) (n int, err error) {
	return m.t.memory.read(addr, p, m.Thread)
}

// ID returns the operating system's thread ID. If the stub controls a machine, it is a processor's
// number, from 1.
func (t *Thread) ID() int { return t.id.tid }

// Name returns the thread's name as the stub tells it.
func (t *Thread) Name() string { return t.name }

// Registers reads the thread's registers.
func (t *Thread) Registers(r *arch.Registers) error { return t.t.registers(t, r) }

// listThreads asks for the threads. The one that stopped comes first.
func (s *session) listThreads(stopped stop) ([]*Thread, error) {
	list, err := s.threadsXML()
	if errors.Is(err, errUnsupported) {
		list, err = s.threadsInfo()
	}
	if err != nil {
		return nil, err
	}
	if !stopped.known {
		// A stub that lists no threads has one.
		if len(list) == 0 {
			return []*Thread{{Current: true, id: threadID{tid: 1, text: "0"}}}, nil
		}
		list[0].Current = true
		return list, nil
	}
	same := func(t *Thread) bool { return t.id.tid == stopped.thread.tid && t.id.pid == stopped.thread.pid }
	i := slices.IndexFunc(list, same)
	first := &Thread{id: stopped.thread}
	if i >= 0 {
		first = list[i]
		list = slices.Delete(list, i, i+1)
	}
	first.Current = true
	if pid := first.id.pid; pid != 0 {
		// A stub may control several processes. The threads of the others are not this target's.
		list = slices.DeleteFunc(list, func(t *Thread) bool { return t.id.pid != pid })
	}
	return append([]*Thread{first}, list...), nil
}

// threadsXML reads the list of threads that has their names.
func (s *session) threadsXML() (list []*Thread, err error) {
	text, err := s.transfer("threads", "", maxXML)
	if err != nil {
		return nil, err
	}
	all, err := elements(text, "thread", maxThreads)
	if err != nil {
		return nil, fmt.Errorf("list of threads: %w", err)
	}
	for _, e := range all {
		id, err := parseThreadID(e["id"])
		if err != nil {
			return nil, fmt.Errorf("list of threads: %w", err)
		}
		list = append(list, &Thread{id: id, name: e["name"]})
	}
	return list, nil
}

// threadsInfo reads the list in pieces: each answer is m and some IDs, the last one is l.
func (s *session) threadsInfo() (list []*Thread, err error) {
	seen := map[string]bool{}
	for packet := "qfThreadInfo"; ; packet = "qsThreadInfo" {
		reply, err := s.exchange(packet)
		if err != nil {
			return nil, fmt.Errorf("list of threads: %w", err)
		}
		if len(reply) == 0 || reply[0] != 'm' {
			return list, nil
		}
		for _, text := range strings.Split(string(reply[1:]), ",") {
			id, err := parseThreadID(text)
			if err != nil {
				return nil, fmt.Errorf("list of threads: %w", err)
			}
			if seen[text] {
				return nil, fmt.Errorf("list of threads: %q comes twice: it does not end", text)
			}
			seen[text] = true
			list = append(list, &Thread{id: id})
		}
		if len(list) > maxThreads {
			return nil, fmt.Errorf("list of threads: more than %d", maxThreads)
		}
	}
}
