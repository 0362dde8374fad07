package crash

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	format "github.com/sfwalk/sfwalk/format/minidump"
	"github.com/sfwalk/sfwalk/internal/command/address"
	"github.com/sfwalk/sfwalk/internal/command/report"
)

// infoDocument is what is in a dump; docs/json.md describes it.
type infoDocument struct {
	*report.CrashReport
	Flags      string           `json:"flags"`
	PID        int              `json:"pid,omitempty"`
	Created    string           `json:"created,omitempty"` // when the process was
	UserTime   uint32           `json:"user_s,omitempty"`
	KernelTime uint32           `json:"kernel_s,omitempty"`
	Streams    []streamEntry    `json:"streams"`
	Exceptions []exceptionEntry `json:"exceptions,omitempty"`
	Handler    uint32           `json:"written_by,omitempty"`   // the thread that wrote the dump
	Requesting uint32           `json:"requested_by,omitempty"` // the thread that it was written for
	ReportID   string           `json:"report_id,omitempty"`    // Crashpad's
	ClientID   string           `json:"client_id,omitempty"`    // Crashpad's
	Comment    string           `json:"comment,omitempty"`
	Threads    []infoThread     `json:"threads"`
	Memory     []memoryEntry    `json:"memory"`
	Regions    []regionEntry    `json:"regions,omitempty"`
	Linux      *linuxEntry      `json:"linux,omitempty"`
}

type streamEntry struct {
	Type   string `json:"type"`
	Size   uint64 `json:"size"`
	Offset uint64 `json:"offset"`
}

type exceptionEntry struct {
	report.CrashEntry
	Code       address.Hex       `json:"code"`
	Flags      address.Hex       `json:"flags"`
	Record     address.Hex       `json:"record"`
	Where      address.Hex       `json:"exception_address"`
	Parameters []address.Hex     `json:"parameters"`
	Registers  []report.Register `json:"registers,omitempty"`
}

type infoThread struct {
	TID       uint32            `json:"tid"`
	Name      string            `json:"name"`
	Stack     address.Hex       `json:"stack"`
	Size      uint64            `json:"stack_size"`
	Registers []report.Register `json:"registers,omitempty"`
	Error     string            `json:"error,omitempty"` // why there are no registers
}

type memoryEntry struct {
	Base   address.Hex `json:"base"`
	End    address.Hex `json:"end"`
	Offset uint64      `json:"offset"`
}

type regionEntry struct {
	Base       address.Hex `json:"base"`
	End        address.Hex `json:"end"`
	State      address.Hex `json:"state"`
	Protection address.Hex `json:"protection"`
	Type       address.Hex `json:"type"`
}

type linuxEntry struct {
	CPUInfo     string   `json:"cpuinfo,omitempty"`
	Status      string   `json:"status,omitempty"`
	LSBRelease  string   `json:"lsb_release,omitempty"`
	CommandLine []string `json:"cmdline,omitempty"`
	Environment []string `json:"environ,omitempty"`
	Maps        string   `json:"maps,omitempty"`
}

// printInfoJSON writes what is in a dump as a line of JSON.
func printInfoJSON(out io.Writer, path string, f *format.File) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	return e.Encode(newInfo(path, f))
}

func newInfo(path string, f *format.File) *infoDocument {
	number := func(v uint64) address.Hex { return address.At(v) }
	d := &infoDocument{
		CrashReport: report.NewCrashReport(path, f), Flags: fmt.Sprintf("%#x", f.Flags),
		PID: f.PID(), UserTime: f.Misc.User, KernelTime: f.Misc.Kernel,
		Handler: f.Breakpad.Handler, Requesting: f.Breakpad.Requesting, Comment: f.Comment,
		Streams: []streamEntry{}, Threads: []infoThread{}, Memory: []memoryEntry{},
	}
	if !f.Misc.Created.IsZero() {
		d.Created = f.Misc.Created.Format(time.RFC3339)
	}
	if c := f.Crashpad; c != nil {
		d.ReportID, d.ClientID = c.ReportID, c.ClientID
	}
	for _, s := range f.Streams {
		d.Streams = append(d.Streams, streamEntry{s.Type.String(), s.Size, s.Offset})
	}
	for _, x := range exceptionsOf(f) {
		one := exceptionEntry{
			CrashEntry: report.CrashEntry{Reason: f.ReasonOf(&x), Address: number(f.AddressOf(&x)), TID: x.Thread},
			Code:       number(uint64(x.Code)), Flags: number(uint64(x.Flags)),
			Record: number(x.Record), Where: number(x.Address), Parameters: []address.Hex{},
		}
		for _, p := range x.Params {
			one.Parameters = append(one.Parameters, number(p))
		}
		if x.Context.Size > 0 {
			one.Registers, _ = registersAt(f, x.Context)
		}
		d.Exceptions = append(d.Exceptions, one)
	}
	for i := range f.Threads {
		t := &f.Threads[i]
		one := infoThread{TID: t.ID, Name: t.Name, Stack: number(t.Stack.Lo), Size: t.Stack.Size}
		var err error
		if one.Registers, err = registersAt(f, t.Context); err != nil {
			one.Error = err.Error()
		}
		d.Threads = append(d.Threads, one)
	}
	for _, r := range f.Ranges() {
		d.Memory = append(d.Memory, memoryEntry{number(r.Lo), number(r.Lo + r.Size), r.Offset})
	}
	for _, r := range f.Regions {
		d.Regions = append(d.Regions, regionEntry{
			number(r.Lo), number(r.Lo + r.Size), number(uint64(r.State)), number(uint64(r.Protection)), number(uint64(r.Type)),
		})
	}
	l := &linuxEntry{
		CPUInfo: string(f.Linux.CPUInfo), Status: string(f.Linux.Status), LSBRelease: string(f.Linux.LSBRelease),
		CommandLine: zeroEnded(f.Linux.CommandLine), Environment: zeroEnded(f.Linux.Environment),
		Maps: string(f.Linux.Maps),
	}
	if l.CPUInfo+l.Status+l.LSBRelease+l.Maps != "" || len(l.CommandLine)+len(l.Environment) > 0 {
		d.Linux = l
	}
	return d
}

// exceptionsOf returns the exceptions of a dump; a microdump has one alone.
func exceptionsOf(f *format.File) []format.Exception {
	if len(f.Exceptions) == 0 && f.Exception != nil {
		return []format.Exception{*f.Exception}
	}
	return f.Exceptions
}

// registersAt returns the registers of a context.
func registersAt(f *format.File, context format.Location) (list []report.Register, err error) {
	regs, err := f.Registers(context)
	for _, r := range regs {
		list = append(list, report.Register{Name: r.Name, Value: fmt.Sprintf("%#x", r.Value)})
	}
	return list, err
}

// zeroEnded returns the texts that end with a zero each.
func zeroEnded(b []byte) []string {
	if len(b) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00")
}
