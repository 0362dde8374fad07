package x86_test

import (
	"encoding/hex"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/arch/i386"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// The encodings are objdump's.
func TestVectorCode(t *testing.T) {
	const ret = "c3"
	for _, test := range []struct {
		name, code string
		a          *arch.Arch
		want       arch.VectorCode
		ok         bool
	}{
		{"ret", "", amd64.Arch, arch.VectorCode{Most: 64}, true},
		{"addpd %xmm1,%xmm0", "660f58c1", amd64.Arch, arch.VectorCode{Least: 16, Most: 16}, true},
		{"movapd 8(%rsp),%xmm0", "660f28442408", amd64.Arch, arch.VectorCode{Least: 16, Most: 16, Memory: true}, true},
		{"movapd 0(%rip),%xmm0", "660f280500000000", amd64.Arch, arch.VectorCode{Least: 16, Most: 16}, true},
		{"lea 8(%rsp),%rax; push %rbx", "488d44240853", amd64.Arch, arch.VectorCode{Most: 64}, true},
		{"vzeroupper", "c5f877", amd64.Arch, arch.VectorCode{Least: 32, Most: 64}, true},
		{"vmovsd 8(%rsp),%xmm0", "c5fb10442408", amd64.Arch, arch.VectorCode{Least: 32, Most: 64, Memory: true}, true},
		{"vaddpd 0(%rip),%ymm0,%ymm0", "c5fd580500000000", amd64.Arch, arch.VectorCode{Least: 32, Most: 64}, true},
		{"vfmadd213pd %ymm2,%ymm1,%ymm0", "c4e2f5a8c2", amd64.Arch, arch.VectorCode{Least: 32, Most: 64}, true},
		{"andn %edx,%ecx,%eax", "c4e270f2c2", amd64.Arch, arch.VectorCode{Most: 64}, true},
		{"rorx $3,(%rdi),%eax", "c4e37bf00703", amd64.Arch, arch.VectorCode{Most: 64, Memory: true}, true},
		{"vaddpd %ymm17,%ymm0,%ymm0", "62b1fd2858c1", amd64.Arch, arch.VectorCode{Least: 32, Most: 64}, true},
		{"vaddpd %zmm1,%zmm0,%zmm0", "62f1fd4858c1", amd64.Arch, arch.VectorCode{Least: 64, Most: 64}, true},
		{"vmovapd %zmm0,(%rdi)", "62f1fd482907", amd64.Arch, arch.VectorCode{Least: 64, Most: 64, Memory: true}, true},
		{"vaddsd {rz-sae},%xmm1,%xmm0,%xmm0", "62f1ff7858c1", amd64.Arch, arch.VectorCode{Least: 32, Most: 64}, true},
		{"addpd %xmm1,%xmm0; vaddpd %ymm1,%ymm0,%ymm0", "660f58c1c5fd58c1", amd64.Arch, arch.VectorCode{}, false},
		{"no code", "06", amd64.Arch, arch.VectorCode{}, false},
		{"vaddpd %zmm1,%zmm0,%zmm0, 32 bits", "62f1fd4858c1", i386.Arch, arch.VectorCode{Least: 64, Most: 64}, true},
		{"les (%ebx),%eax; bound, 32 bits", "c4036203", i386.Arch, arch.VectorCode{Most: 64, Memory: true}, true},
		{"addpd %xmm1,%xmm0, 32 bits", "660f58c1", i386.Arch, arch.VectorCode{Least: 16, Most: 16}, true},
	} {
		code, err := hex.DecodeString(test.code + ret)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := test.a.VectorCode(code)
		if ok != test.ok || ok && got != test.want {
			t.Errorf("%s: %+v, %v, want %+v, %v", test.name, got, ok, test.want, test.ok)
		}
	}
}

// FuzzVectorCode reads any code.
func FuzzVectorCode(f *testing.F) {
	f.Add([]byte("\x66\x0f\x58\xc1\xc3"))
	f.Add([]byte("\x62\xf1\xfd\x48\x29\x07\xc5\xf8\x77\xc4\xe2\x70\xf2\xc2"))
	f.Fuzz(func(t *testing.T, code []byte) {
		bounds.Hold(t, 64<<10+256*len(code), func() {
			for _, a := range []*arch.Arch{amd64.Arch, i386.Arch} {
				if c, ok := a.VectorCode(code); ok && c.Least > c.Most {
					t.Errorf("%+v", c)
				}
			}
		})
	})
}
