package show

import (
	"fmt"
	"strings"

	"github.com/sfwalk/sfwalk/internal/command/report"
)

// lastWords prints what a process, or a thread, has said as it died, each line behind an indent.
// whose says that the thread or the goroutine is named:
//
//	last words: server: main.c:12: main: Assertion `n > 0' failed.   (from glibc's __abort_msg)
func (p *textPrinter) lastWords(list []report.LastWords, indent string, whose bool) {
	for i := range list {
		p.MakeRoom()
		p.Own(indent)
		p.styled(red, "last words: ")
		for j, line := range strings.Split(list[i].Text, "\n") {
			line = strings.TrimLeft(line, "\t") // Go's runtime has indented it
			if j > 0 {
				p.Own("\n" + indent + "            ")
			}
			p.styled(bold, line)
		}
		from := "from " + list[i].From
		switch {
		case !whose:
		case list[i].Goroutine != 0:
			from = fmt.Sprintf("goroutine %d, %s", list[i].Goroutine, from)
		default:
			from = fmt.Sprintf("thread %d, %s", list[i].TID, from)
		}
		p.styled(faint, "   ("+from+")")
		p.Byte('\n')
	}
}

// threadWords prints the last words of a thread whose stack is printed already: below its heading,
// which ends where the output had at bytes, if that has not been written yet.
func (p *textPrinter) threadWords(list []report.LastWords, at int) {
	if len(list) == 0 {
		return
	}
	from := p.Size()
	p.lastWords(list, "  ", false)
	p.MoveBack(from, at)
}
