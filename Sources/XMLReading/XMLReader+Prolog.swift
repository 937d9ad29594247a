/// What is not content: the XML declaration, the document type, comments and processing instructions.
extension XMLReader {
    /// Skips whitespace; returns whether there was any.
    @discardableResult
    func skipSpace() throws -> Bool {
        var isSpace = false
        while let byte = try input.peek(), XMLCharacters.isSpace(byte) {
            isSpace = true
            input.position += 1
        }
        return isSpace
    }

    /// Reads the XML declaration, if the document begins with one, and the byte order mark before it.
    func readDeclaration() throws {
        _ = try input.take("\u{FEFF}")
        // An instruction such as `<?xml-stylesheet …?>` is none.
        input.mark = input.position
        let start = input.position
        let isDeclaration = try input.take("<?xml") && input.peek().map(XMLCharacters.isSpace) ?? false
        let distance = input.position - (input.mark ?? start)
        input.mark = nil
        guard isDeclaration else {
            input.position -= distance
            return
        }
        try skipSpace()
        guard try input.take("version"), try pseudoAttribute().hasPrefix("1.") else {
            throw try unexpected("The XML declaration is malformed, or its version is not 1.")
        }
        var hasSpace = try skipSpace()
        if hasSpace, try input.take("encoding") {
            declaredEncoding = try pseudoAttribute()
            hasSpace = try skipSpace()
        }
        if hasSpace, try input.take("standalone") {
            _ = try pseudoAttribute()
            try skipSpace()
        }
        guard try input.take("?>") else { throw try unexpected("The XML declaration is malformed.") }
    }

    private func pseudoAttribute() throws -> String {
        try skipSpace()
        guard try input.take("=") else { throw try unexpected("The XML declaration is malformed.") }
        try skipSpace()
        return try readAttributeValue("of the XML declaration")
    }

    /// Skips a document type after `<!DOCTYPE`.
    func skipDocumentType() throws {
        let error = XMLError(
            .documentType, "A document type is not allowed: it could name other files and entities.", at: place)
        guard case .withoutDeclarations = documentTypes, !hasDocumentType else { throw error }
        hasDocumentType = true
        guard try skipSpace() else { throw try unexpected("The document type is malformed.") }
        _ = try readName(of: "the document type")
        try skipSpace()
        let identifiers = try input.take("PUBLIC") ? 2 : input.take("SYSTEM") ? 1 : 0
        for _ in 0..<identifiers {
            guard try skipSpace() else { throw try unexpected("The document type is malformed.") }
            try skipLiteral()
        }
        try skipSpace()
        if try input.peek() == UInt8(ascii: "[") { throw error }
        guard try input.take(">") else { throw try unexpected("The document type is malformed.") }
    }

    private func skipLiteral() throws {
        guard let quote = try input.peek(), quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            throw try unexpected("The document type is malformed.")
        }
        repeat { input.position += 1 } while try checkedByte() != quote
        input.position += 1
    }

    /// Skips a comment after `<!--`.
    func skipComment() throws {
        while true {
            if try checkedByte() != UInt8(ascii: "-") {
                input.position += 1
            } else if try input.take("--") {
                guard try input.take(">") else { throw try unexpected("A comment contains \"--\".") }
                return
            } else {
                input.position += 1
            }
        }
    }

    /// Skips a processing instruction after `<?`.
    func skipInstruction() throws {
        let target = try readName(of: "a processing instruction")
        guard target.lowercased() != "xml" else {
            throw try unexpected("An XML declaration is not at the document's beginning.")
        }
        if try input.take("?>") { return }
        guard try skipSpace() else { throw try unexpected("The processing instruction \(target) is malformed.") }
        while try !input.take("?>") {
            _ = try checkedByte()
            input.position += 1
        }
    }

    /// The next byte, which must be part of a character that a document may contain.
    private func checkedByte() throws -> UInt8 {
        guard let byte = try input.peek() else { throw truncated }
        let isControl = byte < 0x20 && !XMLCharacters.isSpace(byte)
        let isNoncharacter =
            byte == 0xEF && input.base[input.position + 1] == 0xBF && input.base[input.position + 2] >= 0xBE
        guard !isControl, !isNoncharacter else {
            throw failure("The document contains a character that XML does not allow.")
        }
        return byte
    }
}
