import CodedErrors

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
