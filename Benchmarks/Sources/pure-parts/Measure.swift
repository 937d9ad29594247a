import Foundation

/// The best of nine passes, in nanoseconds for each of the `count` operations of a pass.
func nanoseconds(_ count: Int, _ pass: () throws -> Void) rethrows -> Double {
    var best = Duration.seconds(1_000)
    for _ in 0..<9 { best = try min(best, ContinuousClock().measure(pass)) }
    return (Double(best.components.seconds) * 1e9 + Double(best.components.attoseconds) / 1e9) / Double(count)
}

/// Prints a line: the measured operation, and nanoseconds with their unit.
func report(_ name: String, _ nanoseconds: Double, per unit: String) {
    let value = String(format: "%10.2f", nanoseconds)
    print("\(value) ns a \(unit)".padding(toLength: 28, withPad: " ", startingAt: 0) + name)
}
