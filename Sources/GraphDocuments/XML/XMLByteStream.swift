import Foundation
import KeyedArchives

/// A source's bytes as the stream for `XMLParser`, checked to be UTF-8 without a document type.
///
/// Outside Apple's platforms the parser traps on an attribute that is not valid UTF-8, so invalid bytes are not passed
/// to it.
final class XMLByteStream: InputStream {
    private let source: any ByteSource
    private let sizeLimit: Int
    /// Checked bytes, and the number of them that have been passed on.
    private var checked: [UInt8] = []
    private var position = 0
    /// The beginning of a character whose other bytes are in the next chunk.
    private var incomplete: [UInt8] = []
    private var offset = 0
    private var line = 1
    private var isAtEnd = false
    private var instructions = XMLInstructionScan()
    /// The error in the bytes, after which the parser reads the end of the stream.
    private(set) var error: DocumentError?

    private static let pieceSize = 64 * 1024

    /// Creates a stream of the source's bytes. Reads the first chunk; throws `DocumentError` if the document's
    /// beginning is not allowed.
    init(_ source: any ByteSource, limits: DocumentLimits) throws {
        self.source = source
        sizeLimit = limits.documentSize
        super.init(data: Data())
        fill()
        if let error { throw error }
        try XMLProlog.check(Data(checked), allowsPlainDocumentType: false)
        XMLDeclaration.blank(&checked)
    }

    override func open() {}
    override func close() {}
    override var hasBytesAvailable: Bool { position < checked.count || !isAtEnd }
    override var streamStatus: Stream.Status { hasBytesAvailable ? .open : .atEnd }
    override var streamError: (any Error)? { error }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
        if position == checked.count { fill() }
        let count = min(length, checked.count - position)
        guard count > 0 else { return 0 }
        checked.withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return }
            buffer.update(from: base + position, count: count)
        }
        position += count
        return count
    }

    /// Reads and checks the next chunk; leaves nothing at the end, or after an error.
    private func fill() {
        position = 0
        checked = incomplete
        incomplete = []
        do {
            while !isAtEnd, error == nil, checked.count < XMLByteStream.pieceSize {
                var piece = [UInt8](repeating: 0, count: XMLByteStream.pieceSize)
                let count = try piece.withUnsafeMutableBytes { try source.read(into: $0) }
                if count == 0 { isAtEnd = true }
                checked += piece[..<count]
            }
            if let invalid = checked.withUnsafeBytes({ UTF8Check.firstInvalid(in: $0) }) {
                guard !isAtEnd, checked.count - invalid <= 3 else {
                    throw DocumentError(.invalidText, "The text is not valid UTF-8.", at: place(invalid))
                }
                incomplete = Array(checked[invalid...])
                checked.removeLast(checked.count - invalid)
            }
            if let end = checked.withUnsafeBytes({ instructions.firstBare(in: $0) }) {
                throw DocumentError(.syntax, "A processing instruction has no content.", at: place(end))
            }
            offset += checked.count
            line += checked.count(where: { $0 == 0x0A })
            guard offset <= sizeLimit else {
                throw DocumentError(
                    .limit, "The document is larger than \(sizeLimit) bytes.", at: DocumentPlace(offset: sizeLimit))
            }
        } catch {
            self.error = error as? DocumentError ?? DocumentError(.file, "The document cannot be read.")
            checked = []
            isAtEnd = true
        }
    }

    /// A position in the chunk that is being checked.
    private func place(_ index: Int) -> DocumentPlace {
        let before = checked[..<index]
        let column = before.reversed().firstIndex(of: 0x0A).map { before.endIndex - $0.base } ?? index
        return DocumentPlace(
            offset: offset + index, line: line + before.count(where: { $0 == 0x0A }), column: column + 1)
    }
}
