import Foundation

/// The public methods and properties that the engine's sources declare for a class.
enum PublicMembers {
    /// The names with argument labels, without those that only the toolkit can call.
    static func names(of name: String) throws -> Set<String> {
        let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../Sources")
        var names: Set<String> = []
        for module in ["ManagedObjects", "FollowedResults"] {
            let folder = sources.appendingPathComponent(module).standardizedFileURL
            guard let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil) else {
                throw CocoaError(.fileReadNoSuchFile)
            }
            for case let file as URL in files where file.pathExtension == "swift" {
                names.formUnion(try Self.names(of: name, in: String(contentsOf: file, encoding: .utf8)))
            }
        }
        return names
    }

    /// The sources are formatted: a declaration at the top begins a line and ends with a brace at the beginning of another,
    /// and its members are indented by four spaces. One without members ends on its own line.
    private static func names(of name: String, in text: String) throws -> Set<String> {
        let beginning = try Regex("^(open |public |final )*(class|extension) \\Q\(name)\\E\\b(?!\\.)")
        let member = /^ {4}(?:@(?!_spi)\S+ )*(?:open|public) (?:[a-z]+ )*(func|var|init)\b ?`?(\w*)/
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        var names: Set<String> = []
        var isInside = false
        for (number, line) in lines.enumerated() {
            if line == "}" {
                isInside = false
            } else if line.firstMatch(of: beginning) != nil {
                isInside = !line.hasSuffix("}") && (number == 0 || !lines[number - 1].hasPrefix("@_spi"))
            } else if isInside, let match = line.firstMatch(of: member) {
                if match.1 == "var" {
                    names.insert(String(match.2))
                } else {
                    let rest = lines[number..<min(number + 8, lines.count)].joined(separator: " ")
                    names.insert((match.1 == "init" ? "init" : String(match.2)) + labels(of: rest))
                }
            }
        }
        return names
    }

    /// The argument labels of a declaration: `(_:forKey:)`.
    private static func labels(of declaration: String) -> String {
        var labels = ""
        var depth = 0
        var parameter = ""
        var previous: Character = " "
        for character in declaration.drop(while: { $0 != "(" }) {
            defer { previous = character }
            let isArrow = character == ">" && previous == "-"
            if ")]}>".contains(character), !isArrow { depth -= 1 }
            if depth == 0 ? character == ")" : depth == 1 && character == "," {
                let label = parameter.prefix { $0 != ":" }.split(separator: " ").first
                if let label { labels += "\(label):" }
                parameter = ""
                if depth == 0 { break }
            } else if depth > 0 {
                parameter.append(character)
            }
            if "([{<".contains(character) { depth += 1 }
        }
        return "(\(labels))"
    }
}
