#!/bin/sh -e
# Makes the files of this folder: small programs with all forms of DWARF (Debian 12: gcc 12.2,
# s390x-linux-gnu-gcc 12.2, dwz 0.15, xz 5.4).
link="-nostdlib -static -no-pie -Wl,--build-id=none -Wl,-Ttext=0x401000 -Wl,-n -ffile-prefix-map=$PWD=. -fno-asynchronous-unwind-tables -fno-exceptions -fcf-protection=none"
made=""
make() { # OUT COMPILER FLAGS… FILE
	out=$1 cc=$2
	shift 2
	"$cc" -O2 $link -o "$out" "$@"
	made="$made $out"
}
make c5 gcc -gdwarf-5 small.c
make c4 gcc -gdwarf-4 small.c
make c2 gcc -gdwarf-2 -gstrict-dwarf small.c
make c5-64 gcc -gdwarf-5 -gdwarf64 small.c
make c5-zlib gcc -gdwarf-5 -gz=zlib small.c
make cxx5 g++ -gdwarf-5 small.cc
make cxx4-types g++ -gdwarf-4 -fdebug-types-section small.cc
make tails5 gcc -gdwarf-5 tails.c
make tails4 gcc -gdwarf-4 tails.c
make params g++ -O0 -gdwarf-4 params.cc
link="-nostdlib -static -no-pie -Wl,--build-id=none -Wl,-n -Wl,-Ttext=0x401000 -ffile-prefix-map=$PWD=. -fno-asynchronous-unwind-tables -fno-exceptions"
make s390x5 s390x-linux-gnu-gcc -gdwarf-5 small.c
make s390x4 s390x-linux-gnu-gcc -gdwarf-4 small.c
# What two files have in common, in GNU's form and in that of DWARF 5.
cp cxx4-types common4 && cp cxx4-types other4
cp cxx5 common5 && cp cxx5 other5
dwz -m shared4 common4 other4
dwz -5 -m shared5 common5 other5
rm other4 other5
chmod -x $made common4 common5
xz -f --lzma2=preset=9,dict=64KiB $made common4 common5 shared4 shared5
for f in tails4 tails5; do
	base64 -w 100 $f.xz > $f.xz.txt
	rm $f.xz
done
