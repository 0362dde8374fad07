# Has fibers of many kinds, and writes what Ruby says of each: its object, its state, its frames.
class Job
  def run(n)
    n.zero? ? Fiber.yield : run(n - 1)
  end
end

$kept = 100.times.map do |i|
  f = Fiber.new { [1].each { Job.new.run(i % 7) } }
  f.resume
  f
end
$kept += 10.times.map { Fiber.new { 1 } } # not begun
$kept += 10.times.map { f = Fiber.new { 1 }; f.resume; f } # ended
$kept << [1, 2].each.tap(&:next)
transferred = Fiber.new { |main| main.transfer; 1 }
transferred.transfer(Fiber.current)
$kept << transferred
Thread.new { Fiber.new { Fiber.new { sleep }.resume }.resume }
Thread.pass until Thread.list.all? { |x| x == Thread.main || x.status == "sleep" }
list = ObjectSpace.each_object(Fiber).select(&:alive?).map { |f| [f.inspect, *f.backtrace].join("\t") }
puts "ready"
puts list
puts
$stdout.flush
sleep
