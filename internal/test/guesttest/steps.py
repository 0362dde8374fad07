# Stops at every instruction of some functions and tells gdb's frames there.


def register(name):
    return int(gdb.newest_frame().read_register(name)) & 0xFFFFFFFFFFFFFFFF


def step_through(function):
    """Tells of each instruction until the function has returned."""
    entry = register(PARAMS["sp"])
    if PARAMS["link"]:
        back = register(PARAMS["link"])
    else:  # the call has pushed it
        back = int(gdb.parse_and_eval("*(unsigned int *)$sp"))
        entry += 4
    while True:
        frames, _ = stack_of_thread(PARAMS["limit"], True)
        emit({"function": function, "sp": register(PARAMS["sp"]), "frames": frames})
        gdb.execute("stepi", to_string=True)
        if not running() or (gdb.newest_frame().pc() == back and register(PARAMS["sp"]) == entry):
            return


connect()
for name in PARAMS["functions"]:
    gdb.Breakpoint("*" + name)
gdb.execute("continue", to_string=True)
while running():
    step_through(gdb.newest_frame().name() or "")
    if running():
        gdb.execute("continue", to_string=True)
emit({"end": True})
OUT.close()
