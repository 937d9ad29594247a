import Foundation

/// A note as it leaves and enters the service. Objects stay in their contexts.
public struct NoteValue: Codable, Equatable, Sendable {
    public var key: String
    public var title: String
    public var text: String

    public init(key: String = Self.newKey(), title: String, text: String) {
        (self.key, self.title, self.text) = (key, title, text)
    }

    init(_ note: Note) {
        self.init(key: note.key ?? "", title: note.title ?? "", text: note.text ?? "")
    }

    /// A key that is greater than those of earlier notes: milliseconds, and a random part for notes of the same millisecond.
    public static func newKey() -> String {
        let time = UInt64(Date().timeIntervalSince1970 * 1000)
        return hexadecimal(time, 12) + hexadecimal(.random(in: 0...UInt64.max), 16)
    }

    private static func hexadecimal(_ number: UInt64, _ length: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: max(0, length - digits.count)) + digits
    }
}
