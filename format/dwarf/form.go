package dwarf

// Form is the encoding of an attribute's value, DWARF 5 section 7.5.6.
type Form uint32

// Forms, DWARF 5 table 7.6, and GNU's.
const (
	FormAddr          Form = 0x01
	FormBlock2        Form = 0x03
	FormBlock4        Form = 0x04
	FormData2         Form = 0x05
	FormData4         Form = 0x06
	FormData8         Form = 0x07
	FormString        Form = 0x08
	FormBlock         Form = 0x09
	FormBlock1        Form = 0x0a
	FormData1         Form = 0x0b
	FormFlag          Form = 0x0c
	FormSdata         Form = 0x0d
	FormStrp          Form = 0x0e
	FormUdata         Form = 0x0f
	FormRefAddr       Form = 0x10
	FormRef1          Form = 0x11
	FormRef2          Form = 0x12
	FormRef4          Form = 0x13
	FormRef8          Form = 0x14
	FormRefUdata      Form = 0x15
	FormIndirect      Form = 0x16
	FormSecOffset     Form = 0x17
	FormExprloc       Form = 0x18
	FormFlagPresent   Form = 0x19
	FormStrx          Form = 0x1a
	FormAddrx         Form = 0x1b
	FormRefSup4       Form = 0x1c
	FormStrpSup       Form = 0x1d
	FormData16        Form = 0x1e
	FormLineStrp      Form = 0x1f
	FormRefSig8       Form = 0x20
	FormImplicitConst Form = 0x21
	FormLoclistx      Form = 0x22
	FormRnglistx      Form = 0x23
	FormRefSup8       Form = 0x24
	FormStrx1         Form = 0x25
	FormStrx2         Form = 0x26
	FormStrx3         Form = 0x27
	FormStrx4         Form = 0x28
	FormAddrx1        Form = 0x29
	FormAddrx2        Form = 0x2a
	FormAddrx3        Form = 0x2b
	FormAddrx4        Form = 0x2c
	FormGNUAddrIndex  Form = 0x1f01 // this and the next: in split DWARF 4
	FormGNUStrIndex   Form = 0x1f02
	FormGNURefAlt     Form = 0x1f20 // this and the next: in a file that dwz has made
	FormGNUStrpAlt    Form = 0x1f21
)

// Encoding is what the forms of a unit depend on.
type Encoding struct {
	Version    uint8 // 2 to 5
	AddrSize   uint8 // bytes of an address: 4 or 8
	OffsetSize uint8 // bytes of an offset in a section: 4 or 8
}

// Size returns the size of a value of the form in a unit, in bytes; -1 if that varies.
func (f Form) Size(e Encoding) int {
	switch f {
	case FormFlagPresent, FormImplicitConst:
		return 0
	case FormData1, FormFlag, FormRef1, FormStrx1, FormAddrx1:
		return 1
	case FormData2, FormRef2, FormStrx2, FormAddrx2:
		return 2
	case FormStrx3, FormAddrx3:
		return 3
	case FormData4, FormRef4, FormRefSup4, FormStrx4, FormAddrx4:
		return 4
	case FormData8, FormRef8, FormRefSig8, FormRefSup8:
		return 8
	case FormData16:
		return 16
	case FormAddr:
		return int(e.AddrSize)
	case FormRefAddr:
		if e.Version == 2 {
			return int(e.AddrSize)
		}
		return int(e.OffsetSize)
	case FormStrp, FormLineStrp, FormStrpSup, FormSecOffset, FormGNURefAlt, FormGNUStrpAlt:
		return int(e.OffsetSize)
	}
	return -1
}
