#include <stddef.h>
#include <stdio.h>
#include "Python.h"
#include "frameobject.h"
#include "structmember.h"
#if __has_include("pycore_interpframe_structs.h")
#include "pycore_interpframe_structs.h"
#endif
#if __has_include("pycore_frame.h")
#include "pycore_frame.h"
#endif
#if __has_include("pycore_interpframe.h")
#include "pycore_interpframe.h"
#endif
#if __has_include("pycore_runtime.h")
#include "pycore_runtime.h"
#endif
#if __has_include("pycore_interp.h")
#include "pycore_interp.h"
#endif
#include "pycore_object.h"
#include "pycore_pystate.h"
#if __has_include("pycore_gil.h")
#include "pycore_gil.h"
#endif
#if __has_include("pycore_tstate.h")
#include "pycore_tstate.h"
#endif
#if __has_include("pycore_dict.h")
#include "pycore_dict.h"
#endif
#if __has_include("pycore_moduleobject.h")
#include "pycore_moduleobject.h"
#endif
#if __has_include("pycore_gc.h")
#include "pycore_gc.h"
#endif
#include "pycore_traceback.h"
#if PY_VERSION_HEX < 0x030b0000
/* The headers that are installed lack these: Objects/dict-common.h, Modules/_threadmodule.c. */
struct _dictkeysobject {
    Py_ssize_t dk_refcnt;
    Py_ssize_t dk_size;
    void *dk_lookup;
    Py_ssize_t dk_usable;
    Py_ssize_t dk_nentries;
    char dk_indices[];
};
#endif
#if PY_VERSION_HEX < 0x030a0000
typedef struct { /* Objects/moduleobject.c */
    PyObject_HEAD
    PyObject *md_dict;
} PyModuleObject;
#endif
