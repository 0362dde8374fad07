package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// manual makes the pages of the manual.
func (r *release) manual(ctx context.Context, dir string) error {
	if err := r.run(ctx, os.Environ(), new(bytes.Buffer), "make", "-n", "man"); err != nil {
		return os.MkdirAll(filepath.Join(dir, "share/man/man1"), 0o755) // no page yet
	}
	made := filepath.Join(r.work, "man")
	if err := r.run(ctx, os.Environ(), nil, "make", "--no-print-directory", "man", "MAN="+made); err != nil {
		return err
	}
	entries, err := os.ReadDir(made)
	if err != nil || len(entries) == 0 {
		return fmt.Errorf("'make man' has made no page: %v", err)
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
