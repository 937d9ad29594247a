import Foundation

/// The messages on standard input: one in each line.
struct MessageInput {
    enum Message {
        case text(Data)
        /// A line that is too long, which is not kept.
        case tooLong
    }

    /// The greatest length of a message, in bytes.
    static let sizeLimit = 1 << 20

    private var buffer: [UInt8] = []
    private var isSkipping = false
    private var isAtEnd = false
    private let read: () -> [UInt8]

    /// Messages from a source of bytes, which returns none at its end. By default standard input.
    init(read: @escaping () -> [UInt8] = Self.standardInput) { self.read = read }

    /// The next message; nil at the end of the input.
    mutating func next() -> Message? {
        var searched = 0
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                let line = Data(buffer[..<end])
                buffer.removeFirst(end + 1)
                searched = 0
                if isSkipping {
                    isSkipping = false
                    return .tooLong
                }
                if line.count > Self.sizeLimit { return .tooLong }
                if line.allSatisfy({ $0 == 32 || $0 == 13 || $0 == 9 }) { continue }
                return .text(line)
            }
            if buffer.count > Self.sizeLimit {
                buffer.removeAll(keepingCapacity: true)
                isSkipping = true
            }
            searched = buffer.count
            let bytes = isAtEnd ? [] : read()
            guard bytes.isEmpty else {
                buffer += bytes
                continue
            }
            isAtEnd = true
            defer { buffer = [] }
            if isSkipping {
                isSkipping = false
                return .tooLong
            }
            return buffer.isEmpty ? nil : .text(Data(buffer))
        }
    }

    private static func standardInput() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Foundation.read(0, &bytes, bytes.count)
            if count < 0, errno == EINTR { continue }
            return count > 0 ? Array(bytes[..<count]) : []
        }
    }
}
