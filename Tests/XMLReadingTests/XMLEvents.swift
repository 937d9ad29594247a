import Foundation
import XMLReading

/// The events of a document as text, one a line, the pieces of text joined.
enum XMLEvents {
    static func read(_ reader: XMLReader) throws -> [String] {
        var events: [String] = []
        var text = ""
        func endText() {
            if !text.isEmpty { events.append("text " + text) }
            text = ""
        }
        while true {
            switch try reader.next() {
            case .start:
                endText()
                let attributes = reader.attributes.dictionary.sorted { $0.key < $1.key }
                events.append("start \(reader.name)" + attributes.map { " \($0.key)=[\($0.value)]" }.joined())
            case .end:
                endText()
                events.append("end \(reader.name)")
            case .text: text += reader.text
            case .endOfDocument: return events
            }
        }
    }

    static func read(_ text: String) throws -> [String] {
        try read(XMLReader(Data(text.utf8), documentTypes: .withoutDeclarations))
    }

    /// Reads bytes in pieces of a size.
    static func read(_ bytes: [UInt8], pieceSize: Int) throws -> [String] {
        var rest = bytes[...]
        return try read(
            XMLReader(documentTypes: .withoutDeclarations) { buffer in
                let piece = rest.prefix(min(pieceSize, buffer.count))
                rest = rest.dropFirst(piece.count)
                buffer.copyBytes(from: piece)
                return piece.count
            })
    }

    /// The code of the error that a document causes; nil if it causes none.
    static func error(_ text: String) -> XMLError.Code? {
        do {
            _ = try read(text)
            return nil
        } catch {
            return (error as? XMLError)?.code
        }
    }
}
