package fromelf

import "github.com/sfwalk/sfwalk/elfimage"

func (d *Dump) findDebugFile() *elfimage.Image { return nil }

func (d *Dump) supplement(im *elfimage.Image) *sections { return nil }
