# Runs a program under a stub to main, executes commands, and tells PC, SP and the value of finish behind each.
gdb.execute("set osabi GNU/Linux")
gdb.execute("handle SIGUSR1 nostop noprint pass")
gdb.execute("target remote " + PARAMS["stub"], to_string=True)


def flat(value):
    """The numbers of a value."""
    code = value.type.strip_typedefs().code
    if code == gdb.TYPE_CODE_STRUCT:
        return [number for field in value.type.fields() for number in flat(value[field.name])]
    if code == gdb.TYPE_CODE_ARRAY:
        return [number for i in range(value.type.range()[1] + 1) for number in flat(value[i])]
    return [float(value) if code == gdb.TYPE_CODE_FLT else int(value)]


def word(text):
    return int(gdb.parse_and_eval("(long) " + text)) & 0xFFFFFFFFFFFFFFFF


def execute(command):
    verb, *rest = command.split()
    if verb == "to":
        gdb.Breakpoint("*" + rest[0], temporary=True)
        gdb.execute("continue", to_string=True)
    elif verb == "finish":
        gdb.execute("frame " + rest[0], to_string=True)
        gdb.execute("finish", to_string=True)
    elif verb == "return":
        gdb.execute("frame " + rest[0], to_string=True)
        gdb.execute("return (%s) %s" % (PARAMS["types"][rest[1]], rest[2]), to_string=True)
    else:
        gdb.execute(command, to_string=True)


execute("to main")
base = word("$sp")
values = 0
for command in PARAMS["commands"]:
    execute(command)
    value = []
    if command.startswith("finish"):
        try:
            value = flat(gdb.history(values + 1))
            values += 1
        except gdb.error:
            value = None  # it is in memory, and gdb does not know where
    emit({"PC": "%x" % word("$pc"), "SP": base - word("$sp"), "Value": value, "Result": word("result")})
emit({"end": True})
OUT.close()
