/// The `#if` conditions of a line of Swift or C: whether the line is compiled outside Apple's platforms.
///
/// An unknown condition may be true, so that no code is skipped by mistake.
package struct ConditionStack {
    private struct Level {
        /// Whether the current branch is compiled.
        var isCompiled: Bool
        /// Whether a preceding branch is certainly compiled, so that no other can be.
        var isDecided: Bool
    }

    private var levels: [Level] = []
    /// The number of levels whose current branch is not compiled.
    private var skippedLevels = 0

    /// Whether the next line is compiled.
    var isCompiled: Bool { skippedLevels == 0 }

    /// Processes a line that is a directive. False if it is not one.
    mutating func take(_ line: [UInt8]) -> Bool {
        guard line.first(where: { !SwiftCode.isSpace($0) }) == UInt8(ascii: "#") else { return false }
        let text = String(decoding: line, as: UTF8.self).drop { $0.isWhitespace || $0 == "#" }
        let directive = text.prefix(while: \.isLetter)
        let words = text.dropFirst(directive.count).split(whereSeparator: \.isWhitespace).joined(separator: " ")
        switch directive {
        case "if", "ifdef", "ifndef":
            let value = Self.value(
                of: directive == "if" ? words : "\(directive == "ifndef" ? "!" : "")defined(\(words))")
            levels.append(Level(isCompiled: value ?? true, isDecided: value ?? false))
            if value == false { skippedLevels += 1 }
        case "elseif", "elif":
            let value = Self.value(of: words)
            change { level in
                level.isCompiled = !level.isDecided && value ?? true
                level.isDecided = level.isDecided || value ?? false
            }
        case "else": change { $0.isCompiled = !$0.isDecided }
        case "endif": if levels.popLast()?.isCompiled == false { skippedLevels -= 1 }
        default: return false
        }
        return true
    }

    private mutating func change(_ change: (inout Level) -> Void) {
        guard var level = levels.popLast() else { return }
        if !level.isCompiled { skippedLevels -= 1 }
        change(&level)
        if !level.isCompiled { skippedLevels += 1 }
        levels.append(level)
    }

    /// The value of a condition outside Apple's platforms; nil if it is unknown.
    package static func value(of condition: String) -> Bool? {
        var condition = Condition(condition)
        return condition.value()
    }
}

/// A condition of `#if`, with the operators `!`, `&&` and `||` and parentheses. Whatever else it contains makes its value unknown.
private struct Condition {
    private var rest: Substring
    /// The number of parentheses that enclose the position.
    private var depth = 0
    private static let deepest = 50

    init(_ text: String) { rest = text[...] }

    mutating func value() -> Bool? {
        let value = alternatives()
        skipSpaces()
        return rest.isEmpty ? value : nil
    }

    private mutating func alternatives() -> Bool? {
        var values = [conjunction()]
        while take("||") { values.append(conjunction()) }
        return values.contains(true) ? true : values.contains(nil) ? nil : false
    }

    private mutating func conjunction() -> Bool? {
        var values = [factor()]
        while take("&&") { values.append(factor()) }
        return values.contains(false) ? false : values.contains(nil) ? nil : true
    }

    private mutating func factor() -> Bool? {
        var isNegated = false
        while take("!") { isNegated.toggle() }
        let value: Bool?
        if depth < Self.deepest, take("(") {
            depth += 1
            value = alternatives()
            depth -= 1
            // What is left makes the value of the whole condition unknown.
            guard take(")") else { return nil }
        } else {
            value = Self.value(ofTerm: term())
        }
        return isNegated ? value.map { !$0 } : value
    }

    /// The text up to the next operator outside of parentheses, or to the end of the enclosing ones.
    private mutating func term() -> String {
        var (text, open) = ("", 0)
        while let first = rest.first, open > 0 || first != ")" && !rest.hasPrefix("&&") && !rest.hasPrefix("||") {
            if first == "(" { open += 1 }
            if first == ")" { open -= 1 }
            text.append(first)
            rest.removeFirst()
        }
        return text
    }

    private mutating func take(_ sign: String) -> Bool {
        skipSpaces()
        guard rest.hasPrefix(sign) else { return false }
        rest.removeFirst(sign.count)
        return true
    }

    private mutating func skipSpaces() { rest = rest.drop(while: \.isWhitespace) }

    private static func value(ofTerm text: String) -> Bool? {
        let parts = text.split { $0.isWhitespace || "()".contains($0) }.map(String.init)
        if let last = parts.last, parts.count == 1 || parts[0] == "defined", parts.count < 3 {
            return isDefinedByApple(last) ? false : nil
        }
        guard parts.count == 2 else { return nil }
        switch parts[0] {
        case "canImport": return PortingRule.appleModules.contains(parts[1]) ? false : nil
        case "os": return ["iOS", "macOS", "tvOS", "watchOS", "visionOS", "OSX"].contains(parts[1]) ? false : nil
        case "__has_include": return PortingRule.isAppleHeader(parts[1].drop { $0 == "<" }) ? false : nil
        default: return nil
        }
    }

    /// Whether a macro of C is defined, or not zero, on Apple's platforms only. A comparison is none.
    private static func isDefinedByApple(_ macro: String) -> Bool {
        guard macro.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" }) else { return false }
        return ["__APPLE__", "__OBJC__"].contains(macro) || macro.hasPrefix("TARGET_OS_")
    }
}
