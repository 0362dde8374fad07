package show

import (
	"encoding/json"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/command/inturn"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/waits"
)

// jsonPrinter writes a [report.Document], piece by piece.
type jsonPrinter struct {
	inturn.Output
	encoder *json.Encoder  // to output
	room    []report.Frame // for the frames of one place
	any     bool           // the thread has frames already
}

func newJSONPrinter() *jsonPrinter {
	p := &jsonPrinter{}
	p.encoder = json.NewEncoder(&p.Output)
	p.encoder.SetEscapeHTML(false)
	return p
}

// value writes a value, but for that many of its last bytes.
func (p *jsonPrinter) value(v any, but int) {
	p.encoder.Encode(v) // with a newline; of values without errors, to memory
	p.Buf = p.Buf[:len(p.Buf)-1-but]
}

func (p *jsonPrinter) Heading(d *report.Document) {
	about := *d
	about.Threads, about.LastWords = []report.Thread{}, nil // all words are known when all stacks are walked
	if d.CrashReport != nil {
		without := *d.CrashReport
		without.Annotations, without.Unloaded, without.Modules, about.CrashReport = nil, nil, nil, &without
	}
	p.value(&about, len("]}"))
}

func (p *jsonPrinter) Ending(d *report.Document) {
	p.Own("]")
	if d.CrashReport != nil {
		appendList(p, "annotations", d.Annotations)
		appendList(p, "unloaded_modules", d.Unloaded)
		appendList(p, "modules", d.Modules)
	}
	p.deadlocks(d)
	appendList(p, "last_words", d.LastWords)
	appendList(p, "warnings", d.Warnings)
	appendList(p, "hints", d.Hints)
	p.Own("}\n")
}

// deadlocks writes which threads and goroutines wait for each other.
func (p *jsonPrinter) deadlocks(d *report.Document) {
	if d.Waits != nil {
		appendList(p, "deadlocks", d.Waits.Deadlocks)
	}
	if d.Asleep != nil {
		p.Own(`,"asleep":`)
		p.value(d.Asleep, 0)
	}
}

func (p *jsonPrinter) Thread(d *report.Document, i int) {
	if i > 0 {
		p.Byte(',')
	}
	p.any = false
	t := d.Threads[i]
	t.Frames, t.Stop, t.Error, t.HeldUS, t.MovedOn, t.Languages = []report.Frame{}, "", "", nil, false, nil
	p.value(&t, len(`],"stop":"","error":""}`))
}

func (p *jsonPrinter) End(t *report.Thread) {
	p.Own("],")
	at := len(p.Buf)
	p.value(struct {
		Stop    string `json:"stop"`
		Error   string `json:"error"`
		HeldUS  *int64 `json:"held_us,omitempty"`
		MovedOn bool   `json:"moved_on,omitempty"`

		Languages []waits.Told `json:"languages,omitempty"`
	}{t.Stop, t.Error, t.HeldUS, t.MovedOn, t.Languages}, 0)
	p.Buf = append(p.Buf[:at], p.Buf[at+1:]...) // without the brace
}

func (p *jsonPrinter) Frame(w *report.Walker, level int, f *frame.Frame) int {
	p.room = w.AppendFrame(p.room[:0], level, f)
	p.Frames(w, p.room)
	return report.Levels(p.room)
}

// Frames implements [report.Printer].
func (p *jsonPrinter) Frames(w *report.Walker, list []report.Frame) {
	for i := range list {
		p.MakeRoom()
		if !w.Flags.Values.Selects(list[i].Level, list[i].Function) {
			continue
		}
		if p.any {
			p.Byte(',')
		}
		p.any = true
		p.Buf = appendEntry(p.Buf, &list[i])
	}
}
