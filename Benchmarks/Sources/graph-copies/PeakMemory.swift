import Foundation

/// The peak memory of this process on Linux; 0 elsewhere.
enum PeakMemory {
    static var megabytes: Int {
        let lines = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8))?.split(separator: "\n") ?? []
        let kilobytes = lines.first { $0.hasPrefix("VmHWM:") }?.filter(\.isNumber)
        return kilobytes.flatMap { Int($0) }.map { $0 / 1024 } ?? 0
    }
}
