package tcl

import "slices"

// command is a record of a command that runs (CmdFrame): what "info frame" has as one level.
type command struct {
	at, kind   uint64
	line       uint64 // the address of its line; 0 if that is not known
	call       uint64 // the CallFrame
	path, code uint64
	pc, text   uint64
	part       int // 0 for the innermost coroutine, 1 for what has resumed it
	loop       int // the loop that runs it; -1 if that is not known
	running    bool
	pcs        []uint64 // where it may be, if it is running
}

// mostCalls bounds the commands of one interpreter.
const mostCalls = 1 << 17

// spend counts a record. It reports whether there may be one more.
func (m *reader) spend() bool {
	if m.budget.records--; m.budget.records < 0 {
		m.Fail("there are too many records")
	}
	return m.OK()
}

// commands returns the commands that run, the innermost first.
func (m *reader) commands() (list []command, err error) {
	at, part := m.Pointer(m.interp+m.InterpCommand), 0
	// A coroutine's list ends where the coroutine does: its caller's follows.
	coroutine := m.Pointer(m.Pointer(m.interp+m.InterpEnvironment) + m.EnvironmentCoroutine)
	mark := uint64(0) // a list that goes round comes back to a mark
	for m.OK() {
		if at == 0 {
			if coroutine == 0 || !m.spend() {
				break
			}
			at = m.Pointer(coroutine + m.CoroutineCommand)
			coroutine = m.Pointer(m.Pointer(coroutine+m.CoroutineCaller) + m.EnvironmentCoroutine)
			part++
			continue
		}
		if n := len(list); n == mostCalls {
			m.Fail("there are too many commands")
		} else if n&(n-1) == 0 {
			mark = at
		} else if at == mark {
			m.Fail("the list of commands goes round at %#x", at)
		}
		c, next := m.command(at)
		if c.kind > m.TypeSource {
			m.Fail("the command at %#x is of no known kind", at)
		}
		if !m.OK() {
			break
		}
		c.part = part
		list = append(list, c)
		at = next
	}
	return list, m.Err()
}

// command returns the command of a record, and the address of the next outer one.
func (m *reader) command(at uint64) (c command, next uint64) {
	c = command{at: at, kind: m.Uint(at+m.CommandType, 4), line: m.Pointer(at + m.CommandLine), call: m.Pointer(at + m.CommandCall), loop: -1}
	c.path, c.code, c.pc, c.text = m.Pointer(at+m.CommandPath), m.Pointer(at+m.CommandCode), m.Pointer(at+m.CommandPC), m.Pointer(at+m.CommandText)
	return c, m.Pointer(at + m.CommandNext)
}

// callbacks are the callbacks that will run, the innermost first.
type callbacks struct {
	number map[uint64]int // of a callback, by its address
	owner  map[uint64]int // of the innermost callback that has a word among its data
	count  int
}

func (m *reader) callbacks() (c callbacks, err error) {
	c = callbacks{number: map[uint64]int{}, owner: map[uint64]int{}}
	environment := m.Pointer(m.interp + m.InterpEnvironment)
	for environment != 0 && m.OK() {
		at := m.Pointer(environment + m.EnvironmentCallback)
		for at != 0 && m.spend() {
			if _, again := c.number[at]; again {
				m.Fail("the list of callbacks goes round at %#x", at)
				break
			}
			c.number[at] = c.count
			for i := range uint64(2) { // the state of bytecode is the first word, a list's command the second
				word := m.Pointer(at + m.CallbackData + 8*i)
				if _, known := c.owner[word]; !known && word != 0 {
					c.owner[word] = c.count
				}
			}
			c.count++
			at = m.Pointer(at + m.CallbackNext)
		}
		coroutine := m.Pointer(environment + m.EnvironmentCoroutine)
		if coroutine == 0 || !m.spend() {
			break
		}
		environment = m.Pointer(coroutine + m.CoroutineCaller)
	}
	return c, m.Err()
}

// mostBefore bounds what a state of bytecode has before its command, bytes.
const mostBefore = 64

// owners returns the addresses by which a callback may know a command: its own, and the one of the
// state of bytecode that has it, which begins with the code.
func (m *reader) owners(c *command) []uint64 {
	if c.kind != m.TypeCode && c.kind != m.TypePrecompiled {
		return []uint64{c.at}
	}
	var list []uint64
	for before := uint64(8); before <= mostBefore; before += 8 {
		if m.Pointer(c.at-before) == c.code {
			list = append(list, c.at-before)
		}
	}
	m.Err()
	return list
}

// divide says of each command which loop runs it. loops are the ones of the same interpreter. The
// commands are returned with the bytecode that runs without one.
func (m *reader) divide(list []command, loops []*loop, c callbacks) []command {
	for _, l := range loops {
		m.watch(l, c)
		for state := range l.running {
			if l.level > 0 {
				list = m.insert(list, state)
			}
		}
	}
	for i := range list {
		x := &list[i]
		for _, owner := range m.owners(x) {
			for j, l := range loops {
				if number, ok := c.owner[owner]; ok && number < l.root {
					x.loop = j
					break
				}
				if l.running[owner] {
					x.loop, x.running = j, l.level > 0
					break
				}
			}
			if x.loop >= 0 {
				break
			}
		}
	}
	m.scripts(list, loops)
	return list
}

// insert adds the command of a state of bytecode that runs, unless it is in the list: Tcl has it
// there only while the code calls another command.
func (m *reader) insert(list []command, state uint64) []command {
	defer m.Err()
	code := m.Pointer(state)
	if code == 0 {
		return list
	}
	for before := uint64(8); before <= mostBefore; before += 8 {
		x, next := m.command(state + before)
		if !m.OK() || x.code != code || x.kind != m.TypeCode && x.kind != m.TypePrecompiled || slices.ContainsFunc(list, func(y command) bool { return y.at == x.at }) {
			continue
		}
		x.part = m.part(x.at)
		at := slices.IndexFunc(list, func(y command) bool { return y.at == next || next == 0 && y.part > x.part })
		if next == 0 && at < 0 {
			at = len(list)
		}
		if at >= 0 && x.part >= 0 {
			return slices.Insert(list, at, x)
		}
	}
	return list
}

// mostStacks bounds the stacks of one environment: each is twice as large as the one before.
const mostStacks = 64

// part returns on the stack of which coroutine an address is, from 0 on for the innermost one; -1
// if it is on none.
func (m *reader) part(addr uint64) int {
	environment := m.Pointer(m.interp + m.InterpEnvironment)
	for part := 0; environment != 0 && m.spend(); part++ {
		stack := m.Pointer(environment + m.EnvironmentStack)
		for range mostStacks {
			if stack == 0 || !m.OK() {
				break
			}
			if addr > stack && addr <= m.Pointer(stack+m.StackEnd) {
				return part
			}
			stack = m.Pointer(stack + m.StackBefore)
		}
		coroutine := m.Pointer(environment + m.EnvironmentCoroutine)
		if coroutine == 0 {
			break
		}
		environment = m.Pointer(coroutine + m.CoroutineCaller)
	}
	return -1
}

// watch finds out of a loop's registers where it ends, and what it runs.
func (m *reader) watch(l *loop, c callbacks) {
	l.root, l.running = c.count, map[uint64]bool{}
	first := false
	for _, v := range l.values {
		number, pushed := c.number[v]
		switch {
		case pushed && number == 0:
			first = true // it may be the callback that is just to run
		case pushed:
			l.root = min(l.root, number)
		case v >= 1<<12 && v%8 == 0:
			for i := range uint64(2) {
				if word := m.Pointer(v + m.CallbackData + 8*i); word != 0 {
					l.running[word] = true
				}
			}
			m.Err()
		}
	}
	if first && (l.level > 0 || l.root == c.count) {
		l.root = 0
	}
}

// scripts places commands that functions of C run, which evaluate scripts: no callback has these.
// Such a function, one of Tcl's own, has called the loop in which the script's command runs.
func (m *reader) scripts(list []command, loops []*loop) {
	inner := -1
	for i := 0; i < len(list); i++ {
		if list[i].loop >= 0 {
			inner = max(inner, list[i].loop)
			list[i].loop = inner
			continue
		}
		end, outer := i, len(loops)
		for end < len(list) && list[end].loop < 0 {
			end++
		}
		if end < len(list) {
			outer = max(inner, list[end].loop)
		}
		next := outer
		for j := end - 1; j >= i; j-- {
			c := next - 1
			for c > inner && !loops[c].fromTcl {
				c--
			}
			next = max(c, inner, min(next, outer-1, 0))
			list[j].loop = next
		}
		i, inner = end-1, max(inner, list[end-1].loop)
	}
}
