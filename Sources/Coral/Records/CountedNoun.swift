/// `1 object`, `12 objects`: a number with its noun, for messages.
package func counted(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
