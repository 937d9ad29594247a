/// The properties of a package that are `NSSet`s, to which an array literal cannot be assigned here.
package struct SetProperties {
    /// Whether all declarations of a property are of type `NSSet`, by its name.
    private var names: [String: Bool] = [:]

    /// Searches files of a package for the declarations. A name that is declared with another type, too, is left out.
    package init(texts: some Sequence<String>) {
        let lines = texts.filter { $0.contains("NSSet") }.flatMap(SwiftCode.lines)
        for isSet in [true, false] {
            for line in lines {
                let words = SwiftCode.words(of: line)
                guard let keyword = words.firstIndex(where: { $0.text == "var" }), keyword + 2 < words.count else {
                    continue
                }
                let (name, type) = (words[keyword + 1].text, words[keyword + 2])
                guard line[..<type.column].last(where: { !$0.isWhitespace }) == ":" else { continue }
                if isSet == (type.text == "NSSet"), isSet || names[name] != nil { names[name] = isSet }
            }
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
