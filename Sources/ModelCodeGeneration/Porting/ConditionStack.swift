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

    /// The value of a condition outside Apple's platforms; nil if it is unknown. Splits at `||` before `&&`; a
    /// condition with parentheses around a part is unknown.
    package static func value(of condition: String) -> Bool? {
        let alternatives = condition.components("||").map { alternative -> Bool? in
            let parts = alternative.components("&&").map(simpleValue)
            if parts.contains(false) { return false }
            return parts.contains(nil) ? nil : true
        }
        if alternatives.contains(true) { return true }
        return alternatives.contains(nil) ? nil : false
    }

    private static func simpleValue(of text: String) -> Bool? {
        let negations = text.prefix { $0 == "!" }.count
        if negations > 0 {
            let value = simpleValue(of: String(text.dropFirst(negations)))
            return negations.isMultiple(of: 2) ? value : value.map { !$0 }
        }
        let parts = text.split(whereSeparator: { "() ".contains($0) }).map(String.init)
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

    /// Whether a macro of C is defined, or not zero, on Apple's platforms only.
    private static func isDefinedByApple(_ macro: String) -> Bool {
        ["__APPLE__", "__OBJC__"].contains(macro) || macro.hasPrefix("TARGET_OS_")
    }
}

extension String {
    /// The parts between separators, without surrounding spaces.
    fileprivate func components(_ separator: String) -> [String] {
        var parts: [[Character]] = [[]]
        var rest = Array(self)[...]
        while let first = rest.first {
            if rest.starts(with: separator) {
                rest = rest.dropFirst(separator.count)
                parts.append([])
            } else {
                parts[parts.count - 1].append(first)
                rest = rest.dropFirst()
            }
        }
        return parts.map { part in
            String(part.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
        }
    }
}
