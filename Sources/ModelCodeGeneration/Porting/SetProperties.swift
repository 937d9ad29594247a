/// The properties of a package that are `NSSet`s, to which an array literal cannot be assigned here.
package struct SetProperties {
    /// Whether all declarations of a property are of type `NSSet`, by its name.
    private var names: [String: Bool] = [:]

    /// Searches files of a package for the declarations. A name that is also declared with another type is omitted.
    package init(texts: some Sequence<String>) {
        let texts = Array(texts)
        guard texts.contains(where: { $0.contains("NSSet") }) else { return }
        for line in texts.lazy.filter({ $0.contains("var ") }).flatMap(SwiftCode.lines) {
            let words = SwiftCode.words(of: line)
            guard let keyword = words.firstIndex(where: { $0.text == "var" }), keyword + 1 < words.count else {
                continue
            }
            let name = words[keyword + 1]
            let rest = line[(name.column + name.text.count)...].drop(while: \.isWhitespace)
            guard rest.first == ":" else { continue }
            let isSet = String(rest.dropFirst().drop(while: \.isWhitespace).prefix(while: \.isLetter)) == "NSSet"
            names[name.text] = isSet && names[name.text] ?? true
        }
        names = names.filter { $0.value }
    }

    package func contains(_ name: String) -> Bool { names[name] != nil }

    /// The columns of array literals that are assigned to such a property in a line of code.
    func literals(in line: [Character]) -> [Int] {
        guard !names.isEmpty else { return [] }
        return line.indices.filter { index in
            guard line[index] == "[" else { return false }
            let before = line[..<index].reversed().drop(while: \.isWhitespace)
            guard before.first == "=" else { return false }
            let path = before.dropFirst().drop(while: \.isWhitespace)
            let name = String(path.prefix { $0.isLetter || $0.isNumber || $0 == "_" }.reversed())
            return contains(name) && path.dropFirst(name.count).first == "."
        }
    }
}
