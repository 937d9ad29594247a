/// Calls of initialisers of Core Data's classes by a variable that has the class, as `type.init(fetchRequest: …)`: the compiler accepts
/// them for classes of Objective-C, and elsewhere for required initialisers only.
struct VariableInitializers {
    /// The first labels of such initialisers, which no other class of Core Data or Foundation has.
    private static let labels: Set<String> = ["concurrencyType", "fetchRequest"]
    private static let call = Array(".init(".utf8)

    /// A call whose arguments begin in a later line.
    private var waiting: (line: Int, column: Int)?

    /// Processes a line of code, and returns the positions of the calls whose first label is in it.
    mutating func take(_ line: [UInt8], _ number: Int) -> [(line: Int, column: Int)] {
        var found: [(line: Int, column: Int)] = []
        if let place = waiting, line.contains(where: { !SwiftCode.isSpace($0) }) {
            if Self.beginsWithLabel(line[...]) { found.append(place) }
            waiting = nil
        }
        for column in line.indices where SwiftCode.isText(Self.call, in: line, at: column) {
            guard Self.endsWithVariable(line[..<column]) else { continue }
            let arguments = line[(column + Self.call.count)...].drop(while: SwiftCode.isSpace)
            if arguments.isEmpty {
                waiting = (number, column + 1)
            } else if Self.beginsWithLabel(arguments) {
                found.append((number, column + 1))
            }
        }
        return found
    }

    private static func beginsWithLabel(_ code: ArraySlice<UInt8>) -> Bool {
        let code = code.drop(while: SwiftCode.isSpace)
        let label = code.prefix(while: SwiftCode.isWord)
        return code.dropFirst(label.count).first == UInt8(ascii: ":")
            && labels.contains(String(decoding: label, as: UTF8.self))
    }

    /// Whether code ends with the name of a variable: not of a type, nor `self` or `super`.
    private static func endsWithVariable(_ code: ArraySlice<UInt8>) -> Bool {
        let word = code.reversed().prefix(while: SwiftCode.isWord).reversed()
        let name = String(decoding: Array(word), as: UTF8.self)
        return name.first?.isLowercase == true && name != "self" && name != "super"
    }
}
