package show

import "github.com/sfwalk/sfwalk/internal/command/report"

// languageFrame prints `handle at /srv/app.py:42 [python]`.
func (p *textPrinter) languageFrame(f *report.Frame) {
	p.styled(yellow, f.Function)
	if f.File != "" {
		p.Text(" at ")
		p.begin(green)
		p.Text(f.File)
		if f.Line > 0 {
			p.Byte(':')
			p.Number(uint64(f.Line))
		}
		p.plain()
	}
	p.styled(faint, " ["+f.Language+"]")
}
