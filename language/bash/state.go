package bash

import (
	"fmt"
	"strings"

	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/structs"
)

// state says what the shell does: the trap that it runs, and the process for which it waits.
func (r *runtime) state(m *structs.Reader, s *language.Stack, p places) string {
	var parts []string
	trap := r.trap(m)
	if trap != "" {
		parts = append(parts, "runs the trap "+trap)
	}
	if waits := r.waits(m, s, p, trap == ""); waits != "" {
		parts = append(parts, waits)
	}
	m.Err()
	return strings.Join(parts, ", ")
}

// mostSignals bounds the numbers of signals, and of bash's own traps behind them.
const mostSignals = 128

// trap returns the name of the trap that runs, "" if none does.
func (r *runtime) trap(m *structs.Reader) string {
	trap := m.Int(r.runningTrap, 4) // one more than its number
	if r.signalNames == 0 || !m.OK() || trap <= 0 || trap > mostSignals {
		return ""
	}
	return m.CString(m.Pointer(r.signalNames + 8*uint64(trap-1)))
}

// waits says for which process the shell waits, or what it reads; "" if neither is known. command
// says that the text of the process's command is right: in a trap, bash notes another one's.
func (r *runtime) waits(m *structs.Reader, s *language.Stack, p places, command bool) string {
	for level := p.inner - 1; level >= 0; level-- {
		if !r.isOwn(s.Frames[level]) {
			continue
		}
		switch begin, _ := s.Frames[level].Function(); begin {
		case 0:
		case r.substitutes:
			return "waits for a command substitution"
		case r.waitBuiltin:
			return "waits for jobs, by the builtin wait"
		case r.waitFor:
			if !r.isForeground(s, level, p) {
				return ""
			}
			pid := m.Uint(r.lastMade, 4)
			text, ok := r.process(m, pid)
			switch {
			case !ok || !m.OK():
				return ""
			case command:
				return fmt.Sprintf("waits for process %d: %s", pid, text)
			}
			return fmt.Sprintf("waits for process %d", pid)
		}
	}
	return ""
}

// isForeground reports whether wait_for, at a level, waits for the process that was made last:
// execute_command_internal has called it, or a function without a symbol, such as
// execute_pipeline, that execute_command_internal has called.
func (r *runtime) isForeground(s *language.Stack, level int, p places) bool {
	if level == p.inner-1 {
		return true
	}
	if level != p.inner-2 {
		return false
	}
	_, named := r.image.Symbols().Find(s.Frames[level+1].AddressInBlock() - r.bias)
	return !named
}

// Bounds of the shell's table of jobs, of the processes of one, and of all of them.
const (
	mostJobs      = 1 << 14
	mostProcesses = 1 << 16
)

// process returns the command of a process that runs, as the shell's table of jobs has it.
func (r *runtime) process(m *structs.Reader, pid uint64) (command string, ok bool) {
	jobs, n := m.Pointer(r.jobs), m.Uint(r.jobStats+statsSlots, 4)
	if !m.OK() || pid == 0 || n > mostJobs {
		return "", false
	}
	left := mostProcesses
	for i := range n {
		job := m.Pointer(jobs + 8*i)
		if job == 0 || !m.OK() {
			continue
		}
		first := m.Pointer(job + jobProcesses)
		for at := first; at != 0 && m.OK(); {
			if m.Uint(at+processID, 4) == pid && m.Uint(at+processRunning, 4) == running {
				return m.CString(m.Pointer(at + processCommand)), true
			}
			if at = m.Pointer(at + processNext); at == first {
				break
			}
			if left--; left < 0 {
				return "", false
			}
		}
	}
	return "", false
}
