/// How names of a model are written in Swift.
enum SwiftName {
    /// A name where it is declared or referred to: in backticks when Swift would take it for something else.
    static func identifier(_ name: String) -> String {
        reservedWords.contains(name) ? "`\(name)`" : name
    }

    /// A name with its first letter in upper case, as the names of relationship accessors contain it.
    static func capitalized(_ name: String) -> String {
        name.prefix(1).uppercased() + name.dropFirst()
    }

    /// Whether every managed object has a member of the name already, so that no property can.
    static func isTaken(_ name: String) -> Bool {
        memberNames.contains(name)
    }

    /// The words that need backticks as the name of a member or a type.
    private static let reservedWords: Set<String> = [
        "Any", "Protocol", "Self", "Type", "as", "associatedtype", "break", "case", "catch", "class", "continue",
        "default", "defer", "deinit", "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for",
        "func", "guard", "if", "import", "in", "init", "inout", "internal", "is", "let", "nil", "operator",
        "precedencegroup", "private", "protocol", "public", "repeat", "rethrows", "return", "self", "static", "struct",
        "subscript", "super", "switch", "throw", "throws", "true", "try", "typealias", "var", "where", "while",
    ]

    /// The members of `NSObject` and `NSManagedObject` that a property of the same name would redeclare.
    private static let memberNames: Set<String> = [
        "changedValues", "changedValuesForCurrentEvent", "classForCoder", "copy", "debugDescription", "description",
        "entity", "faultingState", "fetchRequest", "hasChanges", "hasPersistentChangedValues", "hash", "hashValue",
        "isDeleted", "isFault", "isInserted", "isUpdated", "managedObjectContext", "mutableCopy", "objectID",
        "observationInfo", "superclass", "zone",
    ]
}
