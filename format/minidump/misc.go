package minidump

import "time"

// Misc is what is known of the process (MINIDUMP_MISC_INFO).
type Misc struct {
	PID          uint32    // 0 if the dump does not say
	Created      time.Time // zero if the dump does not say
	User, Kernel uint32    // seconds of processor time
	Build        string    // of the system, in its words
}

func (f *File) readMisc(s Stream) error {
	const (
		hasPID, hasTimes, hasBuild = 1, 2, 0x100
		build                      = 232 // where MINIDUMP_MISC_INFO_4's text is
	)
	b, err := f.r.at(s.Location)
	if err != nil {
		return err
	}
	if len(b) < 24 {
		return errShort
	}
	flags := f.Order.Uint32(b[4:])
	if flags&hasPID != 0 {
		f.Misc.PID = f.Order.Uint32(b[8:])
	}
	if flags&hasTimes != 0 {
		f.Misc.Created = time.Unix(int64(f.Order.Uint32(b[12:])), 0).UTC()
		f.Misc.User, f.Misc.Kernel = f.Order.Uint32(b[16:]), f.Order.Uint32(b[20:])
	}
	if flags&hasBuild != 0 && len(b) >= build+2*260 {
		f.Misc.Build = f.r.utf16(b[build : build+2*260])
	}
	return nil
}
