# Stops at every instruction of some functions and records the state there:
# registers, stack and gdb's frames. Stacks go to a file of their own.
STACKS = open(PARAMS["stacks"], "wb")


def read_u64(address):
    return int.from_bytes(bytes(gdb.selected_inferior().read_memory(address, 8)), "little")


def register(name):
    return int(gdb.newest_frame().read_register(name)) & 0xFFFFFFFFFFFFFFFF


def maps():
    with open("/proc/%d/maps" % gdb.selected_inferior().pid) as f:
        return f.read()


def stack_end(address):
    for line in maps().splitlines():
        lo, hi = (int(x, 16) for x in line.split()[0].split("-"))
        if lo <= address < hi:
            return hi
    raise gdb.GdbError("the stack pointer %#x is not in any mapping" % address)


def record(function, first, end):
    sp = register("rsp")
    low = sp - 128  # the red zone belongs to the function
    memory = bytes(gdb.selected_inferior().read_memory(low, min(end, sp + PARAMS["depth"]) - low))
    offset = STACKS.tell()
    STACKS.write(memory)
    frames, _ = stack_of_thread(PARAMS["limit"], True)
    emit({
        "function": function,
        "first": first,
        "registers": frames[0]["registers"],
        "stackAddress": low,
        "offset": offset,
        "length": len(memory),
        "frames": frames,
    })


def running():
    return gdb.selected_inferior().pid != 0


def step_through(function):
    """Records each instruction until the function has returned."""
    entry, back = register("rsp"), read_u64(register("rsp"))
    end = stack_end(entry)
    for i in range(PARAMS["steps"]):
        record(function, i == 0, end)
        gdb.execute("stepi", to_string=True)
        if not running() or (register("rip") == back and register("rsp") > entry):
            return


gdb.execute("unset environment LD_BIND_NOW")  # a lazy PLT shall be lazy
for name in PARAMS["functions"]:
    point = gdb.Breakpoint("*" + name)
    if point.pending:
        raise gdb.GdbError("no function " + name)
output = gdb.execute("run </dev/null >/dev/null", to_string=True)
if not running():
    raise gdb.GdbError("the program has stopped in none of the functions: " + output)
emit({"maps": maps()})
while running():
    step_through(gdb.newest_frame().name() or "")
    if running():
        gdb.execute("continue", to_string=True)
STACKS.close()
emit({"end": True})
OUT.close()
