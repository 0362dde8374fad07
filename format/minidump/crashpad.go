package minidump

import "fmt"

// Crashpad is what Crashpad's client and handler note (MinidumpCrashpadInfo).
type Crashpad struct {
	ReportID, ClientID string // UUIDs
	// AddressMask tells the bits of a pointer that are address from a pointer authentication code;
	// 0 if there is none.
	AddressMask uint64
}

// Annotation is a name with a value.
type Annotation struct {
	Name, Value string
}

const maxAnnotations = 1 << 14 // of a whole dump

func (f *File) readCrashpad(s Stream) error {
	b, err := f.r.at(s.Location)
	if err != nil {
		return err
	}
	if len(b) < 52 {
		return errShort
	}
	uuid := func(b []byte) string {
		return fmt.Sprintf("%08x-%04x-%04x-%x-%x", f.Order.Uint32(b), f.Order.Uint16(b[4:]), f.Order.Uint16(b[6:]), b[8:10], b[10:16])
	}
	f.Crashpad = &Crashpad{ReportID: uuid(b[4:]), ClientID: uuid(b[20:])}
	if len(b) >= 64 {
		f.Crashpad.AddressMask = f.Order.Uint64(b[56:])
	}
	left := maxAnnotations
	if f.Annotations, err = f.dictionary(f.r.location(b[36:]), &left); err != nil {
		return err
	}
	return f.readModuleAnnotations(f.r.location(b[44:]), &left)
}

// entries returns the entries of a list: their number, and that many of size bytes.
func (f *File) entries(l Location, size int, left *int) ([]byte, error) {
	if l.Size == 0 {
		return nil, nil
	}
	b, err := f.r.list(l, size)
	if *left -= len(b) / size; err == nil && *left < 0 {
		err = fmt.Errorf("more than %d annotations", maxAnnotations)
	}
	return b, err
}

// dictionary reads MinidumpSimpleStringDictionary: pairs of strings.
func (f *File) dictionary(l Location, left *int) (list []Annotation, err error) {
	const size = 8
	b, err := f.entries(l, size, left)
	for ; err == nil && len(b) > 0; b = b[size:] {
		var a Annotation
		if a.Name, err = f.r.utf8(uint64(f.Order.Uint32(b))); err == nil {
			a.Value, err = f.r.utf8(uint64(f.Order.Uint32(b[4:])))
			list = append(list, a)
		}
	}
	return list, err
}

// readModuleAnnotations reads MinidumpModuleCrashpadInfoList: the index of a module, and where its
// MinidumpModuleCrashpadInfo is, for each.
func (f *File) readModuleAnnotations(l Location, left *int) error {
	const size = 12
	b, err := f.entries(l, size, left)
	for ; err == nil && len(b) > 0; b = b[size:] {
		i := f.Order.Uint32(b)
		if i >= uint32(len(f.Modules)) {
			continue
		}
		var info []byte
		if info, err = f.r.at(f.r.location(b[4:])); err == nil && len(info) < 28 {
			err = errShort
		}
		if err == nil {
			f.Modules[i].Annotations, err = f.annotations(info, left)
		}
		m := &f.Modules[i]
		for k := range m.Annotations { // each is shown with the module's name
			if bad := f.r.refer(m.Name); bad != nil {
				m.Annotations, err = m.Annotations[:k], bad
				break
			}
		}
	}
	return err
}

// annotations reads the three kinds that a module has: texts, pairs of texts, and objects with a
// type.
func (f *File) annotations(info []byte, left *int) ([]Annotation, error) {
	const textSize, objectSize, textType = 4, 12, 1
	var all []Annotation
	texts, err := f.entries(f.r.location(info[4:]), textSize, left)
	for ; err == nil && len(texts) > 0; texts = texts[textSize:] {
		var a Annotation
		a.Value, err = f.r.utf8(uint64(f.Order.Uint32(texts)))
		all = append(all, a)
	}
	if err != nil {
		return all, err
	}
	pairs, err := f.dictionary(f.r.location(info[12:]), left)
	if all = append(all, pairs...); err != nil {
		return all, err
	}
	objects, err := f.entries(f.r.location(info[20:]), objectSize, left)
	for ; err == nil && len(objects) > 0; objects = objects[objectSize:] {
		if f.Order.Uint16(objects[4:]) != textType {
			continue
		}
		var a Annotation
		if a.Name, err = f.r.utf8(uint64(f.Order.Uint32(objects))); err == nil {
			a.Value, err = f.r.utf8(uint64(f.Order.Uint32(objects[8:])))
			all = append(all, a)
		}
	}
	return all, err
}
