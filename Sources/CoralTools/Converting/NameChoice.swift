/// Chooses names that differ from each other, as names in SQL do: regardless of the case of ASCII letters.
package struct NameChoice {
    private var taken: Set<String>
    private let separator: String

    /// - Parameter separator: The separator between a name and its number.
    package init(taken names: some Sequence<String>, separator: String = " ") {
        taken = Set(names.map(Self.folded))
        self.separator = separator
    }

    /// The name, or the name with the first number that makes it different from the others: `Note 2`.
    package mutating func choose(_ name: String) -> String {
        var candidate = name
        var number = 2
        while !taken.insert(Self.folded(candidate)).inserted {
            candidate = "\(name)\(separator)\(number)"
            number += 1
        }
        return candidate
    }

    /// SQLite ends a name at a NUL, and compares bytes otherwise.
    private static func folded(_ name: String) -> String {
        String(
            decoding: SQLText.withoutNul(name).utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
    }
}
