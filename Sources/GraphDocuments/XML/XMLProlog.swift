import Foundation

/// Checks the part of an XML document before its first element, where a document type could declare entities.
///
/// `XMLParser` would resolve them silently. This library's documents have no document type; Apple's property lists have
/// one without declarations.
enum XMLProlog {
    /// Throws `DocumentError` if the document is not UTF-8, or declares a document type that is not allowed.
    static func check(_ bytes: Data, allowsPlainDocumentType: Bool) throws {
        var scanner = Scanner(bytes: bytes)
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { scanner.position += 3 }
        if bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0xFF, 0xFE]) || bytes.prefix(4).contains(0) {
            throw DocumentError(
                .unsupported, "The XML is not in UTF-8.", at: DocumentPlace(offset: 0, line: 1, column: 1))
        }
        while true {
            scanner.skipSpace()
            let start = scanner.position
            if scanner.take("<?") {
                let isDeclaration = scanner.take("xml ")
                guard let content = scanner.skip(past: "?>") else { throw truncated(bytes) }
                if isDeclaration, content.lowercased().contains("encoding"), !content.lowercased().contains("utf-8") {
                    throw DocumentError(.unsupported, "The XML is not in UTF-8.", at: place(bytes, start))
                }
            } else if scanner.take("<!--") {
                guard scanner.skip(past: "-->") != nil else { throw truncated(bytes) }
            } else if scanner.take("<!DOCTYPE") {
                guard allowsPlainDocumentType, let content = scanner.skip(past: ">"), !content.contains("[") else {
                    throw DocumentError(
                        .unsupported, "A document type is not allowed: it could name other files and entities.",
                        at: place(bytes, start))
                }
            } else {
                return
            }
        }
    }

    private static func truncated(_ bytes: Data) -> DocumentError {
        DocumentError(.truncated, "The document ends before its first element.", at: place(bytes, bytes.count))
    }

    private static func place(_ bytes: Data, _ offset: Int) -> DocumentPlace {
        let before = bytes.prefix(offset)
        let line = before.reduce(1) { $1 == 0x0A ? $0 + 1 : $0 }
        let lineStart = before.lastIndex(of: 0x0A).map { $0 - bytes.startIndex + 1 } ?? 0
        return DocumentPlace(offset: offset, line: line, column: offset - lineStart + 1)
    }

    private struct Scanner {
        let bytes: Data
        var position = 0

        mutating func skipSpace() {
            while let byte = bytes.dropFirst(position).first, byte == 0x20 || (0x09...0x0D).contains(byte) {
                position += 1
            }
        }

        mutating func take(_ text: String) -> Bool {
            guard bytes.dropFirst(position).starts(with: text.utf8) else { return false }
            position += text.utf8.count
            return true
        }

        /// Skips everything up to and including the text; returns the part before it, or nil if it is not found.
        mutating func skip(past text: String) -> String? {
            let rest = bytes.dropFirst(position)
            guard let range = rest.range(of: Data(text.utf8)) else { return nil }
            let content = String(decoding: rest[rest.startIndex..<range.lowerBound], as: UTF8.self)
            position = range.upperBound - bytes.startIndex
            return content
        }
    }
}
