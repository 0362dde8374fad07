! Variables whose names are words of C's types.
program main
  implicit none
  integer :: int, unsigned, long
  real :: double
  character(len=4) :: char
  int = 41
  unsigned = 7
  long = 9
  double = 2.5
  char = 'char'
  call inner(int, double)
  print *, int, unsigned, long, double, char
contains
  subroutine inner(short, float)
    integer :: short
    real :: float
    integer :: struct
    struct = short + 1
    print '(a)', 'ready'
    flush(6)
    call sleep(1000)
    print *, struct, float
  end subroutine
end program
