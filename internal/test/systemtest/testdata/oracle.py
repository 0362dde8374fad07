# The stacks of all threads of what gdb has attached to or opened, as JSON in the file that OUT
# names: for each thread its ID, its frames, inlined ones left out, and the error that gdb ends with.
import json
import os

import gdb

TYPES = {gdb.NORMAL_FRAME: "normal", gdb.SIGTRAMP_FRAME: "sigtramp", gdb.TAILCALL_FRAME: "tailcall"}
MASK = (1 << 64) - 1


def frames():
    found = []
    frame = gdb.newest_frame()
    while frame is not None:
        if frame.type() != gdb.INLINE_FRAME:
            frame.select()
            try:
                text = gdb.execute("info frame", to_string=True)
            except gdb.error:  # it knows no place of a register
                text = ""
            cfa = text.split("frame at ", 1)[1].split()[0].rstrip(":,") if "frame at " in text else ""
            found.append({"pc": hex(frame.pc() & MASK), "cfa": cfa,
                          "type": TYPES.get(frame.type(), str(frame.type())), "function": frame.name() or ""})
        try:
            older = frame.older()
            if older is None and frame.unwind_stop_reason() >= gdb.FRAME_UNWIND_UNAVAILABLE:
                return found, gdb.frame_stop_reason_string(frame.unwind_stop_reason())
        except gdb.error as error:
            return found, str(error)
        frame = older
    return found, ""


gdb.execute("set backtrace past-main on")
threads = []
for thread in gdb.selected_inferior().threads():
    thread.switch()
    found, error = frames()
    threads.append({"tid": thread.ptid[1] or thread.ptid[0], "frames": found, "error": error})
with open(os.environ["OUT"], "w") as out:
    json.dump({"threads": threads}, out)
