package calls

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/printable"
)

// Flags are the flags of call.
type Flags struct {
	report.Flags
	TID     int
	Timeout time.Duration
	Alone   bool
}

// callDocument is what call prints with --json.
type callDocument struct {
	Remote     string          `json:"remote,omitempty"`
	PID        int             `json:"pid"`
	TID        int             `json:"tid"`
	Expression string          `json:"expression"`
	Value      string          `json:"value,omitempty"`
	Type       string          `json:"type,omitempty"`
	Notes      []string        `json:"notes,omitempty"`
	Error      string          `json:"error,omitempty"`
	Signal     string          `json:"signal,omitempty"`
	Threads    []report.Thread `json:"threads,omitempty"` // the thread where it was given up
}

// evaluation is one expression in a process that was held.
type evaluation struct {
	*Callee
	tid      int
	text     string
	shown    string // the value as text; "" if there is none
	typeName string
	notes    []string
	err      error
	stopped  *report.Document // the stack where the call was given up; nil if there is none
}

// print prints the result of an evaluation.
func (x *evaluation) print(cmd *cobra.Command, flags *Flags) error {
	err := x.err
	var failed *inferior.CallError
	isCall := errors.As(err, &failed)
	if err != nil && !isCall {
		return x.Fail(err)
	}
	if flags.JSON {
		doc := callDocument{Remote: x.remote, PID: x.Source.From().Process.PID, TID: x.tid, Expression: x.text, Notes: x.notes}
		if isCall {
			doc.Error = failed.Error()
			if failed.Event.Signal.Number != 0 {
				doc.Signal = failed.Event.Signal.String()
			}
			if x.stopped != nil {
				doc.Threads = x.stopped.Threads
			}
		} else {
			doc.Value, doc.Type = x.shown, x.typeName
		}
		encoder := json.NewEncoder(cmd.OutOrStdout())
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(&doc); err != nil {
			return err
		}
	} else if !isCall && x.shown != "" {
		printable.Fprintf(cmd.OutOrStdout(), "%s\n", x.shown)
	}
	if isCall {
		return x.Fail(err)
	}
	if !flags.JSON {
		for _, note := range x.notes {
			printable.Fprintf(cmd.ErrOrStderr(), "sfwalk: note: %s\n", note)
		}
	}
	return nil
}
