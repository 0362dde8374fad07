"""A thread that waits in a function with numbers and arrays of numpy, and says what they are."""
import json
import threading

import numpy


def values():
    zeros, counted, scalar = numpy.zeros((3, 4)), numpy.arange(5, dtype="i2")[1:], numpy.array(5)
    large, negative, byte, unsigned = numpy.float64(1e22), numpy.int32(-7), numpy.int8(-1), numpy.uint64(2**64 - 1)
    single, yes, no = numpy.float32(0.1), numpy.bool_(True), numpy.bool_(False)
    said = {}
    for name, value in locals().items():
        if isinstance(value, numpy.ndarray):
            said[name] = "<numpy.ndarray %r of numpy.%s at %#x>" % (value.shape, value.dtype.type.__name__, id(value))
        elif name != "said":
            said[name] = "numpy.%s(%s)" % (type(value).__name__, value)
    print("ready")
    print(json.dumps(said), flush=True)
    del said, name, value
    threading.Event().wait()


values()
