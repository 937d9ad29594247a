import Foundation

/// Prepares XML text for Foundation's parser.
public enum XMLText {
    /// The same document as UTF-8, its XML declaration replaced by blanks.
    ///
    /// Outside Apple's platforms `XMLParser` traps on an attribute whose bytes are invalid in the declared encoding. So
    /// the text is decoded here, as UTF-8 or, with a byte order mark, as UTF-16. Throws ``ArchiveError`` when it is
    /// neither.
    public static func utf8(_ data: Data) throws -> Data {
        let isWide = data.starts(with: [0xFE, 0xFF]) || data.starts(with: [0xFF, 0xFE])
        guard let text = isWide ? String(data: data, encoding: .utf16) : validatedUTF8(data) else {
            let offset = isWide ? 0 : firstInvalidByte(data)
            throw ArchiveError(.malformed, "The text is not valid UTF-8.", at: .byte(offset))
        }
        var utf8 = Array(text.utf8)
        XMLDeclaration.blank(&utf8)
        let data = Data(utf8)
        if let offset = XMLInstructionScan.firstBare(in: data) {
            throw ArchiveError(.malformed, "A processing instruction has no content.", at: .byte(offset))
        }
        return data
    }

    /// The text of valid UTF-8; nil for invalid bytes. Decoding replaces invalid bytes, so the result's bytes differ.
    /// `String(validating:as:)` does this in one pass, but requires iOS 18 and macOS 15.
    private static func validatedUTF8(_ data: Data) -> String? {
        let text = String(decoding: data, as: UTF8.self)
        return text.utf8.elementsEqual(data) ? text : nil
    }

    /// Whether the document has no document type declaration, or one without an internal subset. An internal subset
    /// could declare entities, which a parser would expand silently.
    package static func hasPlainDocumentType(_ utf8: Data) -> Bool {
        var isInDocumentType = false
        var position = utf8.startIndex
        while position < utf8.endIndex {
            let rest = utf8[position...]
            if isInDocumentType {
                if rest.first == UInt8(ascii: "[") { return false }
                if rest.first == UInt8(ascii: ">") { isInDocumentType = false }
            } else if rest.first == UInt8(ascii: "<") {
                if rest.starts(with: Array("<!--".utf8)) {
                    guard let end = rest.range(of: Data("-->".utf8)) else { return true }
                    position = end.upperBound
                    continue
                }
                if rest.starts(with: Array("<!".utf8)) {
                    isInDocumentType = true
                } else if !rest.starts(with: Array("<?".utf8)) {
                    return true
                }
            }
            position += 1
        }
        return true
    }

    private static func firstInvalidByte(_ data: Data) -> Int {
        var decoder = UTF8()
        var iterator = data.makeIterator()
        var offset = 0
        while case .scalarValue(let scalar) = decoder.decode(&iterator) { offset += UTF8.width(scalar) }
        return offset
    }
}
