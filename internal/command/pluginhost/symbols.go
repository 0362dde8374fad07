package pluginhost

import (
	"cmp"
	"context"
	"io"
	"sync"

	"github.com/sfwalk/sfwalk/internal/command/hosts"

	"github.com/schollz/progressbar/v3"

	"github.com/sfwalk/sfwalk/format/breakpad"
	"github.com/sfwalk/sfwalk/internal/symbolserver"
)

// symbols is the [hosts.SymbolServer] that asks by HTTP.
type symbols struct{ *symbolserver.Server }

// Symbols implements [hosts.Plugins].
func (Host) Symbols(address, cache string, others ...string) (hosts.SymbolServer, error) {
	s, err := symbolserver.New(address, cache, others...)
	return symbols{s}, err
}

// Fetch implements [hosts.SymbolServer].
func (s symbols) Fetch(ctx context.Context, modules []breakpad.Module, bar io.Writer) {
	p := &progress{out: bar, what: "symbols"}
	s.Server.Fetch(ctx, modules, p)
	p.end()
}

// progress is a bar of what is fetched, on a terminal.
type progress struct {
	out  io.Writer // nil if there is none
	what string    // is fetched

	mu    sync.Mutex
	bar   *progressbar.ProgressBar
	total int64
}

// Begin implements [symbolserver.Progress].
func (p *progress) Begin(size int64) {
	if p.out == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.total += max(size, 0); p.bar == nil {
		p.bar = progressbar.NewOptions64(cmp.Or(p.total, -1), progressbar.OptionSetWriter(p.out), progressbar.OptionSetDescription(p.what), progressbar.OptionShowBytes(true),
			progressbar.OptionClearOnFinish(), progressbar.OptionSetPredictTime(false))
	}
	if p.total > 0 {
		p.bar.ChangeMax64(p.total)
	}
}

// Add implements [symbolserver.Progress].
func (p *progress) Add(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		p.bar.Add(n)
	}
}

// end takes the bar away.
func (p *progress) end() {
	if p.bar != nil {
		p.bar.Finish()
	}
}
