/// Reads names of types: `[Note]`, `Trip.Stop?`, `Result<Int, any Error>`.
extension SourceParser {
    mutating func readTypeName() throws -> SourceTypeName {
        try enter()
        defer { depth -= 1 }
        let start = index
        while isSign("@") || isWord("inout") || isWord("sending") || isWord("__owned") {
            if isSign("@") { _ = try readAttribute() } else { index += 1 }
        }
        let isExistential = isWord("any") || isWord("some") || isSign("~")
        if isExistential { index += 1 }
        var type = try readSimpleTypeName()
        var isOther = isExistential
        while let token {
            if token.isSign("?") || token.isSign("!"), !token.followsSpace {
                type = .optional(type)
                index += 1
            } else if token.isSign("&"), !token.beginsLine {
                index += 1
                _ = try readSimpleTypeName()
                isOther = true
            } else if token.isSign("-"), isSign(">", at: 1) {
                index += 2
                _ = try readTypeName()
                isOther = true
            } else if token.isWord("async") || token.isWord("throws"), !token.beginsLine {
                index += 1
                isOther = true
            } else {
                break
            }
        }
        guard isOther else { return type }
        let text = tokens[start..<index].map { ($0.followsSpace ? " " : "") + $0.text }.joined()
        return .other(text.first == " " ? String(text.dropFirst()) : text)
    }

    private mutating func readSimpleTypeName() throws -> SourceTypeName {
        let start = index
        if isSign("(") {
            let inner = try bracketed()
            // One type in parentheses is that type.
            if Self.parts(of: inner).count == 1, !inner.contains(where: { $0.isSign(":") }),
                !(isSign("-") && isSign(">", at: 1))
            {
                let end = index
                index = start + 1
                let type = try readTypeName()
                if index == end - 1 {
                    index = end
                    return type
                }
                index = end
            }
            return .other(tokens[start..<index].map(\.text).joined())
        }
        if isSign("[") {
            index += 1
            let first = try readTypeName()
            var type = SourceTypeName.array(first)
            if isSign(":") {
                index += 1
                type = .dictionary(first, try readTypeName())
            }
            guard isSign("]") else { throw failure("The type that begins here has no end.", tokens[start].line) }
            index += 1
            return type
        }
        var path: [String] = []
        var arguments: [SourceTypeName] = []
        while let token, token.kind == .word {
            path.append(token.text)
            index += 1
            if isSign("<") {
                arguments = []
                repeat {
                    index += 1
                    arguments.append(try readTypeName())
                } while isSign(",")
                guard isSign(">") else { throw failure("The < of \(token.text) has no end.") }
                index += 1
            }
            guard isSign("."), self.token(at: 1)?.kind == .word else { break }
            index += 1
        }
        guard !path.isEmpty else { throw failure("A type is missing.") }
        if path.last == "Type" || path.last == "Protocol", path.count > 1 { return .other(path.joined(separator: ".")) }
        return .named(path, arguments)
    }
}
