#!/usr/bin/python3
"""A sniffer for what target/jit.c compiles: its table of code has what no unwinder can
know, how large each function's frame is. One question tells it all."""

import struct

import sniffer_pb2 as pb
from sfwalk_plugin import Declines, serve

ENTRY = struct.Struct("<QQQ40s")  # struct jit_code
MOST = 8                          # of them
RSP = 7


def begin(process):
    count, table = process.find("jit_count", "jit*"), process.find("jit_table", "jit*")
    if not count or not table:
        raise Declines("it does not compile code: no jit_table")
    known = code(process, count[0].lo, table[0].lo)

    def sniff(question):
        for row in known.rows:
            if row.lo <= question.block < row.hi:
                return pb.Answer(row=row, rows=known.rows, symbols=known.symbols)
        return pb.Answer(declines="code that is not in jit_table")

    return sniff


def code(process, count, table):
    """All of the process's compiled code: the rows and the names that an answer has."""
    count, table = process.read((count, count + 8), (table, table + MOST * ENTRY.size))
    known = pb.Answer()
    for i in range(min(int.from_bytes(count, "little"), MOST, len(table) // ENTRY.size)):
        lo, hi, frame, name = ENTRY.unpack_from(table, i * ENTRY.size)
        name = name.partition(b"\0")[0].decode(errors="replace")
        known.symbols.add(lo=lo, hi=hi, function=name)
        known.rows.extend(rows(lo, hi, frame))
    return known


def rows(lo, hi, frame):
    """The rows of a function: from each of these places on, the CFA is so far from rsp,
    and PREVIOUS's rbp is in memory or where it was."""
    places = [(0, 8, False), (7, 8 + frame, False), (11, 8 + frame, True), (34, 8 + frame, False), (41, 8, False)]
    for (at, cfa, saved), (end, *_) in zip(places, places[1:] + [(hi - lo, 0, False)]):
        yield pb.Row(
            lo=lo + at, hi=lo + end,
            cfa=pb.Rule(kind=pb.Rule.IN_REGISTER, register=RSP, offset=cfa),
            ra=pb.Rule(kind=pb.Rule.SAVED, offset=-8),
            fp=pb.Rule(kind=pb.Rule.SAVED, offset=-cfa) if saved else pb.Rule(kind=pb.Rule.SAME),
            others_same=True)


serve(pb.Description(
    name="jit-python", version="1.0", architectures=["amd64"],
    claims=pb.Claims(outside_modules=True)), begin)
