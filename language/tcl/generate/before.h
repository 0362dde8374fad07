#include <stddef.h>
#include <stdio.h>
#include "tclInt.h"
#include "tclCompile.h"
#include "tclOOInt.h"
