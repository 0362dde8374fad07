package main

import (
	"context"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"

	"github.com/sfwalk/sfwalk/tools/internal/licenses"
)

// materials writes the SBOM, in CycloneDX's form: each program with the modules that are in it, as
// the program itself says ('go version -m').
func (r *release) materials(ctx context.Context, trees []tree) error {
	known := map[string]string{} // licences, by module and version
	list, err := licenses.Linked(ctx, r.source, r.platforms, programs...)
	if err != nil {
		return err
	}
	for _, m := range list {
		known[m.Path+"@"+m.Version] = m.SPDX
	}
	b := bill{modules: map[string]cdx.Component{}, known: known}
	for _, t := range trees {
		for _, name := range t.programs {
			if err := b.program(t, name, r.version.File); err != nil {
				return fmt.Errorf("%s of %s/%s: %w", path.Base(name), t.system, t.processor, err)
			}
		}
	}
	self := cdx.Component{BOMRef: "sfwalk", Type: cdx.ComponentTypeApplication, Name: "sfwalk", Version: r.version.File,
		PackageURL: "pkg:golang/github.com/sfwalk/sfwalk@" + r.version.Program, Licenses: license("BSD-3-Clause")}
	components := b.programs
	for _, ref := range slices.Sorted(maps.Keys(b.modules)) {
		components = append(components, b.modules[ref])
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Timestamp: r.time.Format(time.RFC3339), Component: &self}
	bom.Components, bom.Dependencies = &components, &b.edges
	return create(r.file("sfwalk_"+r.version.File+".cdx.json"), func(w io.Writer) error {
		return cdx.NewBOMEncoder(w, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom, cdx.SpecVersion1_6)
	})
}

// bill is an SBOM in the making.
type bill struct {
	programs []cdx.Component
	modules  map[string]cdx.Component // by their references, which are their package URLs
	edges    []cdx.Dependency
	known    map[string]string
}

func (b *bill) program(t tree, name, version string) error {
	file := filepath.Join(t.dir, name)
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return err
	}
	sum, err := checksum(file)
	if err != nil {
		return err
	}
	c := cdx.Component{Type: cdx.ComponentTypeApplication, Name: path.Base(name), Version: version, Licenses: license("BSD-3-Clause"),
		Description: "for " + t.system + "/" + t.processor, Hashes: &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: sum}}}
	c.BOMRef = fmt.Sprintf("%s/%s/%s", t.system, t.processor, c.Name)
	b.programs = append(b.programs, c)
	std, err := b.module(licenses.Std, strings.TrimPrefix(info.GoVersion, "go"), "", licenses.Std+"@")
	if err != nil {
		return err
	}
	needs := []string{std}
	for _, d := range info.Deps {
		if d.Replace != nil {
			return fmt.Errorf("module %s is replaced", d.Path)
		}
		ref, err := b.module(d.Path, d.Version, d.Sum, d.Path+"@"+d.Version)
		if err != nil {
			return err
		}
		needs = append(needs, ref)
	}
	slices.Sort(needs)
	b.edges = append(b.edges, cdx.Dependency{Ref: c.BOMRef, Dependencies: &needs})
	return nil
}

// module adds a module, and returns its reference. sum is as in go.sum.
func (b *bill) module(name, version, sum, key string) (string, error) {
	ref := "pkg:golang/" + name + "@" + version
	if _, ok := b.modules[ref]; ok {
		return ref, nil
	}
	id, ok := b.known[key]
	if !ok {
		return "", fmt.Errorf("module %s is linked, and go list has not said so", key)
	}
	c := cdx.Component{BOMRef: ref, Type: cdx.ComponentTypeLibrary, Name: name, Version: version, PackageURL: ref, Licenses: license(id)}
	if sum != "" {
		digest, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(sum, "h1:"))
		if err != nil {
			return "", fmt.Errorf("module %s: checksum %s: %w", key, sum, err)
		}
		c.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(digest)}}
	}
	b.modules[ref] = c
	return ref, nil
}

func license(expression string) *cdx.Licenses {
	if strings.Contains(expression, " ") {
		return &cdx.Licenses{{Expression: expression}}
	}
	return &cdx.Licenses{{License: &cdx.License{ID: expression}}}
}
