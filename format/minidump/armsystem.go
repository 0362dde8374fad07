package minidump

import (
	"fmt"
	"strings"
)

// armVendors and armParts are what MIDR says, the main ID register of arm processors.
var (
	armVendors = map[uint32]string{0x41: "ARM", 0x51: "Qualcomm", 0x56: "Marvell", 0x69: "Intel/Marvell"}
	armParts   = map[uint32]string{
		0x4100c050: "Cortex-A5", 0x4100c080: "Cortex-A8", 0x4100c090: "Cortex-A9", 0x4100c0f0: "Cortex-A15", 0x4100c140: "Cortex-R4", 0x4100c150: "Cortex-R5",
		0x4100b360: "ARM1136", 0x4100b560: "ARM1156", 0x4100b760: "ARM1176", 0x4100b020: "ARM11-MPCore", 0x41009260: "ARM926", 0x41009460: "ARM946",
		0x41009660: "ARM966", 0x510006f0: "Krait", 0x510000f0: "Scorpion",
	}
)

// armFeatures are the bits of AT_HWCAP on 32-bit arm, from 0 on.
var armFeatures = []string{
	"swp", "half", "thumb", "26bit", "fastmult", "fpa", "vfpv2", "edsp", "java", "iwmmxt", "crunch", "thumbee", "neon", "vfpv3", "vfpv3d16", "tls", "vfpv4", "idiva", "idivt",
}

// describeARM returns Breakpad's words: "ARMv7 ARM Cortex-A9 features: swp,half,thumb".
func (s *System) describeARM() string {
	text := fmt.Sprintf("ARMv%d", s.Level)
	if id := s.armID; id != 0 {
		vendor, part := armVendors[id>>24], armParts[id&0xff00fff0]
		if vendor == "" {
			vendor = fmt.Sprintf("vendor(%#x)", id>>24)
		}
		if part == "" {
			part = fmt.Sprintf("part(%#x)", id&0xff00fff0)
		}
		text += " " + vendor + " " + part
	}
	var has []string
	for i, name := range armFeatures {
		if s.armFeatures>>i&1 != 0 {
			has = append(has, name)
		}
	}
	if s.armFeatures != 0 {
		text += " features: " + strings.Join(has, ",")
	}
	return text
}
