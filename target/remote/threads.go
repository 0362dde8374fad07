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

// maxThreads bounds what a stub can list.
const maxThreads = 1 << 16

// Thread is one thread of a [Target].
type Thread struct {
	// Current says that this thread made the target stop.
	Current bool

	t    *Target
	id   threadID
	name string

	// Of the thread's memory, below memory.mu:
	took time.Duration // by the stub
	over bool          // it was too much
}

// StackMemory returns the address space as the thread's stack is to be walked in: it is the
// target's, as long as the stub does not take too long ([Options.ThreadLimit]).
func (t *Thread) StackMemory() target.Memory { return threadMemory{t} }

// overtime says that the stub has taken too long for the thread's memory.
func (t *Thread) overtime() error {
	return fmt.Errorf("the stub has taken %v for the thread's stack (--thread-limit): %w", t.t.threadLimit, ErrLimit)
}

type threadMemory struct{ *Thread }

func (m threadMemory) ReadMemory(addr uint64, p []byte) (n int, err error) {
	return m.t.memory.read(addr, p, m.Thread)
}

// ID returns the operating system's thread ID; a processor's number, from 1, where
// the stub controls a machine.
func (t *Thread) ID() int { return t.id.tid }

// Name returns the thread's name, as the stub tells it.
func (t *Thread) Name() string { return t.name }

// Registers reads the thread's registers.
func (t *Thread) Registers(r *arch.Registers) error { return t.t.registers(t, r) }

// listThreads asks for the threads; the one that stopped comes first.
func (s *session) listThreads(stopped stop) ([]*Thread, error) {
	list, err := s.threadsXML()
	if errors.Is(err, errUnsupported) {
		list, err = s.threadsInfo()
	}
	if err != nil {
		return nil, err
	}
	if !stopped.known {
		// A stub without threads has one.
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
		// A stub may control several processes: the others are not this target.
		list = slices.DeleteFunc(list, func(t *Thread) bool { return t.id.pid != pid })
	}
	return append([]*Thread{first}, list...), nil
}

// threadsXML reads the list with names.
func (s *session) threadsXML() (list []*Thread, err error) {
	text, err := s.transfer("threads", "", 64<<20)
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

// threadsInfo reads the list piece by piece: m and IDs, in the end l.
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
