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
        guard let sign = argument.firstIndex(of: "="), sign > argument.startIndex else { return nil }
        // A plus or minus before the equals sign is part of the operation, unless it is the whole key.
        let last = argument.index(before: sign)
        let end = last > argument.startIndex && "+-".contains(argument[last]) ? last : sign
        guard let operation = Operation(rawValue: String(argument[end...sign])) else { return nil }
        text = argument
        key = String(argument[..<end])
        self.operation = operation
        value = String(argument[sign...].dropFirst())
    }
}
