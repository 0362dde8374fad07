# Calls methods and blocks in many ways, in several threads, for ever.
require File.join(ARGV[0], "moment")
Moment.open(ARGV[1])

module Loud
  refine String do
    def shout(&block)
      block.call(upcase)
    end
  end
end
using Loud

module Helper
  def helped(n)
    yield n
  end

  def self.aside(n) = yield(n)
end

class Base
  include Helper
  include Comparable
  attr_reader :n

  def initialize(n)
    @n = n
  end

  def <=>(other)
    Work.leaf if rand(40) == 0
    n <=> other.n
  end

  def to_s
    Work.leaf if rand(10) == 0
    "base #{n}"
  end

  def step(n, &block)
    block.(n)
  end
end

class Work < Base
  class Failure < StandardError; end
  class << self
    def leaf
      rand(3) == 0 ? Moment.announce : turn
    end

    def turn
      x = 0
      while x < 200
        x += 1
      end
      x
    end

    def each_of(list)
      return enum_for(:each_of, list) unless block_given?
      list.each { |x| yield x }
    end
  end

  define_method(:defined) do |n, &block|
    [n].each { |x| block.call(x) }
  end

  def method_missing(name, *args, &block)
    name == :absent ? block.call(*args) : super
  end

  def respond_to_missing?(name, all = false) = name == :absent || super

  def step(n)
    super(n) { |x| yield x }
  end

  def recurse(n, &block)
    n <= 0 ? block.call(n) : recurse(n - 1, &block)
  end

  def ensured(n)
    yield n
  ensure
    Work.leaf
  end

  def failing(n)
    raise Failure, "x" if n.odd?
    yield n
  rescue Failure => e
    e.full_message if rand(5) == 0
    yield n
  ensure
    [1].each { Work.turn }
  end

  def retried(n)
    tries ||= 0
    tries += 1
    raise ArgumentError if tries < 3
    yield n
  rescue ArgumentError
    Work.turn
    retry
  end

  def thrown(n)
    catch(:done) do
      3.times { |i| throw(:done, yield(n)) if i == 1 }
    end
  end

  def fibered(n)
    f = Fiber.new { |x| Fiber.yield(yield(x)); Work.leaf }
    f.resume(n)
    f.resume(n)
  end

  def enumerated(n)
    e = Work.each_of([n, n])
    e.next
    e.next
    g = Enumerator.new { |y| y << n; yield n; y << n }
    g.next
    g.next
  end

  def lazied(n)
    (1..Float::INFINITY).lazy.map { |x| x * 2 }.select { |x| yield n if x == 4; x > 3 }.first(2)
  end

  def evaluated(n)
    eval("[n].each { |x| yield x }")
    instance_eval { Work.turn }
    instance_exec(n) { |x| yield x }
  end

  def classed(n)
    Class.new { define_singleton_method(:made) { |x, &b| b.call(x) } }.made(n) { |x| yield x }
    o = Object.new
    def o.single(n) = yield(n)
    o.single(n) { |x| yield x }
  end

  def sorted(n)
    [3, 1, 2].sort_by { |x| yield n if x == 1; x }
    [Work.new(3), Work.new(1), Work.new(2)].sort.max
    [3, 1].inject(0) { |a, x| yield n if x == 1; a + x }
    { a: 1 }.each { |k, v| yield v }
    Hash.new { |h, k| h[k] = yield(n) }[:x]
    "abc".gsub(/b/) { yield n; "x" }
    1.step(3, 2) { |x| yield n if x == 3 }
    [1, 2].each_slice(1).map(&:first)
    [Work.new(1)].map(&:to_s)
    "#{Work.new(2)}"
  end

  def shouted(n)
    "abc".shout { |s| yield s.size }
  end

  def native(n)
    Moment.call(rand(5)) { |x| yield x }
  end

  def lambdas(n, &block)
    add = ->(x, y) { block.call(x + y) }
    add.curry[1][n]
    (method(:recurse).to_proc >> ->(x) { x }).call(2, &block)
    send(:helped, n, &block)
    public_send(:tap) { |x| block.call(1) }
    Helper.aside(n, &block)
    self.then { |x| block.call(2) }
  end

  def looped(n)
    i = 0
    loop do
      i += 1
      yield i if i == 2
      break if i > 2
    end
  end

  WAYS = %i[defined absent step recurse ensured failing retried thrown fibered enumerated lazied evaluated classed sorted shouted native lambdas looped]

  def run(depth)
    return Work.leaf if depth <= 0
    # The ways call the block at most some times: now and then it goes deeper.
    deeper = rand(3)
    send(WAYS.sample, rand(4)) do |x|
      deeper -= 1
      deeper.zero? ? run(depth - 1) : Work.turn
    end
  end
end

if $0 == __FILE__
  queue = Queue.new
  Thread.new { Moment.serve }
  threads = 3.times.map { |i| Thread.new { loop { Work.new(i).run(rand(12)); queue << i if queue.empty? } } }
  threads << Thread.new { loop { queue.pop } }
  puts "ready"
  $stdout.flush
  loop { Work.new(9).run(rand(12)); GC.start if rand(200) == 0; sleep 0.001 if rand(20) == 0 }
end
