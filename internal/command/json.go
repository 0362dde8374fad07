package command

import (
	"encoding/json"

	"github.com/sfwalk/sfwalk/frame"
)

// jsonPrinter writes a [document], piece by piece.
type jsonPrinter struct {
	output
	encoder *json.Encoder // to output
	room    []frameEntry  // for the frames of one place
	any     bool          // the thread has frames already
}

func newJSONPrinter() *jsonPrinter {
	p := &jsonPrinter{}
	p.encoder = json.NewEncoder(&p.output)
	p.encoder.SetEscapeHTML(false)
	return p
}

// value writes a value, but for that many of its last bytes.
func (p *jsonPrinter) value(v any, but int) {
	p.encoder.Encode(v) // with a newline; of values without errors, to memory
	p.buf = p.buf[:len(p.buf)-1-but]
}

func (p *jsonPrinter) heading(d *document) {
	about := *d
	about.Threads = []thread{}
	if d.report != nil {
		without := *d.report
		without.Annotations, without.Unloaded, without.Modules, about.report = nil, nil, nil, &without
	}
	p.value(&about, len("]}"))
}

func (p *jsonPrinter) ending(d *document) {
	p.own("]")
	if d.report != nil {
		appendList(p, "annotations", d.Annotations)
		appendList(p, "unloaded_modules", d.Unloaded)
		appendList(p, "modules", d.Modules)
	}
	p.deadlocks(d)
	appendList(p, "warnings", d.Warnings)
	p.own("}\n")
}

// deadlocks writes which threads and goroutines wait for each other.
func (p *jsonPrinter) deadlocks(d *document) {
	if d.waits != nil {
		appendList(p, "deadlocks", d.waits.deadlocks)
	}
	if d.Asleep != nil {
		p.own(`,"asleep":`)
		p.value(d.Asleep, 0)
	}
}

func (p *jsonPrinter) thread(d *document, i int) {
	if i > 0 {
		p.byte(',')
	}
	p.any = false
	t := d.Threads[i]
	t.Frames, t.Stop, t.Error, t.HeldUS, t.MovedOn = []frameEntry{}, "", "", nil, false
	p.value(&t, len(`],"stop":"","error":""}`))
}

func (p *jsonPrinter) end(t *thread) {
	p.own("],")
	at := len(p.buf)
	p.value(struct {
		Stop    string `json:"stop"`
		Error   string `json:"error"`
		HeldUS  *int64 `json:"held_us,omitempty"`
		MovedOn bool   `json:"moved_on,omitempty"`
	}{t.Stop, t.Error, t.HeldUS, t.MovedOn}, 0)
	p.buf = append(p.buf[:at], p.buf[at+1:]...) // without the brace
}

func (p *jsonPrinter) frame(w *walker, level int, f *frame.Frame) int {
	p.room = w.appendFrame(p.room[:0], level, f)
	p.frames(w, p.room)
	return len(p.room)
}

// frames implements [printer].
func (p *jsonPrinter) frames(w *walker, list []frameEntry) {
	for i := range list {
		p.makeRoom()
		if !w.flags.values.selects(list[i].Level, list[i].Function) {
			continue
		}
		if p.any {
			p.byte(',')
		}
		p.any = true
		p.buf = appendEntry(p.buf, &list[i])
	}
}
