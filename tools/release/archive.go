package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// archive writes a tree as an archive: .zip for Windows, .tar.gz elsewhere. All is below one
// folder.
func (r *release) archive(t tree) error {
	top := fmt.Sprintf("sfwalk_%s_%s_%s", r.version.File, t.system, t.processor)
	if t.system == "windows" {
		return create(r.file(top+".zip"), func(w io.Writer) error { return r.zip(w, t.dir, top) })
	}
	return create(r.file(top+".tar.gz"), func(w io.Writer) error {
		g, err := gzip.NewWriterLevel(w, gzip.BestCompression)
		if err != nil {
			return err
		}
		return errors.Join(r.tar(g, t.dir, top), g.Close())
	})
}

// create writes a file of the release.
func create(name string, fill func(io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(fill(f), f.Close())
}

// each calls add for each folder and file below dir, in the order of their names, which are below
// top.
func each(dir, top string, add func(name string, info fs.FileInfo, content io.Reader) error) error {
	return filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name := path.Join(top, filepath.ToSlash(rel))
		if d.IsDir() {
			if name == "." {
				return nil
			}
			return add(name+"/", info, nil)
		}
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		defer f.Close()
		return add(name, info, f)
	})
}

// tar writes a folder as a tar file of root's.
func (r *release) tar(w io.Writer, dir, top string) error {
	a := tar.NewWriter(w)
	err := each(dir, top, func(name string, info fs.FileInfo, content io.Reader) error {
		h := &tar.Header{Format: tar.FormatUSTAR, Typeflag: tar.TypeDir, Name: name, Mode: int64(info.Mode().Perm()), ModTime: r.time, Uname: "root", Gname: "root"}
		if info.Mode()&fs.ModeSticky != 0 {
			h.Mode |= 0o1000
		}
		if content != nil {
			h.Typeflag, h.Size = tar.TypeReg, info.Size()
		}
		if err := a.WriteHeader(h); err != nil || content == nil {
			return err
		}
		_, err := io.Copy(a, content)
		return err
	})
	return errors.Join(err, a.Close())
}

func (r *release) zip(w io.Writer, dir, top string) error {
	a := zip.NewWriter(w)
	err := each(dir, top, func(name string, info fs.FileInfo, content io.Reader) error {
		h := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: r.time}
		h.SetMode(info.Mode())
		if content == nil {
			h.Method = zip.Store
		}
		part, err := a.CreateHeader(h)
		if err != nil || content == nil {
			return err
		}
		_, err = io.Copy(part, content)
		return err
	})
	return errors.Join(err, a.Close())
}
