# What gdb knows of addresses of a file that does not run. PARAMS: the addresses'
# file, one per line, and the file to write one JSON document per address to.
import json

import gdb


def display(name):
    """The name without its parameters, as backtraces show it (cp_remove_params)."""
    if name is None or not name.endswith((")", "const", "&", "]")):
        return name
    end = name.rfind(")")
    if end < 0:
        return name
    depth = 0
    for i in range(end, -1, -1):
        if name[i] == ")":
            depth += 1
        elif name[i] == "(":
            depth -= 1
            if depth == 0:
                # "operator()" is a name, and so is "(anonymous namespace)::f".
                return name if i == 0 or name[:i].endswith("operator") else name[:i]
    return name


def chain(pc):
    out = []
    block = gdb.block_for_pc(pc)
    while block is not None:
        if not block.start <= pc < block.end:
            break  # a function that is only declared within another one
        if block.function is not None:
            s = block.function
            out.append({
                "function": display(s.print_name),
                "file": s.symtab.filename if s.symtab else "",
                "line": s.line,
                "args": any(v.is_argument for v in block),
            })
        block = block.superblock
        if block is not None and (block.is_static or block.is_global):
            break
    return out


with open(PARAMS["addresses"]) as f, open(PARAMS["out"], "w") as out:
    for text in f:
        pc = int(text)
        sal = gdb.find_pc_line(pc)
        minimal = gdb.execute("info symbol %d" % pc, to_string=True).strip()
        out.write(json.dumps({
            "pc": pc,
            "chain": chain(pc),
            "file": sal.symtab.filename if sal.symtab else "",
            "line": sal.line if sal.symtab else 0,
            "symbol": "" if minimal.startswith("No symbol") else minimal.rsplit(" in section ", 1)[0],
        }) + "\n")
