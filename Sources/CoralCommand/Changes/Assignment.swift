import ArgumentParser
import Coral

/// A change of one property on the command line: `rank=4`, `author=Person/p1`, `tags+=Tag/p2`.
struct Assignment: ExpressibleByArgument {
    /// What happens to the members of a to-many relationship.
    enum Operation: String {
        case replace = "="
        case add = "+="
        case remove = "-="
    }

    /// The argument as it was written.
    let text: String
    let key: String
    let operation: Operation
    /// The value: text, `null`, a string as in JSON, or `@` and the path of a file.
    let value: String

    init?(argument: String) {
        guard let match = argument.prefixMatch(of: /([^=]+?)([+-]?=)/),
            let operation = Operation(rawValue: String(match.2))
        else { return nil }
        text = argument
        key = String(match.1)
        self.operation = operation
        value = String(argument[match.range.upperBound...])
    }
}
