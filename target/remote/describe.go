package remote

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/elfimage"
)

// bfdNames are the architectures as gdb's library BFD names them, which is how
// target.xml does.
var bfdNames = map[string]string{
	"i386:x86-64": "amd64", "x86-64": "amd64",
	"aarch64":     "arm64",
	"s390:64-bit": "s390x",
}

// describe finds out the architecture, and how the stub numbers registers.
func (t *Target) describe(o Options) ([]register, error) {
	t.arch = o.Arch
	d, err := readDescription(func(annex string) ([]byte, error) {
		return t.s.transfer("features", annex, maxDescription)
	})
	switch {
	case err == nil && t.arch == nil && d.arch != "":
		if t.arch = arch.ByName(bfdNames[d.arch]); t.arch == nil {
			return nil, fmt.Errorf("the target is a %q: known are %s", d.arch, strings.Join(known(), ", "))
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
	return classic(t.arch.Name), nil
}

// known lists the architectures that there are descriptors for.
func known() (names []string) {
	for _, name := range [...]string{"amd64", "arm64", "s390x"} {
		if arch.ByName(name) != nil {
			names = append(names, name)
		}
	}
	return names
}

// archOf is the architecture that a program is made for.
func archOf(exe string) (*arch.Arch, error) {
	if exe == "" {
		return nil, errors.New("the stub does not tell the architecture: give the program by --exe")
	}
	im, file, err := elfimage.OpenFile(exe)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	a := arch.ByMachine(im.Machine, im.Order)
	if a == nil {
		return nil, fmt.Errorf("%s is for %v: known are %s", exe, im.Machine, strings.Join(known(), ", "))
	}
	return a, nil
}
