package fromelf

import "github.com/sfwalk/sfwalk/elfimage"

type splits struct {
	dump  *Dump
	image *elfimage.Image
}

func (p *splits) find(s *sections, u *unit) (*sections, *unit) { return nil, nil }
