# Threads in known states. What it writes of them is in one line.
class Failing
  class Error < StandardError; end
end

lock = Mutex.new
Thread.new do
  Thread.current.name = "holder"
  lock.synchronize { sleep }
end
Thread.pass until lock.locked?
Thread.new { Thread.current.name = "waiter"; lock.lock }
Thread.new do
  Thread.current.name = "failing"
  begin
    raise Failing::Error, "x"
  rescue
    sleep
  end
end
Thread.new { Thread.current.name = "ended" }.join
others = Thread.list - [Thread.main]
Thread.pass until others.all? { |x| x.status == "sleep" }
puts "ready"
puts others.map { |x| "#{x.name}=#{x.inspect[/(\w+)>$/, 1]}" }.join(" ")
$stdout.flush
if ARGV[0] == "busy"
  Thread.new { Thread.current.name = "spins"; loop {} }
  loop { sleep 0.0001 }
end
sleep
