#include <stddef.h>
#include <stdio.h>
#include "ruby/ruby.h"
#include "ruby/version.h"
#if RUBY_API_VERSION_CODE < 30300
#include "gc.c"
#endif
