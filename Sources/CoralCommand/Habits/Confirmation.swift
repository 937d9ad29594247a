import Foundation

/// Questions to the person at the terminal.
enum Confirmation {
    /// Whether a person says yes. Where nobody is there to ask, as in a script, the answer is no.
    static func isGiven(_ question: String) -> Bool {
        guard Terminal.isConnected(.input), Terminal.isConnected(.error) else { return false }
        StandardError.write("\(question) [y/N] ")
        return ["y", "yes"].contains((readLine() ?? "").trimmingCharacters(in: .whitespaces).lowercased())
    }
}
