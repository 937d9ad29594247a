import Foundation

/// A position in a source file with code that does not compile outside Apple's platforms.
public struct PortingFinding: Sendable, Hashable {
    /// The file's path.
    public let file: String
    /// The line and the column, starting at 1; columns count characters.
    public let line: Int, column: Int
    /// The code that does not compile.
    public let code: String
    /// The rule, with the replacement.
    public let rule: PortingRule

    /// The finding in the format of compilers: `file:line:column: warning: …`.
    public var message: String {
        "\(file):\(line):\(column): warning: `\(code)` \(rule.problem). \(rule.replacement)"
    }

    /// The findings in every Swift file below a folder, sorted by path, apart from files that a target excludes, and then those in
    /// files of C: includes of Apple's headers. Folders whose names begin with a dot are skipped, and symbolic links are not
    /// followed. `@NSManaged` is not a finding in a target that uses the plugin CoralModelPlugin, which implements it, and otherwise
    /// one for each module. What the package `Apple` declares is none where the manifest names its products. Cost: every file is
    /// read once.
    ///
    /// - Throws: A Foundation error when a file cannot be read.
    public static func findings(below folder: URL) throws -> [PortingFinding] {
        var manifests = PackageManifests()
        let files = try swiftFiles(below: folder).map { url in
            let text = String(decoding: try Data(contentsOf: url), as: UTF8.self)
            return (url: url, text: text, module: SourceModule.folder(of: url, below: folder))
        }
        let ambiguous = AmbiguousNames(files: files.lazy.map { ($0.text, $0.module) })
        let sets = SetProperties(texts: files.lazy.map(\.text))
        var unmanaged: Set<String> = []
        let headers = try cFiles(below: folder).flatMap { url in
            self.headers(in: String(decoding: try Data(contentsOf: url), as: UTF8.self), file: url.path)
        }
        let managed = Dictionary(grouping: files.filter { $0.text.containsBytes(of: "@NSManaged") }, by: \.module)
        let hidden = Dictionary(
            grouping: managed.values.flatMap { files in
                ManagedAccessors.mistakes(in: files.map { ($0.url.path, $0.text) })
            }, by: \.file)
        return files.flatMap { url, text, module in
            let names = ambiguous.names(in: text, module: module)
            let found = findings(in: text, file: url.path, ambiguous: names, sets: sets)
            let manifest = manifests.content(for: url)
            let lacksPlugin = !manifest.usesModelPlugin(for: url) && unmanaged.insert(module).inserted
            // One sentence for a target, because one change of the manifest implements all properties.
            let first = lacksPlugin ? found.first { $0.rule == .managed } : nil
            if lacksPlugin, first == nil { unmanaged.remove(module) }
            return found.filter { finding in
                if manifest.usesAppleModules, PortingRule.ofAppleModules.contains(finding.rule.pattern) { return false }
                return finding.rule != .managed || finding == first
            } + (manifest.usesModelPlugin(for: url) ? hidden[url.path] ?? [] : []).map(PortingFinding.init)
        } + headers
    }

    /// The Swift files below a folder that a package may compile, sorted by path; see ``findings(below:)``.
    package static func swiftFiles(below folder: URL) -> [URL] {
        files(below: folder) { $0.pathExtension == "swift" }
    }

    /// The files of C and Objective-C below a folder that a package may compile, sorted by path: in apps such files belong to projects
    /// of Xcode, and not to targets of a package.
    package static func cFiles(below folder: URL) -> [URL] {
        files(below: folder) { url in
            ["c", "h", "m", "mm", "cpp"].contains(url.pathExtension) && url.pathComponents.contains("Sources")
        }
    }

    private static func files(below folder: URL, where isIncluded: (URL) -> Bool) -> [URL] {
        var files: [URL] = []
        var manifests = PackageManifests()
        let enumerator = FileManager.default.enumerator(
            at: folder, includingPropertiesForKeys: [.isRegularFileKey], options: [.skipsHiddenFiles])
        while let url = enumerator?.nextObject() as? URL {
            if isIncluded(url),
                (try? url.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile) == true,
                !manifests.content(for: url).excludes(url)
            {
                files.append(url)
            }
        }
        return files.sorted { $0.path < $1.path }
    }

    /// The findings in a text. Comments, strings and code that is compiled on Apple's platforms only are skipped.
    public static func findings(in text: String, file: String) -> [PortingFinding] {
        findings(in: text, file: file, ambiguous: [:], sets: SetProperties(texts: [text]))
    }

    /// The findings in a text of a package, with the names of ambiguous types, each with the module whose type the text refers
    /// to, and the package's properties of type `NSSet`.
    private static func findings(
        in text: String, file: String, ambiguous: [String: String], sets: SetProperties
    ) -> [PortingFinding] {
        var conditions = ConditionStack()
        var extensions = ExtensionBlocks()
        var required = RequiredInitializers()
        var waits = ExpectationWaits()
        var initializers = VariableInitializers()
        var imports = ImportedNames()
        let readsSyntax = text.containsBytes(of: "import SwiftSyntax")
        var findings: [PortingFinding] = []
        let texts = SwiftCode.texts(of: text)
        func report(_ place: (line: Int, column: Int), _ code: String, _ rule: PortingRule) {
            let before = String(decoding: texts[place.line].prefix(place.column), as: UTF8.self)
            findings.append(
                PortingFinding(file: file, line: place.line + 1, column: before.count + 1, code: code, rule: rule))
        }
        for (number, line) in SwiftCode.lines(of: text).enumerated() {
            if conditions.take(line) || !conditions.isCompiled { continue }
            func add(_ column: Int, _ code: String, _ rule: PortingRule) { report((number, column), code, rule) }
            for (column, rule) in matches(in: line) {
                // The elements are converted already.
                if rule.pattern == PortingRule.bundleURLs,
                    String(decoding: line, as: UTF8.self).containsBytes(of: "{ $0 as URL }")
                {
                    continue
                }
                // A copy has the type `Any`, which can be cast.
                if rule.pattern == PortingRule.forcedRequest,
                    String(decoding: line[..<column], as: UTF8.self).hasSuffix(".copy() ")
                {
                    continue
                }
                add(column, rule.pattern, rule)
            }
            // The other name may be in the line before or after.
            if readsSyntax,
                !texts[max(number - 1, 0)...min(number + 1, texts.count - 1)].contains(where: {
                    String(decoding: $0, as: UTF8.self).containsBytes(of: "_objcRuntimeName")
                })
            {
                for column in columns(of: PortingRule.macroCondition.pattern, in: texts[number], code: line) {
                    add(column, PortingRule.macroCondition.pattern, .macroCondition)
                }
            }
            for superclass in SwiftCode.superclasses(in: SwiftCode.words(of: line))
            where superclass.text == PortingRule.mirroredContainer.pattern {
                add(superclass.column, superclass.text, .mirroredContainer)
            }
            for column in extensions.take(line) { add(column, "override", .overrideInExtension) }
            for column in sets.literals(in: line) { add(column, "[", .assignedLiteral) }
            // These constructs may begin in an earlier line.
            for (place, rule) in required.take(line, number) { report(place, "init", rule) }
            for (line, column, name) in waits.take(line, number) { report((line, column), name, .unlimitedWait) }
            for place in initializers.take(line, number) { report(place, "init", .initializerOfVariable) }
            for (column, name, rule) in imports.take(line) { add(column, name, rule) }
            for (column, name) in ambiguous.isEmpty ? [] : SwiftCode.words(of: line) {
                if let module = ambiguous[name] { add(column, name, .ambiguousType(name, of: module)) }
            }
        }
        return findings.filter { !imports.fulfilled.contains($0.rule) }
    }

    /// The includes and imports of Apple's headers and modules in a text of C or Objective-C. Comments and code that is compiled on
    /// Apple's platforms only are skipped.
    private static func headers(in text: String, file: String) -> [PortingFinding] {
        CCode(text).includes.filter(\.isApples).map { include in
            PortingFinding(
                file: file, line: include.line + 1, column: include.column + 1, code: include.code, rule: .appleHeader)
        }
    }

    /// The columns of a string literal in a line whose code has spaces in its place: those that follow code, and not a comment.
    private static func columns(of literal: String, in text: ArraySlice<UInt8>, code: [UInt8]) -> [Int] {
        let (text, literal) = (Array(text), Array(literal.utf8))
        return text.indices.filter { column in
            guard SwiftCode.isText(literal, in: text, at: column) else { return false }
            let end = code[..<column].lastIndex { !SwiftCode.isSpace($0) } ?? -1
            return text[(end + 1)..<column].allSatisfy(SwiftCode.isSpace)
        }
    }

    private static func matches(in line: [UInt8]) -> [(column: Int, rule: PortingRule)] {
        var matches: [(column: Int, rule: PortingRule)] = []
        var column = 0
        while column < line.count {
            let here = rules[Int(line[column])].filter { isMatch($0.bytes, in: line, at: column) }
            guard let longest = here.max(by: { $0.bytes.count < $1.bytes.count }) else {
                column += 1
                continue
            }
            matches.append((column, longest.rule))
            column += longest.bytes.count
        }
        return matches
    }

    /// The rules by the first byte of their pattern.
    private static let rules: [[(rule: PortingRule, bytes: [UInt8])]] = {
        var rules = Array(repeating: [(rule: PortingRule, bytes: [UInt8])](), count: 256)
        for rule in PortingRule.all {
            let bytes = Array(rule.pattern.utf8)
            rules[Int(bytes[0])].append((rule, bytes))
        }
        return rules
    }()

    private static func isMatch(_ pattern: [UInt8], in line: [UInt8], at start: Int) -> Bool {
        guard SwiftCode.isText(pattern, in: line, at: start) else { return false }
        let end = start + pattern.count
        let beginsInWord = start > 0 && SwiftCode.isWord(line[start - 1]) && SwiftCode.isWord(pattern[0])
        let endsInWord = end < line.count && SwiftCode.isWord(line[end]) && SwiftCode.isWord(line[end - 1])
        return !beginsInWord && !endsInWord
    }
}

extension PortingFinding {
    /// A declaration with `@NSManaged` for which the plugin can write no accessor.
    fileprivate init(_ mistake: ManagedDeclarationMistake) {
        self.init(
            file: mistake.file, line: mistake.line, column: 1, code: PortingRule.managed.pattern,
            rule: PortingRule(
                PortingRule.managed.pattern, problem: "gets no accessor from the plugin", mistake.sentence))
    }
}

/// In JSON a finding has the code and its replacement as text, next to the position.
extension PortingFinding: Encodable {
    private enum CodingKeys: String, CodingKey {
        case file, line, column, found, replacement
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(file, forKey: .file)
        try container.encode(line, forKey: .line)
        try container.encode(column, forKey: .column)
        try container.encode(code, forKey: .found)
        try container.encode(rule.replacement, forKey: .replacement)
    }
}
