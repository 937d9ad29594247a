/// A property or a function that is declared with `@NSManaged`.
struct ManagedDeclaration {
    enum Kind {
        /// A property with the type as it is written.
        case property(type: String)
        /// A function that changes a to-many relationship, with its parameters as they are written, in parentheses.
        case function(parameters: String, values: [RelationshipFunction.Parameter])
    }

    /// The names of the class and of the types that enclose it, the outermost first.
    let owner: [String]
    /// The name, without backticks.
    let name: String
    let kind: Kind
    /// The access level that is written, or that the extension has.
    let access: String
    /// The file's path and the line, starting at 1.
    let file: String, line: Int

    /// The access level of the accessor: it is called from outside its file even if the property is private.
    var accessorAccess: String {
        switch access {
        case "open", "public": "public "
        case "package": "package "
        default: ""
        }
    }

    var isPrivate: Bool { ["private", "fileprivate"].contains(access) }

    /// The type of a property's values: that of `String!` is `String?`.
    static func valueType(_ type: String) -> String { type.hasSuffix("!") ? type.dropLast() + "?" : type }
}

/// A declaration for which no accessor can be written.
package struct ManagedDeclarationMistake: Error, Sendable, Equatable {
    /// The file's path and the line, starting at 1.
    package let file: String, line: Int
    /// A description of the mistake, in one sentence.
    package let sentence: String

    /// The mistake in the format of compilers.
    package var compilerMessage: String { "\(file):\(line): error: \(sentence)" }
}
