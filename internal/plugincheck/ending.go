package plugincheck

import (
	"time"
)

// stdout checks that the plug-in writes nothing but the handshake to its standard output.
func (c *checker) stdout() finding {
	p, err := c.running()
	if err != nil {
		return fail(fixStart, "%v", err)
	}
	text, size := p.stdout.text()
	if more := size - len(p.firstLine()) - 1; more > 0 {
		return warn("write to standard error: the host discards the rest of standard output", "%d bytes on standard output behind the handshake: %q",
			more, shown(text[min(len(text), len(p.firstLine())+1):], 60))
	}
	return pass("nothing behind the handshake")
}

// ending closes the plug-in's standard input, as the death of the host does: the plug-in must end,
// with all its children.
func (c *checker) ending() finding {
	const fix = "read standard input, and exit at its end (plugin.Serve does): that is how a plug-in learns that the host is gone"
	p, err := c.running()
	if err != nil {
		return fail(fixStart, "%v", err)
	}
	family := children(p.keeper.PID())
	p.stdin.Close()
	begin := time.Now()
	if !p.over(endLimit) {
		return fail(fix, "its standard input has ended, and %v later it still runs", endLimit)
	}
	took := time.Since(begin)
	for _, pid := range family {
		for until := time.Now().Add(endLimit / 4); exists(pid) && time.Now().Before(until); {
			time.Sleep(10 * time.Millisecond)
		}
		if exists(pid) {
			return fail("end what you have started before you end", "process %d, which it has started, is still there", pid)
		}
	}
	if len(family) > 0 {
		return pass("it ends %v after its standard input, with its %d children", took.Round(time.Millisecond), len(family))
	}
	return pass("it ends %v after its standard input", took.Round(time.Millisecond))
}
