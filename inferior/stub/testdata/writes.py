# Runs a program under a stub to a function, writes registers of frames, and tells PREVIOUS's registers of all frames then.
gdb.execute("set osabi GNU/Linux")
gdb.execute("target remote " + PARAMS["stub"], to_string=True)
gdb.Breakpoint("*" + PARAMS["function"], temporary=True)
gdb.execute("continue", to_string=True)
for level, name, value in PARAMS["writes"]:
    gdb.execute("frame %d" % level, to_string=True)
    gdb.execute("set var $%s = %s" % (name, value), to_string=True)
frame, frames = gdb.newest_frame(), []
while frame is not None and len(frames) < PARAMS["frames"]:
    frames.append({"PC": frame.pc(), "Registers": registers_of(frame)})
    frame = frame.older()
emit({"Frames": frames})
emit({"end": True})
OUT.close()
