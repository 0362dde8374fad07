package profile

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/sfwalk/sfwalk/internal/printable"
	"github.com/sfwalk/sfwalk/record"
)

// showProgress says each second how a recording goes, in one line that is written anew, if standard
// error is a terminal. end takes the line away.
func showProgress(cmd *cobra.Command, stats func() record.Stats) (end func()) {
	if !term.IsTerminal(int(os.Stderr.Fd())) {
		return func() {}
	}
	out := cmd.ErrOrStderr()
	if p, ok := out.(*printable.Writer); ok {
		out = p.Out() // it has no way back to the beginning of a line; there are numbers alone in this one
	}
	begin, done := time.Now(), make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() {
		each := time.NewTicker(time.Second)
		defer each.Stop()
		last := 0
		for {
			select {
			case <-each.C:
				s := stats()
				text := progressText(time.Since(begin), &s)
				io.WriteString(out, "\r"+text+strings.Repeat(" ", max(last-len(text), 0)))
				last = len(text)
			case <-done:
				io.WriteString(out, "\r"+strings.Repeat(" ", last)+"\r")
				return
			}
		}
	})
	return sync.OnceFunc(func() {
		close(done)
		ended.Wait()
	})
}

// progressText is what the line says.
func progressText(since time.Duration, s *record.Stats) string {
	text := fmt.Sprintf("%d s, %d samples", int(since.Seconds()), s.Samples)
	if s.Lost > 0 {
		text += fmt.Sprintf(", %d lost", s.Lost)
	}
	return text + " (Ctrl-C ends)"
}
