import XMLReading

extension DocumentError {
    /// The error for malformed XML.
    init(_ error: XMLError) {
        let code: Code =
            switch error.code {
            case .truncated: .truncated
            case .invalidText: .invalidText
            case .documentType: .unsupported
            default: .syntax
            }
        self.init(code, error.message, at: error.place.map(DocumentPlace.init))
    }
}

extension DocumentPlace {
    init(_ place: XMLPlace) { self.init(offset: place.offset, line: place.line, column: place.column) }
}

extension XMLReader {
    /// An error at the last event.
    func error(_ code: DocumentError.Code, _ message: String) -> DocumentError {
        DocumentError(code, message, at: DocumentPlace(place))
    }

    /// Throws if the XML declaration states another encoding than the one in which the document is read.
    func checkEncoding() throws {
        guard let encoding = declaredEncoding?.lowercased(), !["utf-8", "utf8", "us-ascii"].contains(encoding) else {
            return
        }
        throw DocumentError(
            .unsupported, "The XML is not in UTF-8.", at: DocumentPlace(offset: 0, line: 1, column: 1))
    }
}
