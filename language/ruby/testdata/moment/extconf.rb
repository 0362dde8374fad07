require "mkmf"
$CFLAGS << " -O1 -g"
create_makefile("moment")
