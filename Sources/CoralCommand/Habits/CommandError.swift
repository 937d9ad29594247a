import Coral

/// Why a command cannot do what it was asked.
struct CommandError: Error, CustomStringConvertible {
    /// What is wrong and, where there is something, what to do, as a sentence.
    let message: String

    init(_ message: String) { self.message = message }

    var description: String { message }

    /// There is no entity of that name.
    static func noEntity(_ name: String, in names: some Sequence<String>) -> CommandError {
        CommandError("The model has no entity \"\(name)\".\(hint(for: name, in: names))")
    }

    /// What may have been meant by a name; else all names, where they are not many.
    static func hint(for name: String, in names: some Sequence<String>) -> String {
        let question = NameSuggestion.question(for: name, in: names)
        let all = names.sorted()
        return question.isEmpty && all.count <= 20 ? " There are: \(all.joined(separator: ", "))." : question
    }
}
