#include <stddef.h>
#include <stdio.h>
#ifdef ZTS
#undef ZTS
#include "main/php_config.h"
#define ZTS 1
#define PTHREADS 1 /* up to 7.4 */
#endif
#include "php.h"
#include "SAPI.h"
#include "zend_closures.h"
#include "zend_exceptions.h"
#include "zend_generators.h"
#if PHP_VERSION_ID >= 80100
#include "zend_fibers.h"
#endif
