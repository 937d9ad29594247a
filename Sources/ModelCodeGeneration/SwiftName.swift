/// The form of a model's names in Swift.
package enum SwiftName {
    /// A name in a declaration or reference: in backticks when it is a reserved word.
    package static func identifier(_ name: String) -> String {
        reservedWords.contains(name) ? "`\(name)`" : name
    }

    /// A name with its first letter in upper case, as in the names of relationship accessors.
    package static func capitalized(_ name: String) -> String {
        name.prefix(1).uppercased() + name.dropFirst()
    }

    /// Whether a text is a name in Swift, in backticks if it is a reserved word. Names in a model become code, and the model may
    /// be from a file that is not trusted.
    package static func isName(_ text: String) -> Bool {
        guard let first = text.unicodeScalars.first, first == "_" || first.properties.isXIDStart else { return false }
        return text != "_" && text.unicodeScalars.allSatisfy(\.properties.isXIDContinue)
    }

    /// Whether a text contains only what the name of a type does: names, and the signs of collections, optionals, tuples,
    /// functions and protocols.
    package static func isType(_ text: String) -> Bool {
        guard let first = text.unicodeScalars.first,
            first == "_" || first == "[" || first == "(" || first.properties.isXIDStart
        else { return false }
        let signs = " <>[](),.:?!&-".unicodeScalars
        return text.unicodeScalars.allSatisfy { $0.properties.isXIDContinue || signs.contains($0) }
    }

    /// Whether `NSManagedObject` has a member with the name, so that no property can have it.
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

/// Builds Swift text, indented by four spaces.
struct SwiftText {
    /// The beginning of generated files.
    static let heading = "// Generated from "

    private var text: String
    private var depth = 0

    /// Begins a file for the user to edit, or, with a model's name, a generated one.
    init(modelName: String? = nil) {
        text = ""
        if let modelName {
            text = "\(Self.heading)\(Self.line(of: modelName)). Do not edit: change the model instead.\n\n"
        }
        text += "import CoreData\nimport Foundation\n\n"
    }

    /// A name as a part of a comment: after a line break it would be code.
    static func line(of name: String) -> String {
        name.split(whereSeparator: \.isNewline).joined(separator: " ")
    }

    /// Begins a generated file with its heading and imports.
    init(heading: String, imports: [String]) {
        text = heading + "\n" + imports.map { $0 + "\n" }.joined() + "\n"
    }

    /// Writes a line, or an empty one.
    mutating func line(_ line: String = "") {
        if !line.isEmpty { text += String(repeating: "    ", count: depth) + line }
        text += "\n"
    }

    /// Writes a head, an indented body, and a closing brace.
    mutating func block(_ head: String, _ body: (inout SwiftText) -> Void) {
        line(head + " {")
        depth += 1
        body(&self)
        depth -= 1
        line("}")
    }

    /// The text, with one line break at its end.
    func finished() -> String {
        var finished = Substring(text)
        while finished.hasSuffix("\n\n") { finished.removeLast() }
        return String(finished)
    }
}
