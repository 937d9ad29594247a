/// The calls in a file that wait for XCTest's expectations without a time limit, which is a parameter without a default here.
struct ExpectationWaits {
    /// The beginnings of the calls: the name, and the first argument's label.
    private static let calls = ["wait(for:", "fulfillment(of:"].map(Array.init)

    /// A call whose parenthesis is open.
    private struct Call {
        let line: Int, column: Int
        let name: String
        var depth = 0
        var hasTimeout = false
        /// Whether its arguments are expectations. Functions of the package may have the same name.
        var hasExpectations: Bool
    }

    private var call: Call?

    /// Processes a line of code.
    ///
    /// - Returns: The positions and names of calls that end in the line.
    mutating func take(_ line: [Character], _ number: Int) -> [(line: Int, column: Int, name: String)] {
        var found: [(line: Int, column: Int, name: String)] = []
        for (index, character) in line.enumerated() {
            if call == nil, let start = Self.calls.first(where: { line[index...].starts(with: $0) }),
                index == 0 || !line[index - 1].isLetter,
                !line[..<index].split(separator: " ").contains(Array("func")[...])
            {
                let argument = line[(index + start.count)...].drop(while: \.isWhitespace).first
                call = Call(
                    line: number, column: index, name: String(start.prefix { $0 != "(" }),
                    hasExpectations: argument == nil || argument == "[")
            }
            guard call != nil else { continue }
            switch character {
            case "(": call?.depth += 1
            case ")":
                call?.depth -= 1
                if let ended = call, ended.depth == 0 {
                    if !ended.hasTimeout, ended.hasExpectations { found.append((ended.line, ended.column, ended.name)) }
                    call = nil
                }
            default:
                if line[index...].starts(with: "timeout:") { call?.hasTimeout = true }
                if line[index...].starts(with: "xpectation"), call?.depth == 1 { call?.hasExpectations = true }
            }
        }
        return found
    }
}
