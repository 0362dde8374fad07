def running():
    """Whether the guest still runs. It must end by itself, and well."""
    if gdb.selected_inferior().pid != 0:
        return True
    if str(gdb.parse_and_eval("$_exitcode")) != "0":
        raise gdb.GdbError("the guest ended with " + str(gdb.parse_and_eval("$_exitcode")))
    return False


def connect():
    """Connects to the stub, with what gdb must know about this guest."""
    gdb.execute("set osabi GNU/Linux")
    gdb.execute("set tcp connect-timeout 30")
    # Stacks are read in pieces of this size: the stub answers one packet at a time.
    gdb.execute("set dcache line-size 1024")
    if PARAMS["description"]:
        gdb.execute("set tdesc filename " + PARAMS["description"])
    gdb.execute("set sysroot " + PARAMS["sysroot"])
    gdb.execute("target remote " + PARAMS["stub"], to_string=True)
    if PARAMS["description"]:
        # qemu answers for single registers once its own description was asked for.
        gdb.execute("maint packet qXfer:features:read:target.xml:0,100", to_string=True)
