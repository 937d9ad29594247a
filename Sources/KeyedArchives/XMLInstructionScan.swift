import Foundation

/// Finds processing instructions without content (`<?name?>`) in XML, piece by piece.
///
/// Off Apple's platforms `XMLParser` crashes on one: it makes a string of content that is not there. Nobody needs them, so
/// a document that has one is refused before the parser sees it.
package struct XMLInstructionScan {
    private enum State { case text, opened, name, question }

    private var state = State.text

    package init() {}

    /// Where in the bytes such an instruction ends, or nil. What the bytes end with is kept for the next piece.
    package mutating func firstBare(in bytes: UnsafeRawBufferPointer) -> Int? {
        var position = 0
        while position < bytes.count {
            switch state {
            case .text:
                guard let start = bytes.baseAddress,
                    let found = memchr(start + position, CInt(UInt8(ascii: "<")), bytes.count - position)
                else { return nil }
                position = UnsafeRawPointer(found) - start
                state = .opened
            case .opened:
                switch bytes[position] {
                case UInt8(ascii: "?"): state = .name
                case UInt8(ascii: "<"): break
                default: state = .text
                }
            case .name:
                // Content begins behind a space: whatever comes then, there is some.
                let byte = bytes[position]
                if byte == UInt8(ascii: "?") { state = .question } else if byte <= 0x20 { state = .text }
            case .question:
                if bytes[position] == UInt8(ascii: ">") { return position }
                state = bytes[position] == UInt8(ascii: "?") ? .question : .name
            }
            position += 1
        }
        return nil
    }

    /// Where in a whole document such an instruction ends, or nil.
    package static func firstBare(in data: Data) -> Int? {
        var scan = XMLInstructionScan()
        return data.withUnsafeBytes { scan.firstBare(in: $0) }
    }
}
