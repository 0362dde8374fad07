# Goes to one point of each of many guests that are the same: until a function was called a number of times, and some
# instructions on. There the frames are recorded, and the guest dies of a signal. The test answers with the guest's stub.
gdb.execute("handle all nostop noprint pass", to_string=True)
for number, at in enumerate(PARAMS["points"]):
    emit({"point": number})
    PARAMS["stub"] = wait_for_answer()
    connect()
    point = gdb.Breakpoint("*" + at["function"])
    point.ignore_count = at["calls"]
    gdb.execute("continue", to_string=True)
    if running() and at["steps"]:
        point.enabled = False
        gdb.execute("stepi %d" % at["steps"], to_string=True)
    point.delete()
    frames = None
    if running():
        frames, _ = stack_of_thread(0, False)
        try:
            gdb.execute("signal SIGSEGV", to_string=True)
        except gdb.error:
            pass  # it has died
    emit({"point": number, "frames": frames})
emit({"end": True})
OUT.close()
