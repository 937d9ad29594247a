import Coral

/// How the tables and columns of a plain database are named.
package enum PlainStyle: String, CaseIterable {
    /// As GRDB's records expect: `note`, `createdAt`, `authorId`.
    case grdb
    /// As usual in SQL: `note`, `created_at`, `author_id`.
    case sql

    /// A name made of one or more words: a property's name, or the names of an entity and a relationship.
    func name(_ words: [String]) -> String {
        switch self {
        case .grdb:
            let first = words.first ?? ""
            let rest = words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }
            return Self.lowercasedStart(first) + rest.joined()
        case .sql: return words.map(Self.separated).joined(separator: "_")
        }
    }

    func name(_ words: String...) -> String { name(words) }

    /// The separator between a name and the number that makes it unique.
    var separator: String { self == .grdb ? "" : "_" }

    /// `Note` as `note`, `URLItem` as `urlItem`, `URL` as `url`.
    private static func lowercasedStart(_ word: String) -> String {
        let capitals = word.prefix { $0.isUppercase }
        guard capitals.count > 1, capitals.count < word.count else {
            return capitals.lowercased() + word.dropFirst(capitals.count)
        }
        // The last capital letter begins the next word, unless a digit or an underscore follows.
        let isWord = word[capitals.endIndex].isLowercase
        let start = isWord ? capitals.dropLast() : capitals
        return start.lowercased() + word.dropFirst(start.count)
    }

    /// `createdAt` as `created_at`, `imageURL` as `image_url`.
    private static func separated(_ word: String) -> String {
        let letters = Array(word)
        var result = ""
        for (index, letter) in letters.enumerated() {
            let isStart =
                letter.isUppercase && index > 0 && letters[index - 1] != "_"
                && (!letters[index - 1].isUppercase || index + 1 < letters.count && letters[index + 1].isLowercase)
            result += (isStart ? "_" : "") + letter.lowercased()
        }
        return result
    }
}

/// The type of the keys in a plain database.
package enum PlainKeys: String, CaseIterable {
    /// The primary keys of the store.
    case integer
    /// UUIDs that are computed from the UUID of the store, the entity and the primary key: the same in every conversion.
    case uuid
}

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
