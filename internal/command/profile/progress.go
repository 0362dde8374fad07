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

	"github.com/sfwalk/sfwalk/internal/count"
	"github.com/sfwalk/sfwalk/internal/printable"
	"github.com/sfwalk/sfwalk/record"
)

// showProgress says each second how a recording goes, in one line that is written anew, if standard
// error is a terminal. end takes the line away.
func showProgress(cmd *cobra.Command, stats func() record.Stats) (end func()) {
	out := ownTerminal(cmd)
	if out == nil {
		return func() {}
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

// ownTerminal returns standard error if it is a terminal, for a line of numbers that is written
// anew; else nil.
func ownTerminal(cmd *cobra.Command) io.Writer {
	if !term.IsTerminal(int(os.Stderr.Fd())) {
		return nil
	}
	out := cmd.ErrOrStderr()
	if p, ok := out.(*printable.Writer); ok {
		return p.Out() // it has no way back to the beginning of a line
	}
	return out
}

// showNaming says, as showProgress does, that the recording has ended and names are looked for.
func showNaming(cmd *cobra.Command, p *record.Profile) (end func()) {
	out := ownTerminal(cmd)
	if out == nil {
		return func() {}
	}
	text := namingText(p)
	io.WriteString(out, "\r"+text)
	return func() { io.WriteString(out, "\r"+strings.Repeat(" ", len(text))+"\r") }
}

// namingText is what the line says.
func namingText(p *record.Profile) string {
	return fmt.Sprintf("%.1f s recorded, %s; looking up names (Ctrl-C: addresses for the rest)", p.Duration.Seconds(), count.Of(p.Stats.Samples, "sample"))
}

// progressText is what the line says.
func progressText(since time.Duration, s *record.Stats) string {
	text := fmt.Sprintf("%d s, %s", int(since.Seconds()), count.Of(s.Samples, "sample"))
	if s.Lost > 0 {
		text += fmt.Sprintf(", %d lost", s.Lost)
	}
	return text + " (Ctrl-C ends)"
}
