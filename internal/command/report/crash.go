package report

import (
	"strings"
	"time"

	format "github.com/sfwalk/sfwalk/format/minidump"
	"github.com/sfwalk/sfwalk/internal/command/address"
)

// CrashReport is what a minidump says beside its stacks; docs/json.md describes it.
type CrashReport struct {
	Minidump    string          `json:"minidump"` // the file
	Written     string          `json:"written,omitempty"`
	System      *systemEntry    `json:"system,omitempty"`
	Crash       *CrashEntry     `json:"crash,omitempty"`   // not present if the process did not crash
	Stopped     *CrashEntry     `json:"stopped,omitempty"` // why there is a dump of a process that did not crash
	Assertion   *assertionEntry `json:"assertion,omitempty"`
	Annotations []annotation    `json:"annotations,omitempty"`
	Unloaded    []ModuleEntry   `json:"unloaded_modules,omitempty"`
	Modules     []ModuleEntry   `json:"modules,omitempty"` // printed last: whether there are symbols is known then
}

type systemEntry struct {
	OS         string `json:"os"`
	Release    string `json:"release"`
	Processor  string `json:"processor"`
	Details    string `json:"details,omitempty"`
	Processors int    `json:"processors"`
}

// CrashEntry is why a process died, or was stopped for a dump.
type CrashEntry struct {
	Reason  string      `json:"reason"`
	Address address.Hex `json:"address"`
	TID     uint32      `json:"tid"`

	Sent string `json:"-"` // the name of a code that Reason has as a number, or not at all: "SI_TKILL"
}

// Name returns the signal or exception alone: "SIGSEGV".
func (x *CrashEntry) Name() string {
	if x.Reason == "unknown signal" {
		return "an unknown signal"
	}
	if strings.HasPrefix(x.Reason, "0x") {
		return x.Reason
	}
	name, _, _ := strings.Cut(x.Reason, " / ")
	return name
}

// String returns the reason in the words of a core file: "SIGSEGV (SEGV_MAPERR)". A code of 0 is
// left out: it says nothing.
func (x *CrashEntry) String() string {
	name, text := x.Name(), x.Sent
	if text == "" && !strings.HasPrefix(x.Reason, "0x") {
		_, text, _ = strings.Cut(x.Reason, " / ")
	}
	if text == "" || text == "0x00000000" {
		return name
	}
	return name + " (" + text + ")"
}

type assertionEntry struct {
	Expression string `json:"expression"`
	Function   string `json:"function"`
	File       string `json:"file"`
	Line       int    `json:"line"`
}

type annotation struct {
	Module string `json:"module,omitempty"` // whose client noted it; "" for the process
	Name   string `json:"name"`
	Value  string `json:"value"`
}

// ModuleEntry is a module of a minidump.
type ModuleEntry struct {
	Name      string      `json:"name"`
	Base      address.Hex `json:"base"`
	End       address.Hex `json:"end"` // the first address behind it
	Version   string      `json:"version,omitempty"`
	DebugFile string      `json:"debug_file,omitempty"`
	DebugID   string      `json:"debug_id,omitempty"`
	CodeID    string      `json:"code_id,omitempty"`
	// Symbols is "symbols" if its symbol file was used, "file" if the file itself was, "none" if a
	// frame is in it and neither is at hand; not present if no frame is in it.
	Symbols string `json:"symbols,omitempty"`
}

// NewCrashReport describes a minidump, whose file is at path.
func NewCrashReport(path string, f *format.File) *CrashReport {
	r := &CrashReport{Minidump: path}
	if !f.Time.IsZero() {
		r.Written = f.Time.Format(time.RFC3339)
	}
	if s := &f.System; s.Known {
		r.System = &systemEntry{s.OS.String(), s.Release(), s.Processor.String(), s.Describe(), s.Processors}
	}
	if x := f.Exception; x != nil {
		met := &CrashEntry{Reason: f.Reason(), Address: address.If(f.CrashAddress(), f.HasAddress(x)), TID: x.Thread, Sent: f.CodeName(x)}
		if f.Died() {
			r.Crash = met
		} else {
			r.Stopped = met
		}
	}
	if a := f.Assertion; a != nil {
		r.Assertion = &assertionEntry{a.Expression, a.Function, a.File, a.Line}
	}
	add := func(module string, list []format.Annotation) {
		for _, a := range list {
			r.Annotations = append(r.Annotations, annotation{module, a.Name, a.Value})
		}
	}
	add("", f.Annotations)
	for i := range f.Modules {
		m := &f.Modules[i]
		add(m.Name, m.Annotations)
		r.Modules = append(r.Modules, ModuleEntry{
			Name: m.Name, Base: address.At(m.Base), End: address.At(m.Base + m.Size), Version: m.Version,
			DebugFile: m.DebugFile(), DebugID: m.DebugID(f), CodeID: m.CodeID(f),
		})
	}
	for _, m := range f.Unloaded {
		r.Unloaded = append(r.Unloaded, ModuleEntry{Name: m.Name, Base: address.At(m.Base), End: address.At(m.Base + m.Size)})
	}
	return r
}
