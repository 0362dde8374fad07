package plugincheck

import (
	"context"
	"fmt"
	"os"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/plugin/protocol"
	"github.com/sfwalk/sfwalk/sniffer/external"
)

// Options of [Run].
type Options struct {
	Snapshots []string // files of 'sfwalk attach --save': stacks to walk beside the bundled ones
	SHA256    string   // the checksum in hexadecimal that the program must have; "" for any
	Host      string   // the host's name, for the plug-in to log: "sfwalk 1.4.0"
}

// Run checks the plug-in at path. The report has the plug-in's faults. An error says why the report
// is missing or not complete: there is no such program, a snapshot cannot be read, or ctx has
// ended.
func Run(ctx context.Context, path string, o Options) (*Report, error) {
	c := &checker{ctx: ctx, path: path, o: o, report: &Report{Path: path, Checks: []Check{}}}
	begin := time.Now()
	if _, err := os.Stat(path); err != nil {
		return c.report, fmt.Errorf("check plug-in: %w", err)
	}
	err := c.run()
	c.end()
	c.report.Questions, c.report.Requests, c.report.Slowest = c.questions, c.requests, c.slowest
	c.report.Took = time.Since(begin)
	return c.report, err
}

// checker checks one plug-in.
type checker struct {
	counts
	ctx    context.Context
	path   string
	file   external.Program // at path
	o      Options
	report *Report

	child         *child // nil if it must be started first
	description   *protocol.Description
	architectures []*arch.Arch // the architectures that the plug-in supports
	subjects      []*subject
	asked         []asked // questions of the host, while it walked
	walking       *subject
	decorating    *decorating // nil until the check of stacks that it decorates
}

// asked is a question of the host and its answer.
type asked struct {
	about    *subject
	question *protocol.Question
	answer   *protocol.Answer
	requests int
}

// finding is the result of a check.
type finding struct {
	status    Status
	what, fix string
}

func pass(format string, args ...any) finding { return finding{Pass, fmt.Sprintf(format, args...), ""} }
func skip(format string, args ...any) finding {
	return finding{Skipped, fmt.Sprintf(format, args...), ""}
}
func warn(fix, format string, args ...any) finding {
	return finding{Warn, fmt.Sprintf(format, args...), fix}
}
func fail(fix, format string, args ...any) finding {
	return finding{Fail, fmt.Sprintf(format, args...), fix}
}

// What to fix if a session fails, in any check.
const (
	fixDies    = "an answer must come whatever is asked: decline what you do not know, and check lengths before you read from a block"
	fixSame    = "the same question must get the same answer: an answer may depend on the process and the question alone"
	fixHost    = "the error says what is wrong with the answer; the limits are in sniffer.proto"
	fixStart   = "run it by hand with SFWALK_PLUGIN set to the cookie of protocol.go, and see what it says; plugin.Serve does all of the start"
	notReached = "the plug-in did not come so far"
)

// do makes one check. It returns false if the check fails, or ctx has ended.
func (c *checker) do(name string, check func() finding) bool {
	begin := time.Now()
	f := check()
	if c.ctx.Err() != nil {
		return false // the finding means nothing
	}
	c.report.Checks = append(c.report.Checks, Check{name, f.status, shown(f.what, 2000), f.fix, time.Since(begin)})
	return f.status != Fail
}

// step is a check with its name.
type step struct {
	name  string
	check func() finding
}

// run makes all checks. Those that others need come first.
func (c *checker) run() error {
	first := []step{
		{"program", c.program}, {"cookie", c.cookie}, {"start", c.start}, {"handshake", c.handshake}, {"versions", c.versions},
		{"tls", c.tls}, {"description", c.describe},
	}
	second := []step{
		{"unknown-process", c.unknownProcess}, {"odd-addresses", c.oddAddresses}, {"many-modules", c.manyModules},
		{"stacks", c.stacks}, {"claims", c.claims}, {"determinism", c.determinism}, {"new-process", c.newProcess},
		{"answers", c.answers}, {"ranges", c.ranges}, {"never", c.never}, {"begin-again", c.beginAgain}, {"sessions", c.sessions},
		{"unreadable", c.unreadable}, {"deadline", c.deadline}, {"requests", c.economy},
		{"decorates", c.decorates}, {"decorates-again", c.decoratesAgain}, {"decorates-cut", c.decoratesCut}, {"tasks", c.tasks},
		{"stdout", c.stdout}, {"end", c.ending},
	}
	reached := true
	for _, s := range first {
		if !reached {
			c.do(s.name, func() finding { return skip(notReached) })
			continue
		}
		if ok := c.do(s.name, s.check); !ok && s.name != "cookie" && s.name != "versions" {
			reached = false
		}
	}
	if reached && c.ctx.Err() == nil {
		var names []string
		for _, a := range c.architectures {
			names = append(names, a.Name)
		}
		var err error
		if c.subjects, err = subjects(c.ctx, names, c.o.Snapshots); err != nil {
			return fmt.Errorf("check plug-in: %w", err)
		}
	}
	for _, s := range second {
		switch {
		case !reached:
			s.check = func() finding { return skip(notReached) }
		case c.hangs && s.name != "deadline" && s.name != "stdout" && s.name != "end":
			s.check = func() finding { return skip("it does not answer") }
		}
		c.do(s.name, s.check)
	}
	return c.ctx.Err()
}

// end ends all processes and closes all files.
func (c *checker) end() {
	if c.child != nil {
		c.child.end()
	}
	if c.decorating != nil {
		c.decorating.Close()
	}
	for _, s := range c.subjects {
		s.close()
	}
	c.file.Close()
}

// running returns the plug-in's process. It starts a new one if that has ended.
func (c *checker) running() (*child, error) {
	if c.child != nil && !c.child.over(0) {
		return c.child, nil
	}
	if c.child != nil {
		c.child.end()
	}
	var err error
	c.child, err = c.another()
	return c.child, err
}

// another starts one more process of the plug-in and connects to it.
func (c *checker) another() (*child, error) {
	p, err := start(c.ctx, c.file, fmt.Sprint(protocol.Version))
	if err != nil {
		return nil, err
	}
	if len(p.fields) < 6 {
		err = fmt.Errorf("the handshake is %q", shown(p.firstLine(), 200))
	} else {
		err = p.dial()
	}
	if err != nil {
		p.end()
		return nil, err
	}
	return p, nil
}

// open opens a session with the plug-in about a process.
func (c *checker) open(about *subject) (*session, *protocol.Ready, error) {
	p, err := c.running()
	if err != nil {
		return nil, nil, err
	}
	return p.open(c.ctx, &c.counts, about)
}

// of returns the host's questions about a process.
func (c *checker) of(s *subject) (list []asked) {
	for _, x := range c.asked {
		if x.about == s {
			list = append(list, x)
		}
	}
	return list
}

// essence returns the part of an answer that must always be the same. The plug-in may leave out the
// rest once it has told it.
func essence(a *protocol.Answer) *protocol.Answer {
	return &protocol.Answer{Declines: a.Declines, DeclinesOnce: a.DeclinesOnce, Row: a.Row, Frame: a.Frame, Name: a.Name}
}

func equal(a, b *protocol.Answer) bool { return proto.Equal(essence(a), essence(b)) }

// short returns an answer as a short text.
func short(a *protocol.Answer) string {
	switch {
	case a.Row != nil:
		return fmt.Sprintf("row [%#x, %#x)", a.Row.Lo, a.Row.Hi)
	case a.Frame != nil:
		return fmt.Sprintf("frame with CFA %#x", a.Frame.Cfa)
	}
	return fmt.Sprintf("declines %q", shown(a.Declines, 80))
}
