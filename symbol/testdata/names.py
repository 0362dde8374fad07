# How gdb's backtrace names the functions at addresses of a program, which it starts and
# whose PC it sets to each of them. PARAMS: as for locate.py; each document has the
# inlined calls, innermost first, and of the function.
import json

import gdb

gdb.execute("set startup-with-shell off")
gdb.execute("starti")
with open(PARAMS["addresses"]) as f, open(PARAMS["out"], "w") as out:
    for text in f:
        gdb.execute("set var $pc = %d" % int(text))
        frame = gdb.newest_frame()
        names = [frame.name()]
        while frame.type() == gdb.INLINE_FRAME:
            frame = frame.older()
            names.append(frame.name())
        out.write(json.dumps({"pc": int(text), "chain": [{"function": name} for name in names]}) + "\n")
