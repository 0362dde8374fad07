module store
  implicit none
  integer :: counter = 41
  real(8), allocatable :: heap(:)
  type point
    integer :: x = 1
    real :: y = 2.5
    character(len=4) :: name = 'abcd'
  end type
  type, extends(point) :: point3
    logical :: flag = .true.
    integer :: list(2:4) = (/ 7, 8, 9 /)
  end type
  type(point) :: origin
contains
  subroutine inner(shape, grid, text, n, opt)
    integer, intent(in) :: shape(:)
    real, intent(in) :: grid(:,:)
    character(len=*), intent(in) :: text
    integer, intent(in) :: n
    integer, optional :: opt
    integer :: auto(n)
    character(len=n) :: cauto
    integer, pointer :: p
    integer, target :: tt
    auto = 5
    auto(2) = 6
    cauto = 'xy'
    tt = 17
    p => tt
    call wait_here()
    print *, auto(1), cauto, p, shape(1), grid(1,1), text
  end subroutine
  subroutine wait_here()
    character(len=1) :: c
    integer :: ios
    print '(a)', 'ready'
    flush(6)
    read(*, '(a)', iostat=ios) c
  end subroutine
end module

program main
  use store
  implicit none
  integer :: i, a(5), m(2,3), neg(-1:1)
  integer(8) :: long
  integer(1) :: tiny
  real :: r
  real(8) :: d
  logical :: yes, no
  logical(1) :: small
  character(len=5) :: s
  character :: ch
  character(len=3) :: words(2)
  complex :: z
  complex(8) :: zz
  real, allocatable :: al(:,:)
  integer, allocatable :: unalloc(:)
  integer, pointer :: ptr(:)
  integer, target :: tgt(6)
  type(point) :: pt
  type(point3) :: p3
  type(point) :: pts(2)
  character(len=:), allocatable :: defer
  integer :: shared_i
  real :: shared_r
  common /block/ shared_i, shared_r
  i = -3
  a = (/ 1, 2, 3, 4, 5 /)
  m = reshape((/ 1, 2, 3, 4, 5, 6 /), (/ 2, 3 /))
  neg = (/ 10, 20, 30 /)
  long = 5000000000_8
  tiny = -7
  r = 1.5
  d = -2.25d0
  yes = .true.
  no = .false.
  small = .true.
  s = 'hello'
  ch = 'q'
  words(1) = 'one'
  words(2) = 'two'
  z = (1.0, -2.0)
  zz = (3.5d0, 4.5d0)
  allocate(al(2, 0:2))
  al = 1.25
  al(2, 1) = 7.5
  tgt = (/ 1, 2, 3, 4, 5, 6 /)
  ptr => tgt(1:6:2)
  allocate(heap(3))
  heap = 9.5d0
  defer = 'deferred'
  shared_i = 77
  shared_r = 7.75
  call inner(a(1:5:2), al, s // '!', 4)
  print *, i, yes, no, small, ch, words, z, zz, long, tiny, r, d, m, neg, ptr, pt%x, p3%flag, pts(1)%x, defer
end program
