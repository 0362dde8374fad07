package remote

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/elf"
)

// describe finds out the architecture, and how the stub numbers registers.
func (t *Target) describe(o Options) ([]register, error) {
	t.arch = o.Arch
	d, err := readDescription(func(annex string) ([]byte, error) {
		return t.s.transfer("features", annex, maxDescription)
	})
	switch {
	case err == nil && t.arch == nil && d.arch != "":
		if t.arch = arch.ByGDBName(d.arch); t.arch == nil && o.Exe == "" {
			return nil, fmt.Errorf("the target is a %q: known are %s; if it is one of them by another name, give the program by --exe", d.arch, strings.Join(arch.Names(), ", "))
		}
	case err != nil && !errors.Is(err, errUnsupported):
		return nil, err
	}
	if t.arch == nil {
		if t.arch, err = archOf(o.Exe); err != nil {
			return nil, err
		}
	}
	if d != nil && len(d.regs) > 0 {
		return d.regs, nil
	}
	return undescribed(t.arch), nil
}

// archOf returns the architecture of the program in the file exe.
func archOf(exe string) (*arch.Arch, error) {
	if exe == "" {
		return nil, errors.New("the stub does not tell the architecture: give the program by --exe")
	}
	im, file, err := elf.OpenFile(exe)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	a := arch.ByMachine(im.Machine, im.Order)
	if a == nil {
		return nil, fmt.Errorf("%s is for %v: known are %s", exe, im.Machine, strings.Join(arch.Names(), ", "))
	}
	return a, nil
}
