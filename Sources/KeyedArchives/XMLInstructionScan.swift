import Foundation

/// Finds processing instructions without content (`<?name?>`) in XML, chunk by chunk.
///
/// Outside Apple's platforms `XMLParser` crashes on one. They have no use, so a document that contains one is rejected
/// before it is parsed.
package struct XMLInstructionScan {
    private enum State { case text, opened, name, question }

    private var state = State.text

    package init() {}

    /// The position of the end of such an instruction in the bytes, or nil. The state at the end of the bytes is kept
    /// for the next chunk.
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
                // Content begins after whitespace: any byte that follows is content.
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

    /// The position of the end of such an instruction in a whole document, or nil.
    package static func firstBare(in data: Data) -> Int? {
        var scan = XMLInstructionScan()
        return data.withUnsafeBytes { scan.firstBare(in: $0) }
    }
}
