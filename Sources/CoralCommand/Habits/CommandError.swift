import Coral

/// An error that a command reports to the user.
struct CommandError: Error, CustomStringConvertible {
    /// A sentence with the problem and, if possible, its solution.
    let message: String

    init(_ message: String) { self.message = message }

    var description: String { message }

    /// The error for an unknown entity name.
    static func noEntity(_ name: String, in names: some Sequence<String>) -> CommandError {
        CommandError("The model has no entity \"\(name)\".\(hint(for: name, in: names))")
    }

    /// The most similar name, as a question; otherwise all names, if there are few.
    static func hint(for name: String, in names: some Sequence<String>) -> String {
        let question = NameSuggestion.question(for: name, in: names)
        let all = names.sorted()
        return question.isEmpty && all.count <= 20 ? " There are: \(all.joined(separator: ", "))." : question
    }
}
