package s390x

import "testing"

func FuzzReadAhead(f *testing.F) { processor.FuzzReadAhead(f, fuzzSeeds) }

func FuzzCallTarget(f *testing.F) { processor.FuzzCallTarget(f, fuzzSeeds) }

// What the ways out of pieces of code say, by the manual (z/Architecture Principles of Operation,
// chapter 7).
func TestReadAhead(t *testing.T) {
	for _, tt := range []struct {
		name, code string
		want       []string
	}{
		{"kept by a function that is called", // brasl %r14,1f; lgr %r15,%r2; lg %r14,112(%r15); br %r14; 1: lhi %r3,0; br %r14
			"\xc0\xe5\x00\x00\x00\x09\xb9\x04\x00\xf2\xe3\xe0\xf0\x70\x00\x04\x07\xfe\xa7\x38\x00\x00\x07\xfe",
			[]string{"CFA=r2+160 RA=[CFA-48] FP=same"}},
		{"changed by a function that is called", // 1: lhi %r2,0; br %r14
			"\xc0\xe5\x00\x00\x00\x09\xb9\x04\x00\xf2\xe3\xe0\xf0\x70\x00\x04\x07\xfe\xa7\x28\x00\x00\x07\xfe", nil},
		{"changed by a function that nobody knows", // basr %r14,%r1; lgr %r15,%r2; lg %r14,112(%r15); br %r14
			"\x0d\xe1\xb9\x04\x00\xf2\xe3\xe0\xf0\x70\x00\x04\x07\xfe", nil},
	} {
		processor.ReadAhead(t, tt.name, tt.code, 0, nil, tt.want)
	}
}

// What the ways out say that a jump leads to another place of, by the manual (the z/Architecture
// Principles of Operation, chapter 7: BRCL, LMG, BCR).
func TestReadAway(t *testing.T) {
	for _, tt := range []struct {
		name, code, away string
		want             []string
	}{
		{"one way out for many", "\xc0\xf4\x00\x00\x10\x00", "\xeb\xef\xf1\x10\x00\x04\x07\xfe", // jg away; away: lmg r14,r15,272(r15); br r14
			[]string{"CFA=r15+160 RA=same FP=same guess", "CFA=*(r15+280)+160 RA=[r15+272] FP=same"}},
	} {
		processor.ReadAhead(t, tt.name, tt.code, 0, &tt.away, tt.want)
	}
}
