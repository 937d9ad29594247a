import Foundation
import ModelFiles

/// Decides which branches of `#if` are compiled on Apple's platforms.
///
/// Where the value of a condition depends on the build, the first branch is taken, and its tokens note the condition. A
/// declaration that matters to a model and depends on such a condition is an error.
enum SourceConditions {
    /// The tokens that are compiled. A branch that may be compiled instead leaves a directive `#else` at its place.
    static func resolved(_ tokens: [SourceToken], file: String) throws -> [SourceToken] {
        var levels: [Level] = []
        var resolved: [SourceToken] = []
        resolved.reserveCapacity(tokens.count)
        for var token in tokens {
            guard token.kind == .directive else {
                guard levels.allSatisfy(\.isTaken) else { continue }
                token.condition = levels.last { $0.isUnknown }?.line
                resolved.append(token)
                continue
            }
            let (word, condition) = parts(of: token.text)
            if word == "#if" {
                let value = value(of: condition[...])
                levels.append(
                    Level(
                        line: token.line, isTaken: value != false, isUnknown: value == nil, isDecided: value != false))
                continue
            }
            guard var level = levels.popLast() else {
                throw ModelError(.malformedFile, "There is no #if for this \(word).", file: file, line: token.line)
            }
            if word == "#endif" { continue }
            if level.isDecided {
                if level.isUnknown, levels.allSatisfy(\.isTaken) {
                    token.condition = level.line
                    resolved.append(token)
                }
                level.isTaken = false
            } else {
                let value = word == "#else" ? true : value(of: condition[...])
                (level.isTaken, level.isUnknown, level.isDecided) = (value != false, value == nil, value != false)
            }
            levels.append(level)
        }
        if let open = levels.first {
            throw ModelError(.malformedFile, "This #if has no #endif.", file: file, line: open.line)
        }
        return resolved
    }

    private struct Level {
        let line: Int
        var isTaken: Bool
        /// Whether the value of the taken branch's condition is not known.
        var isUnknown: Bool
        var isDecided: Bool
    }

    private static func parts(of directive: String) -> (word: String, condition: String) {
        let end = directive.firstIndex { $0.isWhitespace || $0 == "(" || $0 == "!" } ?? directive.endIndex
        return (String(directive[..<end]), directive[end...].filter { !$0.isWhitespace })
    }

    /// The value of a condition without spaces on Apple's platforms; nil if it depends on the build. Recursive for operators
    /// and parentheses, of which only so many levels are read.
    private static func value(of condition: Substring, depth: Int = 0) -> Bool? {
        guard depth < 64 else { return nil }
        let alternatives = operands(of: condition, joinedBy: "|")
        if alternatives.count > 1 {
            let values = alternatives.map { value(of: $0, depth: depth + 1) }
            if values.contains(true) { return true }
            return values.contains(nil) ? nil : false
        }
        let requirements = operands(of: condition, joinedBy: "&")
        if requirements.count > 1 {
            let values = requirements.map { value(of: $0, depth: depth + 1) }
            if values.contains(false) { return false }
            return values.contains(nil) ? nil : true
        }
        if condition.hasPrefix("!") { return value(of: condition.dropFirst(), depth: depth + 1).map { !$0 } }
        if condition.hasPrefix("("), condition.hasSuffix(")") {
            return value(of: condition.dropFirst().dropLast(), depth: depth + 1)
        }
        return simpleValue(of: String(condition))
    }

    /// The parts between `||` or `&&` that are not in parentheses.
    private static func operands(of condition: Substring, joinedBy sign: Character) -> [Substring] {
        var level = 0
        return condition.split { character in
            if character == "(" { level += 1 }
            if character == ")" { level -= 1 }
            return level == 0 && character == sign
        }
    }

    private static let frameworks = [
        "SwiftData", "CoreData", "Foundation", "Observation", "SwiftUI", "Combine", "Darwin",
    ]
    private static let otherSystems = ["Linux", "Windows", "Android", "WASI", "FreeBSD", "OpenBSD"]

    private static func simpleValue(of text: String) -> Bool? {
        if text == "true" || text == "1" { return true }
        if text == "false" || text == "0" { return false }
        guard text.hasSuffix(")") else { return nil }
        let name = String(text.dropLast())
        if frameworks.contains(where: { name == "canImport(\($0)" }) { return true }
        if otherSystems.contains(where: { name == "os(\($0)" }) { return false }
        if name.hasPrefix("swift(>=") || name.hasPrefix("compiler(>=") { return true }
        return nil
    }
}
