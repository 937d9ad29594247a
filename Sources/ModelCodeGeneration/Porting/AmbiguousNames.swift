/// Types that the modules of a package declare under names of Foundation's types: a file that imports both modules must name the
/// module of such a type, because Foundation is imported with Core Data here.
package struct AmbiguousNames {
    /// Types that were added to Foundation after packages had declared types with the same names.
    package static let foundation: Set<String> = [
        "AttributedString", "Expression", "InflectionRule", "KeyPathComparator", "Morphology", "Predicate",
        "PredicateExpressions", "SortComparator", "SortDescriptor", "SortOrder", "TermOfAddress",
    ]
    /// Modules that are Foundation or export it.
    private static let exporting: Set<String> = ["CoreData", "Coral", "CoralTesting", "Foundation", "XCTest"]
    private static let kinds: Set<String> = ["actor", "class", "enum", "protocol", "struct", "typealias"]

    /// Whether the type is public, by the name of the type and the module.
    private var types: [String: [String: Bool]] = [:]

    /// Searches files of a package for the declarations. The module is the folder of its sources.
    package init(files: some Sequence<(text: String, module: String)>) {
        for (text, module) in files where Self.foundation.contains(where: text.contains) {
            for line in SwiftCode.lines(of: text) where line.first?.isLetter == true || line.first == "@" {
                // The text after a brace in the line declares members.
                let words = SwiftCode.words(of: Array(line.prefix { $0 != "{" })).map(\.text)
                guard let keyword = words.firstIndex(where: Self.kinds.contains), keyword + 1 < words.count,
                    Self.foundation.contains(words[keyword + 1])
                else { continue }
                let isPublic = words[..<keyword].contains { $0 == "public" || $0 == "open" }
                types[words[keyword + 1], default: [:]][Self.name(of: module)] = isPublic
            }
        }
    }

    private static func name(of module: String) -> String {
        module.split(separator: "/").last.map(String.init) ?? module
    }

    /// The ambiguous names in a file of a module, each with the module to write before it.
    package func names(in text: String, module: String) -> [String: String] {
        let used = types.keys.filter { text.contains($0) && types[$0]?[Self.name(of: module)] == nil }
        guard !used.isEmpty else { return [:] }
        var imported: [String: Bool] = [:]
        for line in SwiftCode.lines(of: text) {
            let words = SwiftCode.words(of: line).map(\.text)
            guard let keyword = words.firstIndex(of: "import"), let name = words.last else { continue }
            imported[name] = words[..<keyword].contains("testable")
        }
        guard imported.keys.contains(where: Self.exporting.contains) else { return [:] }
        var names: [String: String] = [:]
        for type in used {
            let modules = (types[type] ?? [:]).filter { module, isPublic in
                imported[module].map { isPublic || $0 } ?? false
            }
            names[type] = modules.keys.min()
        }
        return names
    }
}
