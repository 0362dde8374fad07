package x86

// Settable returns [arch.GDB].Settable: the flags that programs compute with; nothing of what the
// x87 tells of its last instruction, of its registers' tags, which are made of the registers, and
// of the registers of systems, which qemu has.
//
// [arch.GDB]: https://pkg.go.dev/github.com/sfwalk/sfwalk/arch#GDB
func Settable() map[string]uint64 {
	const (
		flags   = 0xcd5  // CF, PF, AF, ZF, SF, DF, OF
		control = 0x0f3f // the exceptions that are masked, precision, rounding
	)
	return map[string]uint64{
		"eflags": flags, "fctrl": control,
		"fstat": 0, "ftag": 0, "fiseg": 0, "fioff": 0, "foseg": 0, "fooff": 0, "fop": 0,
		"cr0": 0, "cr2": 0, "cr3": 0, "cr4": 0, "cr8": 0, "efer": 0,
	}
}
