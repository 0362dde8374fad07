#define RUBY_EXPORT 1
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "ruby/ruby.h"
#include "ruby/version.h"
#include "vm_core.h"
#include "iseq.h"
#include "method.h"
#include "cont.c" /* has structures of its own, and ractor_core.h */
#include "internal/class.h"
#include "internal/imemo.h"
#include "internal/string.h"
#include "internal/array.h"
#include "symbol.h"
#if RUBY_API_VERSION_CODE >= 40000
typedef struct { rb_atomic_t next_id; VALUE sym_set; VALUE ids; } rb_symbols_t; /* symbol.c */
#endif
/* The byte, and the lowest bit of it, that a field of bits has. */
static long byteof(const void *p, size_t n) { const unsigned char *b = p; for (size_t i = 0; i < n; i++) if (b[i]) return i; return -1; }
static long bitof(const void *p, size_t n) { const unsigned char *b = p; long i = byteof(p, n); return i < 0 ? -1 : __builtin_ctz(b[i]); }
#define BYTE(type, field) ({ static type x; memset(&x, 0, sizeof x); x.field = 1; byteof(&x, sizeof x); })
#define BIT(type, field) ({ static type x; memset(&x, 0, sizeof x); x.field = 1; bitof(&x, sizeof x); })
#if RUBY_API_VERSION_CODE >= 30300
#define PERMANENT_BYTE BYTE(rb_classext_t, permanent_classpath)
#define PERMANENT_BIT BIT(rb_classext_t, permanent_classpath)
#endif
