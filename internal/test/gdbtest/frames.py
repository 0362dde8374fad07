# What gdb knows about one frame, as a dictionary. Runs inside gdb.
import json
import re

import gdb

OUT = open(3, "w", closefd=False)
ANSWERS = open(3, "r", closefd=False)

TYPES = {
    gdb.NORMAL_FRAME: "normal",
    gdb.DUMMY_FRAME: "dummy",
    gdb.INLINE_FRAME: "inline",
    gdb.TAILCALL_FRAME: "tailcall",
    gdb.SIGTRAMP_FRAME: "sigtramp",
    gdb.ARCH_FRAME: "arch",
    gdb.SENTINEL_FRAME: "sentinel",
}

VERSION = int(re.search(r"\d+", gdb.VERSION).group())

# gdb's names of the registers to ask for, by DWARF number.
REGISTERS = {int(number): name for number, name in PARAMS["names"].items()}


def emit(record):
    OUT.write(json.dumps(record) + "\n")


def wait_for_answer():
    OUT.flush()
    answer = ANSWERS.readline()
    if not answer:
        raise gdb.GdbError("the test has gone")
    return answer.strip()


def registers_of(frame):
    """The registers of the frame that gdb knows, by DWARF number."""
    found = {}
    for number, name in REGISTERS.items():
        try:
            value = frame.read_register(name)
            if not value.is_optimized_out:
                found[number] = int(value) & 0xFFFFFFFFFFFFFFFF
        except gdb.error:
            pass
    return found


def frame_id(frame):
    """Stack address, code address and inline depth of the frame's ID."""
    frame.select()
    text = gdb.execute("maint print frame-id", to_string=True)
    parts = dict(re.findall(r"(stack|code|artificial)=(0x[0-9a-f]+|\d+)", text))
    return [int(parts.get(key, "0"), 0) for key in ("stack", "code", "artificial")]


def describe(frame, level, registers):
    stack, code, artificial = frame_id(frame)
    sal = frame.find_sal()
    record = {
        "level": level,
        "type": TYPES.get(frame.type(), str(frame.type())),
        "pc": frame.pc(),
        "cfa": stack,
        "code": code,
        "artificial": artificial,
        "function": frame.name() or "",
        "module": gdb.solib_name(frame.pc()) or "",
    }
    if sal.symtab is not None:
        record["file"] = sal.symtab.filename
        record["line"] = sal.line
    if frame.type() == gdb.INLINE_FRAME:
        record["debug"] = frame.function().symtab.objfile.filename
        record["gdb"] = VERSION
    # Each is looked for through all frames inside this one.
    if registers and level < 100:
        record["registers"] = registers_of(frame)
    return record


def stack_of_thread(limit, registers):
    """The frames of the selected thread, and why there are no more."""
    frames = []
    try:
        frame = gdb.newest_frame()
        while True:
            frames.append(describe(frame, len(frames), registers))
            if limit and len(frames) >= limit:
                return frames, "limit"
            older = frame.older()
            if older is None:
                return frames, gdb.frame_stop_reason_string(frame.unwind_stop_reason())
            frame = older
    except gdb.error as error:
        return frames, str(error)
