loop do
  f = Fiber.new do
    3.times { |i| Fiber.yield [3, 1, 2].sort_by { |x| -x * i } }
  end
  3.times { f.resume }
end
