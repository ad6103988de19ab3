! Fortran: a linear system, formatted and unformatted files, the clock,
! allocatable arrays, and the library's own random numbers.
program solver
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  integer, parameter :: n = 60
  real(real64), allocatable :: a(:, :), b(:), x(:)
  real(real64) :: r, again
  integer(int64) :: before, after, rate
  integer :: i, j, k, status
  character(len=40) :: line

  allocate (a(n, n), b(n), x(n))
  do concurrent(i=1:n, j=1:n)
    a(i, j) = merge(n*1.0_real64, 1.0_real64/(i + j), i == j)
  end do
  x = [(real(i, real64), i=1, n)]
  b = matmul(a, x)
  do k = 1, n - 1
    do i = k + 1, n
      r = a(i, k)/a(k, k)
      a(i, k:) = a(i, k:) - r*a(k, k:)
      b(i) = b(i) - r*b(k)
    end do
  end do
  do i = n, 1, -1
    x(i) = (b(i) - dot_product(a(i, i + 1:), x(i + 1:)))/a(i, i)
  end do
  print '(a, 3f8.3)', 'solution', x(1), x(n/2), x(n)

  open (10, file='/tmp/fortran', form='unformatted', access='stream', status='replace')
  write (10) x
  rewind (10)
  x = 0
  read (10) x
  close (10, status='delete')
  print '(a, f9.3)', 'sum of the file', sum(x)
  open (11, file='/no/such/file', status='old', iostat=status)
  print '(a, l2)', 'a missing file is an error', status /= 0
  write (line, '(es12.4, i6, 1x, a)') 1.0/3, -42, 'words'
  print '(a)', trim(adjustl(line))

  call random_seed(put=[(i, i=1, 64)])
  call random_number(r)
  call random_seed(put=[(i, i=1, 64)])
  call random_number(again)
  print '(a, l2)', 'random numbers repeat', r == again
  call system_clock(before, rate)
  call system_clock(after)
  print '(a, l2)', 'the clock runs', rate > 0 .and. after >= before
end program solver
