# Goes from stop to stop of a guest and waits at each for the test.


def scenario():
    """The string that the function at whose beginning the guest stands was given."""
    try:
        if PARAMS["argument"]:
            address = int(gdb.newest_frame().read_register(PARAMS["argument"]))
        else:  # behind the return address
            address = int(gdb.parse_and_eval("*(unsigned int *)($esp + 4)"))
        return gdb.Value(address).cast(gdb.lookup_type("char").pointer()).string()
    except gdb.error:
        return ""


def threads():
    for thread in sorted(gdb.selected_inferior().threads(), key=lambda t: t.ptid[1]):
        thread.switch()
        frames, stop = stack_of_thread(0, True)
        if PARAMS["infos"]:
            for level, frame in enumerate(frames):
                frame["info"] = ""
            for level, frame in enumerate(frames):
                if frame["type"] == "sigtramp" and VERSION > 13:
                    break  # gdb 16 crashes there on arm64
                try:
                    frame["info"] = gdb.execute("info frame level %d" % level, to_string=True)
                except gdb.error:  # the outermost frame returns to nowhere
                    frame["info"] = ""
        yield {"tid": thread.ptid[1], "name": thread.name or "", "frames": frames, "stop": stop}


def core_file(number):
    """Where gdb has written a core file of this stop. How large the stack is, it
    makes of the frames, of which main's must be the last."""
    path = "%s/%d.core" % (PARAMS["cores"], number)
    gdb.newest_frame().select()
    gdb.execute("set backtrace past-main off")
    gdb.execute("generate-core-file " + path, to_string=True)
    gdb.execute("set backtrace past-main on")
    return path


def tell(number):
    """Tells of the stop at which the guest stands, and waits for the test."""
    stopped = gdb.selected_thread()
    record = {"scenario": scenario(), "stopped": stopped.ptid[1]}
    record["threads"] = list(threads())
    stopped.switch()
    if PARAMS["full"]:
        for command in PARAMS["full"]:
            gdb.execute(command)
        record["full"] = gdb.execute("thread apply all bt full", to_string=True)
    if PARAMS["cores"] and record["scenario"] not in PARAMS["coreless"]:
        record["core"] = core_file(number)
    emit(record)
    return wait_for_answer()


def break_at_stops():
    gdb.execute("handle all nostop noprint pass", to_string=True)
    return [gdb.Breakpoint("*" + name) for name in PARAMS["stops"]]


def run():
    connect()
    break_at_stops()
    number = 0
    while True:
        gdb.execute("continue", to_string=True)
        if not running():
            break
        number += 1
        tell(number)


def die():
    """Goes to the first stop of one guest, to the second stop of another one that is the
    same, and so on. Each dies there; the test's answer is the stub of the next one."""
    number = 0
    while True:
        connect()
        points = break_at_stops()
        for _ in range(number + 1):
            gdb.execute("continue", to_string=True)
            if not running():
                return
        number += 1
        PARAMS["stub"] = tell(number)
        for point in points:
            point.delete()
        try:
            gdb.execute("signal SIGABRT", to_string=True)
        except gdb.error:
            pass


if PARAMS["kill"]:
    die()
elif PARAMS["stub"]:
    run()
else:  # a core file
    emit({"threads": list(threads())})
emit({"end": True})
OUT.close()
