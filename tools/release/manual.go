package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// manual makes the pages of the manual, as 'make man' does. Their date is the release's.
func (r *release) manual(ctx context.Context, dir string) error {
	made := filepath.Join(r.work, "man")
	err := r.run(ctx, environment(runtime.GOOS, runtime.GOARCH), nil, "go", "run", "./internal/manpage/generate",
		"-version", r.version.File, "-date", r.time.Format(time.DateOnly), made)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(made)
	if err != nil || len(entries) == 0 {
		return fmt.Errorf("there is no page of the manual: %v", err)
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(made, e.Name()))
		if err == nil {
			text, err = pack(text)
		}
		if err == nil {
			err = write(filepath.Join(dir, "share/man/man1", e.Name()+".gz"), text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
