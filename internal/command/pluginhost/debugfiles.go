package pluginhost

import (
	"context"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/sfwalk/sfwalk/internal/debuginfod"
	"github.com/sfwalk/sfwalk/internal/debuginfod/fetch"
	"github.com/sfwalk/sfwalk/internal/printable"
)

// DebugFiles implements [hosts.Plugins].
func (Host) DebugFiles(ctx context.Context, servers debuginfod.Config, buildIDs []string, bar io.Writer) []error {
	c, err := fetch.New(servers)
	if err != nil {
		return []error{fmt.Errorf("fetch debug files: %w", err)}
	}
	p := &debugProgress{progress: progress{what: "debug files"}, text: bar}
	if f, ok := bar.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.text, p.out = nil, bar
	}
	defer p.end()
	return c.All(ctx, buildIDs, p)
}

// debugProgress is a bar, or, where there is no terminal, a line for each file.
type debugProgress struct {
	progress
	text io.Writer // nil for none
}

// Begin implements [fetch.Progress].
func (p *debugProgress) Begin(size int64, from string) {
	if p.text != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		printable.Fprintf(p.text, "Downloading from %s: %d bytes\n", from, size)
		return
	}
	p.progress.Begin(size)
}
