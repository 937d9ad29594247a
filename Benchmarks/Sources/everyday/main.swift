import CoreData
import Foundation

// everyday OPERATION SIZE…: the cost of an operation that apps do every day, at growing sizes. Prints the processor time for each size,
// beside that of SQLite's C interface on the same file where there is such a thing, and the exponent by which it grows from the first
// size to the last: 0 is flat, 1 is proportional to the size. `everyday all` prints the lines of the table in README.

let operations = fetching + relationships + changes + results + stores + toolkit
let arguments = Array(CommandLine.arguments.dropFirst())
let chosen = arguments.first == "all" ? operations : operations.filter { $0.name == arguments.first }
guard !chosen.isEmpty else {
    let list = operations.map { "  \($0.name): \($0.text)" }.joined(separator: "\n")
    FileHandle.standardError.write(Data("usage: everyday OPERATION SIZE…\n       everyday all\n\(list)\n".utf8))
    exit(2)
}

let sizes = arguments.dropFirst().compactMap { Int($0) }
for operation in chosen {
    var costs: [(size: Int, meter: Meter)] = []
    for size in sizes.isEmpty ? operation.sizes : sizes {
        let meter = Meter()
        try operation.run(size, meter)
        costs.append((size, meter))
        if chosen.count == 1 { print("\(operation.name) \(size): \(description(of: meter))") }
    }
    let exponent = exponent(from: costs.first!, to: costs.last!)
    if chosen.count == 1 {
        print("exponent \(exponent)")
    } else {
        let last = costs.last!
        let columns = [
            "`\(operation.name)`: \(operation.text)", "\(last.size)", milliseconds(last.meter.seconds),
            last.meter.rawSeconds.map(milliseconds) ?? "",
            last.meter.rawSeconds.map { String(format: "%.1f", last.meter.seconds / $0) } ?? "",
            "\(last.meter.peakGrowth >> 20) MB", exponent,
        ]
        FileHandle.standardOutput.write(Data("| \(columns.joined(separator: " | ")) |\n".utf8))
    }
}

func description(of meter: Meter) -> String {
    var parts = [milliseconds(meter.seconds)]
    if let raw = meter.rawSeconds {
        parts.append("raw \(milliseconds(raw))")
        parts.append(String(format: "%.1f times", meter.seconds / raw))
    }
    parts.append("\(meter.peakGrowth >> 20) MB")
    return parts.joined(separator: ", ")
}

func milliseconds(_ seconds: Double) -> String {
    String(format: seconds < 0.01 ? "%.2f ms" : "%.0f ms", seconds * 1000)
}

func exponent(from first: (size: Int, meter: Meter), to last: (size: Int, meter: Meter)) -> String {
    guard last.size > first.size, first.meter.seconds > 0 else { return "" }
    let growth = log(last.meter.seconds / first.meter.seconds) / log(Double(last.size) / Double(first.size))
    return String(format: "%.1f", growth)
}
