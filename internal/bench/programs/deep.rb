# deep.rb DEPTH waits below DEPTH methods.
def down(n)
  return down(n - 1) + 1 if n > 0
  $stdout.write("ready\n")
  $stdout.flush
  sleep
end
down(ARGV[0].to_i)
