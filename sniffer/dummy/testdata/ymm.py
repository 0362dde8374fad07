# Tells the vector registers of the outer frame of a process's main thread: each one's 64-bit words, as many as the
# processor has.
gdb.execute("attach %d" % PARAMS["pid"], to_string=True)
registers = []
for i in range(16):
    try:
        value = gdb.parse_and_eval("$ymm%d.v4_int64" % i)
        words = 4
    except gdb.error:
        value, words = gdb.parse_and_eval("$xmm%d.v2_int64" % i), 2
    registers.append(["%x" % (int(value[w]) & 0xFFFFFFFFFFFFFFFF) for w in range(words)])
gdb.execute("detach", to_string=True)
emit({"registers": registers})
emit({"end": True})
OUT.close()
