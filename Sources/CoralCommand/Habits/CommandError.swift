/// Why a command cannot do what it was asked.
struct CommandError: Error, CustomStringConvertible {
    /// What is wrong and, where there is something, what to do, as a sentence.
    let message: String

    init(_ message: String) { self.message = message }

    var description: String { message }
}
