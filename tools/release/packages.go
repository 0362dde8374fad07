package main

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// packages writes the Debian package and the rpm of a tree, as packaging/nfpm.yaml says.
func (r *release) packages(t tree) error {
	values := map[string]string{"TREE": t.dir, "PROCESSOR": t.processor, "VERSION": r.version.Debian}
	for _, format := range []string{"deb", "rpm"} {
		config, err := nfpm.ParseFileWithEnvMapping(filepath.Join(r.source, "packaging", "nfpm.yaml"), func(name string) string { return values[name] })
		if err != nil {
			return fmt.Errorf("packaging/nfpm.yaml: %w", err)
		}
		info, err := config.Get(format)
		if err != nil {
			return fmt.Errorf("packaging/nfpm.yaml: %w", err)
		}
		packager, err := nfpm.Get(format)
		if err != nil {
			return err
		}
		info.MTime = r.time
		info = nfpm.WithDefaults(info)
		if err := nfpm.PrepareForPackager(info, format); err != nil {
			return fmt.Errorf("packaging/nfpm.yaml: %s: %w", format, err)
		}
		name := packager.ConventionalFileName(info)
		if err := create(r.file(name), func(w io.Writer) error { return packager.Package(info, w) }); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}
