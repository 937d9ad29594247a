/// The `#if` conditions of a line: whether the line is compiled outside Apple's platforms.
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
        let words = String(decoding: line, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        guard let directive = words.first else { return false }
        let condition = words.dropFirst().joined(separator: " ")
        switch directive {
        case "#if":
            let value = Self.value(of: condition)
            levels.append(Level(isCompiled: value ?? true, isDecided: value ?? false))
            if value == false { skippedLevels += 1 }
        case "#elseif":
            let value = Self.value(of: condition)
            change { level in
                level.isCompiled = !level.isDecided && value ?? true
                level.isDecided = level.isDecided || value ?? false
            }
        case "#else": change { $0.isCompiled = !$0.isDecided }
        case "#endif": if levels.popLast()?.isCompiled == false { skippedLevels -= 1 }
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
        guard parts.count == 2 else { return nil }
        switch parts[0] {
        case "canImport": return PortingRule.appleModules.contains(parts[1]) ? false : nil
        case "os": return ["iOS", "macOS", "tvOS", "watchOS", "visionOS", "OSX"].contains(parts[1]) ? false : nil
        default: return nil
        }
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
