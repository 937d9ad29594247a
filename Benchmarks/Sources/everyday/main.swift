import CoreData
import Foundation

// everyday OPERATION SIZE…: the cost of an operation that apps do every day, at growing sizes. Prints the processor time for each size,
// and the exponent by which it grows from the first size to the last: 0 is flat, 1 is proportional to the size.

let arguments = Array(CommandLine.arguments.dropFirst())
guard let name = arguments.first, let operation = operations[name] else {
    let list = operations.sorted { $0.key < $1.key }.map { "  \($0.key): \($0.value.text)" }.joined(separator: "\n")
    FileHandle.standardError.write(Data("usage: everyday OPERATION SIZE…\n\(list)\n".utf8))
    exit(2)
}
let sizes = arguments.dropFirst().compactMap { Int($0) }
var measured: [(size: Int, seconds: Double)] = []
for size in sizes.isEmpty ? operation.sizes : Array(sizes) {
    let clock = ProcessorClock()
    try operation.run(size, clock)
    measured.append((size, clock.seconds))
    print("\(name) \(size): \(String(format: "%.2f", clock.seconds * 1000)) ms")
}
if let first = measured.first, let last = measured.last, last.size > first.size, first.seconds > 0 {
    let exponent = log(last.seconds / first.seconds) / log(Double(last.size) / Double(first.size))
    print("exponent \(String(format: "%.2f", exponent))")
}

/// Counts the processor time of the process between `start` and `stop`: what others do on the machine has little effect on it.
final class ProcessorClock {
    private(set) var seconds = 0.0
    private var begin = 0.0

    func start() { begin = Self.now }
    func stop() { seconds += Self.now - begin }

    func measure<Result>(_ work: () throws -> Result) rethrows -> Result {
        start()
        defer { stop() }
        return try work()
    }

    private static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
