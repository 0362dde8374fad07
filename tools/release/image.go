package main

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// image writes the container image for all processors, as an OCI archive: the programs, and nothing
// of a distribution.
func (r *release) image(trees []tree) error {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, t := range trees {
		if !t.live() {
			continue
		}
		image, err := r.imageOf(t)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{
			Platform: &v1.Platform{OS: t.system, Architecture: t.processor}}})
	}
	dir := filepath.Join(r.work, "image")
	names := map[string]string{"org.opencontainers.image.ref.name": r.version.File}
	path, err := layout.Write(dir, empty.Index)
	if err == nil {
		err = path.AppendIndex(index, layout.WithAnnotations(names))
	}
	if err == nil {
		err = r.settle(dir)
	}
	if err != nil {
		return err
	}
	return create(r.file("sfwalk_"+r.version.File+"_oci.tar"), func(w io.Writer) error { return r.tar(w, dir, "") })
}

// imageOf makes the image for one processor.
func (r *release) imageOf(t tree) (v1.Image, error) {
	root := filepath.Join(r.work, "root-"+t.processor)
	for _, name := range t.programs {
		if err := os.MkdirAll(filepath.Join(root, "usr", "bin"), 0o755); err != nil {
			return nil, err
		}
		if err := os.Link(filepath.Join(t.dir, name), filepath.Join(root, "usr", name)); err != nil {
			return nil, err
		}
	}
	for _, name := range []string{"LICENSE", "NOTICE"} {
		text, err := os.ReadFile(filepath.Join(t.dir, "share", "doc", "sfwalk", name))
		if err == nil {
			err = write(filepath.Join(root, "usr", "share", "doc", "sfwalk", name), text)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := r.settle(root); err != nil {
		return nil, err
	}
	tmp := filepath.Join(root, "tmp") // for plug-ins and snapshots
	if err := os.Mkdir(tmp, 0o777); err != nil {
		return nil, err
	}
	if err := os.Chmod(tmp, 0o777|fs.ModeSticky); err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		out, in := io.Pipe()
		go func() { in.CloseWithError(r.tar(in, root, "")) }()
		return out, nil
	}, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	base := mutate.MediaType(mutate.ConfigMediaType(empty.Image, types.OCIConfigJSON), types.OCIManifestSchema1)
	image, err := mutate.Append(base, mutate.Addendum{Layer: layer, History: v1.History{Created: v1.Time{Time: r.time}, CreatedBy: "make release"}})
	if err != nil {
		return nil, err
	}
	c, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	c = c.DeepCopy()
	r.configure(c, t)
	return mutate.ConfigFile(image, c)
}

// configure says what a container runtime must know.
func (r *release) configure(c *v1.ConfigFile, t tree) {
	c.OS, c.Architecture, c.Created = t.system, t.processor, v1.Time{Time: r.time}
	c.Config = v1.Config{
		Entrypoint: []string{"/usr/bin/sfwalk"},
		Env:        []string{"PATH=/usr/bin"},
		Labels: map[string]string{
			"org.opencontainers.image.title":       "sfwalk",
			"org.opencontainers.image.description": "The stacks of live processes, core files and crash reports",
			"org.opencontainers.image.source":      "https://github.com/sfwalk/sfwalk",
			"org.opencontainers.image.licenses":    "BSD-3-Clause",
			"org.opencontainers.image.version":     r.version.File,
		},
	}
}
