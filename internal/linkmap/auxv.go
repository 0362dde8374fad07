package linkmap

import "github.com/sfwalk/sfwalk/arch"

// Types of entries in an auxiliary vector (elf.h).
const (
	ATPhdr        = 3  // AT_PHDR: where the program's own program headers are
	ATPhent       = 4  // AT_PHENT: size of one, bytes
	ATPhnum       = 5  // AT_PHNUM: how many there are
	ATPagesz      = 6  // AT_PAGESZ
	ATBase        = 7  // AT_BASE: where the dynamic linker is; 0 if there is none
	ATEntry       = 9  // AT_ENTRY: where the program begins
	ATPlatform    = 15 // AT_PLATFORM
	ATHWCap       = 16 // AT_HWCAP: the processor's features
	ATExecfn      = 31 // AT_EXECFN: the name that the program was started by
	ATSysinfoEhdr = 33 // AT_SYSINFO_EHDR: where the vDSO is
)

// Auxv is an auxiliary vector: values by type. The zero Auxv is empty.
type Auxv map[uint64]uint64

// maxAuxv is many times the number of types that there are.
const maxAuxv = 1024

// ParseAuxv reads an auxiliary vector as the kernel lays it out, up to AT_NULL or
// the end of data. Of a type that comes twice the first counts.
func ParseAuxv(data []byte, a *arch.Arch) Auxv {
	auxv := make(Auxv)
	size := a.PtrSize
	for ; len(data) >= 2*size && len(auxv) < maxAuxv; data = data[2*size:] {
		typ := a.Word(data)
		if typ == 0 {
			break
		}
		if _, twice := auxv[typ]; !twice {
			auxv[typ] = a.Word(data[size:])
		}
	}
	return auxv
}
