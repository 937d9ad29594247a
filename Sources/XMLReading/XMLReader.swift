import CodedErrors
import Foundation

/// Reads an XML 1.0 document as events, on request, piece by piece. Memory grows with the depth and with the largest tag, not
/// with the document.
///
/// Names are passed on with their prefixes, and namespaces are attributes like any other. Line ends and the values of
/// attributes are normalised as the standard demands. The five predefined entities and references of characters are replaced.
/// A document type with declarations, which could define other entities or name other files, is an error: nothing outside
/// the document is ever read.
///
/// Source: "Extensible Markup Language (XML) 1.0 (Fifth Edition)", W3C.
package final class XMLReader {
    /// What was read.
    package enum Event: Sendable {
        /// The start of an element: ``name``, ``attributes``.
        case start
        /// The end of an element: ``name``. An empty-element tag is a start and an end.
        case end
        /// A piece of an element's text: ``text``. The text between two tags may have several pieces.
        case text
        /// The end of the document, after which there are no more events.
        case endOfDocument
    }

    /// The document types that are accepted.
    package enum DocumentTypes: Sendable {
        case none
        /// A name with identifiers, as Apple's property lists have it. The file that it names is not read.
        case withoutDeclarations
    }

    /// The name of the element of the last event.
    package private(set) var name = ""
    /// The attributes of the last start of an element.
    package private(set) var attributes = XMLAttributes()
    /// The position at which the last event began.
    package private(set) var place = XMLPlace()
    /// The name of the encoding in the XML declaration; nil without one. The bytes are read as UTF-8 in any case.
    package internal(set) var declaredEncoding: String?

    let input: XMLInput
    let documentTypes: DocumentTypes
    /// The bytes of the current piece of text, or of an attribute's value.
    var scratch: [UInt8] = []
    /// Whether the input is inside a CDATA section.
    var isInSection = false
    /// Whether the document's prolog has been read.
    private var hasBegun = false
    private var hasRoot = false
    var hasDocumentType = false
    /// Whether the last start was an empty-element tag, whose end is the next event.
    private var endIsPending = false
    /// The names of the open elements, one after the other, and the start of each.
    private var openNames: [UInt8] = []
    private var openStarts: [Int] = []

    /// Creates a reader of the bytes, in UTF-8, that a function writes to a buffer; it returns their number, and 0 at the
    /// end. Its errors are thrown by ``next()``.
    package init(
        documentTypes: DocumentTypes, reading read: @escaping (UnsafeMutableRawBufferPointer) throws -> Int
    ) {
        input = XMLInput(read)
        self.documentTypes = documentTypes
    }

    /// Creates a reader of a document in memory, in UTF-8 or, with a byte order mark, in UTF-16.
    package convenience init(_ data: Data, documentTypes: DocumentTypes) {
        var rest = data[...]
        if data.starts(with: [0xFE, 0xFF]) || data.starts(with: [0xFF, 0xFE]) {
            // Text that is not valid UTF-16 stays as it is, which is not valid UTF-8 either.
            rest = String(data: data, encoding: .utf16).map { Data($0.utf8)[...] } ?? rest
        }
        self.init(documentTypes: documentTypes) { buffer in
            let piece = rest.prefix(buffer.count)
            piece.copyBytes(to: buffer)
            rest = rest.dropFirst(piece.count)
            return piece.count
        }
    }

    /// The last piece of text.
    package var text: String { String(decoding: scratch, as: UTF8.self) }

    /// Whether the last piece of text is whitespace only.
    package var textIsBlank: Bool { scratch.allSatisfy(XMLCharacters.isSpace) }

    /// The number of open elements, with the one of the last start.
    package var depth: Int { openStarts.count }

    /// Reads the next event. Throws ``XMLError``, and the errors of the function that reads bytes.
    package func next() throws -> Event {
        if !hasBegun {
            hasBegun = true
            try readDeclaration()
        }
        if endIsPending {
            endIsPending = false
            return close()
        }
        while true {
            if isInSection {
                if try readSection() { return .text }
                continue
            }
            place = input.place
            guard let byte = try input.peek() else {
                guard hasRoot, openStarts.isEmpty else { throw truncated }
                return .endOfDocument
            }
            if byte != UInt8(ascii: "<") {
                if openStarts.isEmpty { try skipSpaceOutside() } else if try readText() { return .text }
            } else if try input.take("</") {
                return try readEndTag()
            } else if try input.take("<!") {
                try readMarkup()
            } else if try input.take("<?") {
                try skipInstruction()
            } else {
                input.position += 1
                return try readStartTag()
            }
        }
    }

    /// The error for what is not in the grammar at the next byte.
    func failure(_ message: String) -> XMLError { XMLError(.syntax, message, at: input.place) }

    var truncated: XMLError { XMLError(.truncated, "The document is truncated.", at: input.place) }

    /// The error for what is not in the grammar: that the document is truncated if it ends here.
    func unexpected(_ message: String) throws -> XMLError {
        try input.isCut || input.peek() == nil ? truncated : failure(message)
    }

    /// What may be outside the root element, between comments and processing instructions.
    private func skipSpaceOutside() throws {
        guard try skipSpace() else { throw failure("There is text outside the root element.") }
    }

    private func readMarkup() throws {
        if try input.take("--") {
            try skipComment()
        } else if try input.take("[CDATA[") {
            guard !openStarts.isEmpty else { throw failure("There is text outside the root element.") }
            isInSection = true
        } else if try input.take("DOCTYPE") {
            guard !hasRoot else { throw failure("A document type is not before the root element.") }
            try skipDocumentType()
        } else {
            throw try unexpected("A declaration is not allowed here.")
        }
    }

    // MARK: - Tags

    private func readStartTag() throws -> Event {
        guard !(hasRoot && openStarts.isEmpty) else { throw failure("There is a second root element.") }
        openStarts.append(openNames.count)
        name = try readName(of: "an element") { openNames.append(contentsOf: $0) }
        hasRoot = true
        attributes.removeAll()
        while true {
            let hasSpace = try skipSpace()
            switch try input.peek() {
            case UInt8(ascii: ">"):
                input.position += 1
            case UInt8(ascii: "/"):
                guard try input.take("/>") else { throw try unexpected("The start of <\(name)> is malformed.") }
                endIsPending = true
            default:
                guard hasSpace else { throw try unexpected("The start of <\(name)> is malformed.") }
                let attribute = try readName(of: "an attribute")
                try skipSpace()
                guard try input.take("=") else { throw try unexpected("The attribute \(attribute) has no value.") }
                try skipSpace()
                attributes.append(attribute, try readAttributeValue(attribute))
                continue
            }
            if attributes.hasDuplicate { throw failure("An attribute of <\(name)> occurs twice.") }
            return .start
        }
    }

    private func readEndTag() throws -> Event {
        guard let start = openStarts.last else { throw failure("An element ends that has not begun.") }
        var isSame = false
        let ended = try readName(of: "an element") { bytes in
            isSame = openNames[start...].elementsEqual(bytes)
        }
        guard isSame else { throw failure("The element <\(openName(from: start))> is closed by </\(ended)>.") }
        try skipSpace()
        guard try input.take(">") else { throw try unexpected("The end of <\(ended)> is malformed.") }
        return close()
    }

    /// Closes the innermost element.
    private func close() -> Event {
        guard let start = openStarts.popLast() else { return .endOfDocument }
        name = openName(from: start)
        openNames.removeSubrange(start...)
        return .end
    }

    private func openName(from start: Int) -> String { String(decoding: openNames[start...], as: UTF8.self) }

    /// Reads a name, whose bytes the closure receives.
    func readName(of part: String, _ body: (UnsafeBufferPointer<UInt8>) -> Void = { _ in }) throws -> String {
        input.mark = input.position
        defer { input.mark = nil }
        var isStart = true
        while true {
            let window = UnsafeBufferPointer(start: input.base, count: input.end)
            let stop = XMLCharacters.endOfName(in: window, from: input.position, isStart: isStart)
            if stop > input.position { isStart = false }
            input.position = stop
            if stop < input.end { break }
            if try !input.fill() { break }
        }
        guard !isStart, let mark = input.mark else { throw try unexpected("The name of \(part) is malformed.") }
        let bytes = UnsafeBufferPointer(
            rebasing: UnsafeBufferPointer(start: input.base, count: input.position)[mark...])
        body(bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// The attributes of an element, in the order of the document.
package struct XMLAttributes: Sendable {
    private(set) var names: [String] = []
    private(set) var values: [String] = []

    /// The value of an attribute; nil if the element does not have it.
    package subscript(name: String) -> String? {
        for index in names.indices where names[index] == name { return values[index] }
        return nil
    }

    /// The values by name.
    package var dictionary: [String: String] { Dictionary(zip(names, values)) { first, _ in first } }

    mutating func append(_ name: String, _ value: String) {
        names.append(name)
        values.append(value)
    }

    mutating func removeAll() {
        names.removeAll(keepingCapacity: true)
        values.removeAll(keepingCapacity: true)
    }

    /// Whether a name occurs twice. Cost: linear, even for a tag with many attributes.
    var hasDuplicate: Bool {
        if names.count > 8 { return Set(names).count < names.count }
        for index in names.indices.dropFirst() where names[..<index].contains(names[index]) { return true }
        return false
    }
}

/// The domain of ``XMLError``.
package enum XMLErrorDomain: ErrorDomain {
    package typealias Place = XMLPlace
}

/// The reason why a document is not read as XML, and the position.
package typealias XMLError = CodedError<XMLErrorDomain>

extension XMLError.Code {
    /// The text does not follow the grammar of XML 1.0.
    package static let syntax = Self(rawValue: "syntax")
    /// The document ends before its root element does.
    package static let truncated = Self(rawValue: "truncated")
    /// The bytes are not UTF-8.
    package static let invalidText = Self(rawValue: "invalidText")
    /// A document type that is not allowed.
    package static let documentType = Self(rawValue: "documentType")
}

/// A position in a document.
package struct XMLPlace: Sendable, Hashable, CustomStringConvertible {
    /// The byte offset.
    package var offset = 0
    /// The line, starting at 1.
    package var line = 1
    /// The column in bytes, starting at 1.
    package var column = 1

    /// The beginning of a document.
    package init() {}

    init(offset: Int, line: Int, column: Int) {
        self.offset = offset
        self.line = line
        self.column = column
    }

    package var description: String { "line \(line), column \(column)" }
}
