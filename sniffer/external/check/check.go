package check

import (
	"context"
	"fmt"
	"os"
	"time"
)

// Options of [Run].
type Options struct {
	Snapshots []string // files that 'sfwalk attach --save' has written: stacks to walk beside those that are bundled
	SHA256    string   // the checksum in hexadecimal that the program must have; "" for any
	Host      string   // who asks: "sfwalk 1.4.0"
}

// Run checks the plug-in at path. Its faults are in the report; the error says why there
// is none, or not a whole one: no such program, a snapshot that cannot be read, ctx's end.
func Run(ctx context.Context, path string, o Options) (*Report, error) {
	begin := time.Now()
	r := &Report{Path: path}
	if _, err := os.Stat(path); err != nil {
		return r, fmt.Errorf("check plug-in: %w", err)
	}
	r.Took = time.Since(begin)
	return r, ctx.Err()
}
