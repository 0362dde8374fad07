package plugincheck

import (
	"fmt"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/plugin/protocol"
	"github.com/sfwalk/sfwalk/sniffer/external"
)

// answers checks each answer as the host does, and that its texts are fit to be shown.
func (c *checker) answers() finding {
	often := map[string]bool{}
	n, err := c.each(func(s *subject, list []asked) error {
		for _, x := range list {
			where := fmt.Sprintf("%s, frame %d at %#x", s.name, x.question.Level, x.question.Pc)
			if err := external.Check(x.answer, x.question, s.Arch(), s.Memory(), s.Modules()); err != nil {
				return fmt.Errorf("%s: %w", where, err)
			}
			for _, text := range texts(x.answer) {
				if !showable(text) {
					return fmt.Errorf("%s: %q cannot be shown", where, shown(text, 80))
				}
			}
			often[x.answer.Declines] = true
		}
		return nil
	})
	if err == nil && len(often) > 16 {
		return warn("say why in one of a few sentences, without numbers: they are for people, and kept", "%d different reasons to decline %d questions", len(often), n)
	}
	return c.outcome(fixHost, n, err, "%d answers: registers that there are, rules that can be, text that can be shown", n)
}

// texts returns the texts of an answer that users see.
func texts(a *protocol.Answer) []string {
	list := []string{a.Declines, a.Name.GetFunction(), a.Name.GetFile()}
	for _, s := range a.Symbols {
		list = append(list, s.GetFunction(), s.GetFile())
	}
	return list
}

// rules returns the parts of a row that must be the same for all addresses in its range.
func rules(r *protocol.Row) *protocol.Row {
	r = proto.Clone(r).(*protocol.Row)
	r.Lo, r.Hi = 0, 0
	slices.SortFunc(r.Others, func(a, b *protocol.RegisterRule) int { return int(a.GetRegister()) - int(b.GetRegister()) })
	return r
}

// ranges checks that a row holds everywhere in its range, rows told ahead too.
func (c *checker) ranges() finding {
	rows, points := 0, 0
	n, err := c.each(func(s *subject, list []asked) error {
		x, _, err := c.open(s)
		if err != nil {
			return err
		}
		defer x.cancel()
		for _, was := range list {
			all := was.answer.Rows
			all = all[:min(len(all), 8)]
			if was.answer.Row != nil {
				all = append(all[:len(all):len(all)], was.answer.Row)
			}
			for _, row := range all {
				if row.Once || row.Hi <= row.Lo {
					continue
				}
				rows++
				for _, at := range []uint64{row.Lo, row.Lo + (row.Hi-row.Lo)/2, row.Hi - 1} {
					if points++; points > 20*maxAsked {
						return nil
					}
					if err := c.holds(x, was.question, row, at); err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
	if err == nil && rows == 0 {
		return skip("it tells no row with a range")
	}
	return c.outcome("a row's range is where its rules hold, at each address: make it smaller, or set once", n, err,
		"%d rows, asked again at %d addresses in their ranges: the same rules", rows, points)
}

// holds asks about an address in a row's range, and compares the answer with the row.
func (c *checker) holds(x *session, q *protocol.Question, row *protocol.Row, at uint64) error {
	answer, err := x.ask(questionAt(x.about, q, c.description.Needs, at))
	if err != nil {
		return err
	}
	if answer.Row == nil || !proto.Equal(rules(answer.Row), rules(row)) {
		return fmt.Errorf("%s: a row for [%#x, %#x), but asked about %#x in that range it answers otherwise: %s", x.about.name, row.Lo, row.Hi, at, short(answer))
	}
	return nil
}

// questionAt returns the same question about another address.
func questionAt(s *subject, q *protocol.Question, needs *protocol.Needs, at uint64) *protocol.Question {
	off := q.Pc - q.Block
	q = proto.Clone(q).(*protocol.Question)
	q.Block, q.Pc = at, at+off
	if i := slices.Index(q.Registers, uint32(s.Arch().PC)); i >= 0 {
		q.Values[i] = q.Pc
	}
	if q.Code != nil {
		code := make([]byte, needs.GetCodeBefore()+needs.GetCodeAfter())
		q.Code.Address = q.Pc - uint64(needs.GetCodeBefore())
		n, _ := s.Memory().ReadMemory(q.Code.Address, code)
		q.Code.Data = code[:n]
	}
	return q
}

// never checks that the plug-in claims nothing in ranges that it never claims.
func (c *checker) never() finding {
	said := 0
	n, err := c.each(func(s *subject, list []asked) error {
		x, ready, err := c.open(s)
		if err != nil {
			return err
		}
		x.cancel()
		all := ready.Never
		for _, was := range list {
			all = append(all, was.answer.Never...)
		}
		said += len(all)
		for _, was := range list {
			lo, hi := was.question.Block, was.question.Block+1
			switch row := was.answer.Row; {
			case row != nil && !row.Once:
				lo, hi = row.Lo, row.Hi
			case row == nil && was.answer.Frame == nil:
				continue
			}
			for _, never := range all {
				if never.Lo < hi && lo < never.Hi {
					return fmt.Errorf("%s: it claims [%#x, %#x), and says of [%#x, %#x) that it never claims it", s.name, lo, hi, never.Lo, never.Hi)
				}
			}
		}
		return nil
	})
	if err == nil && said == 0 {
		return skip("it announces no range that it never claims")
	}
	return c.outcome("announce only what you will never claim: the host does not ask there any more", n, err, "%d ranges, in none of which it claims anything", said)
}

// unreadable asks questions with memory that cannot be read, stacks that end, and unknown
// registers.
func (c *checker) unreadable() finding {
	n, err := c.all(func(s *subject, list []asked) error {
		x, ready, err := c.open(s.blind())
		if err != nil {
			return err
		}
		defer func() { x.cancel() }()
		sessions := []*session{x}
		if ready.Declines != "" {
			sessions = nil
		}
		sighted, _, err := c.open(s)
		if err != nil {
			return err
		}
		defer sighted.cancel()
		for _, on := range append(sessions, sighted) {
			for _, was := range list[:min(len(list), 20)] {
				for _, q := range poor(was.question, s.Arch()) {
					if _, err := on.ask(q); err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
	return c.outcome(fixDies, n, err, "no memory, short stacks, unknown registers: it answers")
}

// poor returns variants of a question that tell less.
func poor(q *protocol.Question, a *arch.Arch) (list []*protocol.Question) {
	less := func(change func(*protocol.Question)) {
		x := proto.Clone(q).(*protocol.Question)
		change(x)
		list = append(list, x)
	}
	less(func(x *protocol.Question) {
		if x.Stack != nil {
			x.Stack.Data = x.Stack.Data[:len(x.Stack.Data)/2]
		}
	})
	less(func(x *protocol.Question) {
		if x.Stack != nil {
			x.Stack.Data = x.Stack.Data[:min(len(x.Stack.Data), 3)]
		}
		if x.Code != nil {
			x.Code.Data = x.Code.Data[:min(len(x.Code.Data), 1)]
		}
	})
	less(func(x *protocol.Question) { x.Stack, x.Code, x.Module = nil, nil, nil })
	less(func(x *protocol.Question) { x.Registers, x.Values = nil, nil })
	less(func(x *protocol.Question) { // a stack at the end of the address space
		if i := slices.Index(x.Registers, uint32(a.SP)); i >= 0 {
			x.Values[i] = ^uint64(7)
		}
		x.Stack = &protocol.Block{Address: ^uint64(7), Data: make([]byte, 8)}
	})
	return list
}

// Bounds of an answer, and what is good.
const (
	deadline = external.DefaultDeadline
	slow     = 50 * time.Millisecond
)

// deadline compares the slowest answer with the host's deadline.
func (c *checker) deadline() finding {
	const fix = "find out in Begin, keep what you have found, and claim ranges"
	what := fmt.Sprintf("the slowest answer took %v (%s)", c.slowest.Round(time.Microsecond), c.slowestAt)
	switch {
	case c.questions == 0:
		return skip("it was asked nothing about the stacks at hand")
	case c.slowest > deadline:
		return fail(fix, "%s: the host waits for %v", what, deadline)
	case c.slowest > slow:
		return warn(fix, "%s", what)
	}
	return pass("%s", what)
}

// economy counts the plug-in's requests for each answer.
func (c *checker) economy() finding {
	requests := 0
	for _, x := range c.asked {
		requests += x.requests
	}
	if len(c.asked) == 0 {
		return skip("it was asked nothing about the stacks at hand")
	}
	per := float64(requests) / float64(len(c.asked))
	if per > 1 {
		return warn("say in Needs what of stack and code should come with each question, and read the rest in Begin", "%.1f requests for one answer", per)
	}
	return pass("%.1f requests for one answer", per)
}
