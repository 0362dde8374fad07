#!/bin/sh
# Makes llvm.o and llvm.txt of made.c: clang-14, lli of LLVM 14, gdb 13, on amd64.
set -e
cd "$(dirname "$0")"
clang-14 -g -O1 -ffunction-sections -fomit-frame-pointer -fdebug-compilation-dir=. -emit-llvm -c made.c -o "$PWD/made.bc"
lli-14 --function-sections -jit-kind=mcjit made.bc &
sleep 3
cat >capture.py <<'P'
import gdb, struct
inf = gdb.selected_inferior()
def words(at, n): return struct.unpack('<%dQ' % n, inf.read_memory(at, 8 * n).tobytes())
first = words(int(gdb.parse_and_eval('(long)&__jit_debug_descriptor')) + 16, 1)[0]
_, _, addr, size = words(first, 4)
open('llvm.o', 'wb').write(inf.read_memory(addr, size).tobytes())
out = open('llvm.txt', 'w')
for name in 'leaf', 'recurse', 'main':
    block = gdb.lookup_global_symbol(name) or gdb.lookup_static_symbol(name)
    block = gdb.block_for_pc(int(block.value().address))
    while block.superblock.function: block = block.superblock
    for pc in range(block.start, block.end):
        inner = gdb.block_for_pc(pc)
        names = []
        while inner and not inner.is_global and not inner.is_static:
            if inner.function: names.append(inner.function.name)
            inner = inner.superblock
        out.write('%#x %s %d\n' % (pc, '<'.join(names), gdb.find_pc_line(pc).line))
P
gdb -nx -batch -iex 'set debuginfod enabled off' -p $! -x capture.py
kill $!
rm made.bc capture.py
