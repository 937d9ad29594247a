/// The keys of properties without an explicit mapping.
public enum KeyStrategy: Sendable {
    /// The names in the model.
    case same
    /// `profile_image_url` for `profileImageURL`. The model's name is read as an alternative.
    case snakeCase
    /// `profile-image-url` for `profileImageURL`.
    case kebabCase
    /// `ProfileImageURL` for `profileImageURL`.
    case pascalCase
    /// `profileImageURL` for `profile_image_url` or `ProfileImageURL`.
    case camelCase
    /// A function of the entity's and the property's names that returns the keys, in order of preference.
    case custom(@Sendable (_ entity: String, _ property: String) -> [String])

    /// The strategy of that name: `same`, `snake_case`, `kebab-case`, `PascalCase`, `camelCase`.
    package init?(named name: String) {
        switch name {
        case "same": self = .same
        case "snake_case": self = .snakeCase
        case "kebab-case": self = .kebabCase
        case "PascalCase": self = .pascalCase
        case "camelCase": self = .camelCase
        default: return nil
        }
    }

    /// The names for `init(named:)`.
    package static let names = ["same", "snake_case", "kebab-case", "PascalCase", "camelCase"]

    /// The keys of a property, as paths, in order of preference.
    package func keys(of property: String, in entity: String) -> [String] {
        switch self {
        case .same: [property]
        case .snakeCase: unique([words(of: property).joined(separator: "_").lowercased(), property])
        case .kebabCase: [words(of: property).joined(separator: "-").lowercased()]
        case .pascalCase: [property.prefix(1).uppercased() + property.dropFirst()]
        case .camelCase: [camelCase(property)]
        case .custom(let function): function(entity, property)
        }
    }

    private func unique(_ keys: [String]) -> [String] { keys[0] == keys[1] ? [keys[0]] : keys }

    private func camelCase(_ name: String) -> String {
        guard name.contains(where: { $0 == "_" || $0 == "-" }) else {
            return name.prefix(1).lowercased() + name.dropFirst()
        }
        let words = words(of: name)
        return words[0].lowercased() + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    /// The words of a name: `profileImageURLString` has four. A run of capitals is one word, except the last capital
    /// before a lowercase letter.
    private func words(of name: String) -> [String] {
        var words: [String] = [""]
        let letters = Array(name)
        for (index, letter) in letters.enumerated() {
            if letter == "_" || letter == "-" {
                if words[words.count - 1] != "" { words.append("") }
                continue
            }
            if index > 0, letter.isUppercase {
                let follows = letters[index - 1].isLowercase || letters[index - 1].isNumber
                let begins =
                    letters[index - 1].isUppercase && index + 1 < letters.count && letters[index + 1].isLowercase
                if follows || begins, words[words.count - 1] != "" { words.append("") }
            }
            words[words.count - 1].append(letter)
        }
        if words.count > 1, words[words.count - 1] == "" { words.removeLast() }
        return words
    }
}
