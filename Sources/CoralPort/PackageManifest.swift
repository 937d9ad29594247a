#if Macros
    import Foundation
    import SwiftSyntax

    /// The rewriting of a package's manifest: each target that uses Core Data off Apple's platforms gets its product, and the plugin if
    /// it has a model or `@NSManaged` properties; targets that import `os`, `OSLog` or `Combine` get the products of the package `Apple`,
    /// and those that import `Crypto` that of swift-crypto.
    /// Targets that import SwiftData get its product, and the package the trait of its macros, which needs version 6.1 of the manifest's
    /// language. A target in the mode of Swift 6 whose closures Apple's SDK accepts in that mode and other platforms do not
    /// (``CapturedVariables``) is compiled in the mode of Swift 5 on those.
    ///
    /// What a target names already stays. The products have a condition, so that nothing changes on Apple's platforms.
    struct PackageManifest {
        private(set) var file: SourceFile
        private let folder: URL

        init(_ file: SourceFile) {
            self.file = file
            folder = file.url.standardizedFileURL.deletingLastPathComponent()
        }

        /// A target of the manifest.
        struct Target {
            /// The name, after the manifest's folder. The last component is the module's name.
            let module: String
            /// The folder of the sources, with a slash at its end.
            let path: String
            let hasResources: Bool
        }

        /// The targets, with the manifest's folder relative to another one in their names.
        func targets(below root: URL) -> [Target] {
            let collector = Calls()
            collector.walk(file.tree)
            let start = root.standardizedFileURL.pathComponents.count
            let parts = folder.pathComponents.dropFirst(start)
            return collector.targets.compactMap { target in
                guard let name = string("name", of: target), let directory = directory(of: target) else { return nil }
                return Target(
                    module: (parts + [name]).joined(separator: "/"), path: directory.standardizedFileURL.path + "/",
                    hasResources: target.arguments.contains { $0.label?.text == "resources" })
            }
        }

        /// What a target needs.
        private struct Needs {
            var products: [(name: String, package: String)] = []
            var usesPlugin = false
            var hasModel = false
            var usesCapturedVariables = false
        }

        /// The extensions of the models that the plugin compiles.
        static let modelExtensions: Set<String> = ["xcdatamodeld", "xcdatamodel", "xcmappingmodel"]

        /// Adds what the targets need.
        ///
        /// - Parameters:
        ///   - sources: The files of the package, after their rewriting.
        ///   - models: The models of the package.
        ///   - checkout: The folder of this package.
        mutating func rewrite(for sources: [SourceFile], models: [URL], checkout: URL) {
            let collector = Calls()
            collector.walk(file.tree)
            let isSwift6 = isSwift6(collector.package)
            var edits: [SourceEdit] = []
            var packages: Set<String> = []
            var hasModels = false
            var usesMacros = false
            for target in collector.targets {
                let needs = needs(of: target, sources: sources, models: models, isSwift6: isSwift6)
                let text = target.trimmedDescription
                let products = needs.products.filter {
                    !text.contains("name: \"\($0.name)\"") && !text.contains("\"\($0.name)\"")
                }
                packages.formUnion(products.map(\.package))
                edits += adding(
                    products.map {
                        ".product(name: \"\($0.name)\", package: \"\($0.package)\", condition: .when(platforms: [.linux]))"
                    }, to: "dependencies", of: target, after: ["name", "group"])
                if needs.usesCapturedVariables, !text.contains("swiftLanguageMode(") {
                    edits += adding(
                        [".swiftLanguageMode(.v5, .when(platforms: [.linux]))"], to: "swiftSettings", of: target,
                        after: target.arguments.compactMap { $0.label?.text }.filter { $0 != "plugins" })
                }
                hasModels = hasModels || needs.hasModel
                usesMacros = usesMacros || products.contains { $0.name == "SwiftData" }
                if needs.usesPlugin, !text.contains("CoralModelPlugin") {
                    packages.insert("coral")
                    edits += adding(
                        [".plugin(name: \"CoralModelPlugin\", package: \"coral\")"], to: "plugins", of: target,
                        after: target.arguments.compactMap { $0.label?.text })
                }
            }
            guard let package = collector.package else { return }
            let known = package.trimmedDescription
            let dependencies = packages.sorted().reversed().compactMap { name -> String? in
                if known.contains("name: \"\(name)\"") && known.contains(".package(name: \"\(name)\"") { return nil }
                if known.contains("/\(name)\"") || known.contains("/\(name).git\"") { return nil }
                if name == "swift-crypto" {
                    return ".package(url: \"https://github.com/apple/swift-crypto.git\", from: \"3.0.0\")"
                }
                let location = name == "coral" ? checkout : checkout.appendingPathComponent(name)
                let traits = name == "coral" && usesMacros ? ", traits: [\"Macros\"]" : ""
                return ".package(name: \"\(name)\", path: \"\(relativePath(to: location))\"\(traits))"
            }
            edits += adding(
                dependencies, to: "dependencies", of: package,
                after: ["name", "defaultLocalization", "platforms", "pkgConfig", "providers", "products", "traits"])
            guard !edits.isEmpty else { return }
            // A manifest of version 6 would compile the sources as Swift 6.
            if usesMacros, let version = toolsVersion, version < (6, 0), !known.contains("swiftLanguage") {
                edits += adding(
                    [".v5"], to: "swiftLanguageModes", of: package,
                    after: package.arguments.compactMap { $0.label?.text })
            }
            file.apply(edits)
            // A plugin needs 5.6. What it compiles of a model is a resource only with 5.9. Traits need 6.1.
            raiseToolsVersion(to: usesMacros ? (6, 1) : hasModels ? (5, 9) : (5, 6))
        }

        /// The first line, which states the version of the manifest's language.
        private var versionLine: Substring? {
            file.text.split(separator: "\n", maxSplits: 1).first.flatMap {
                $0.contains("swift-tools-version") ? $0 : nil
            }
        }

        private var toolsVersion: (major: Int, minor: Int)? {
            let number = versionLine?.split(whereSeparator: { ": ".contains($0) }).last
            let parts = number?.split(separator: ".").compactMap { Int($0) } ?? []
            return parts.first.map { ($0, parts.dropFirst().first ?? 0) }
        }

        /// Whether the mode of targets that state none is that of Swift 6: the newest of the package's modes.
        private func isSwift6(_ package: FunctionCallExprSyntax?) -> Bool {
            guard let version = toolsVersion, version >= (6, 0) else { return false }
            let modes = package?.arguments.first {
                ["swiftLanguageModes", "swiftLanguageVersions"].contains($0.label?.text)
            }
            return modes?.expression.tokens(viewMode: .sourceAccurate).contains { ["v6", "6"].contains($0.text) }
                ?? true
        }

        private mutating func raiseToolsVersion(to least: (major: Int, minor: Int)) {
            guard let line = versionLine, let version = toolsVersion, version < least else { return }
            file.apply([SourceEdit(0..<line.utf8.count, "// swift-tools-version:\(least.major).\(least.minor)")])
        }

        // MARK: - Targets

        private func needs(
            of target: FunctionCallExprSyntax, sources: [SourceFile], models: [URL], isSwift6: Bool
        ) -> Needs {
            var needs = Needs()
            guard let directory = directory(of: target) else { return needs }
            let path = directory.standardizedFileURL.path + "/"
            let files = sources.filter { $0.url.standardizedFileURL.path.hasPrefix(path) }
            let hasModel = models.contains { $0.standardizedFileURL.path.hasPrefix(path) }
            let imports = files.reduce(into: Set<String>()) { $0.formUnion($1.declarations.imports) }
            let attributes = files.reduce(into: Set<String>()) { $0.formUnion($1.declarations.attributes) }
            let usesCoreData = imports.contains("CoreData")
            if usesCoreData { needs.products.append(("CoreData", "coral")) }
            if imports.contains("SwiftData") { needs.products.append(("SwiftData", "coral")) }
            needs.hasModel = hasModel
            needs.usesPlugin =
                hasModel || usesCoreData && !attributes.isDisjoint(with: ["NSManaged", "objc", "objcMembers"])
            for module in ["os", "OSLog"] where imports.contains(module) { needs.products.append((module, "Apple")) }
            if imports.contains("Combine") { needs.products.append(("Combine", "Apple")) }
            if imports.contains("Crypto") { needs.products.append(("Crypto", "swift-crypto")) }
            needs.usesCapturedVariables = usesCoreData && isSwift6 && files.contains(where: CapturedVariables.areUsed)
            return needs
        }

        /// The folder of a target's sources: its path, or one of those that the package manager searches.
        private func directory(of target: FunctionCallExprSyntax) -> URL? {
            if let path = string("path", of: target) { return folder.appendingPathComponent(path) }
            guard let name = string("name", of: target) else { return nil }
            let isTest = target.calledExpression.trimmedDescription.hasSuffix("testTarget")
            let parents = (isTest ? ["Tests"] : []) + ["Sources", "Source", "src", "srcs"]
            let directories = parents.map { folder.appendingPathComponent($0).appendingPathComponent(name) }
            return directories.first { FileManager.default.fileExists(atPath: $0.path) }
                // A package with one target may have its files directly in the folder.
                ?? (isTest ? folder.appendingPathComponent("Tests") : folder.appendingPathComponent("Sources"))
        }

        private func string(_ label: String, of call: FunctionCallExprSyntax) -> String? {
            call.arguments.first { $0.label?.text == label }?.expression.as(StringLiteralExprSyntax.self)?
                .representedLiteralValue
        }

        // MARK: - Edits

        /// Adds elements to an array that is an argument of a call. Without that argument it is inserted after those with some labels.
        private func adding(
            _ elements: [String], to label: String, of call: FunctionCallExprSyntax, after labels: [String]
        ) -> [SourceEdit] {
            guard !elements.isEmpty else { return [] }
            if let argument = call.arguments.first(where: { $0.label?.text == label }) {
                guard let array = argument.expression.as(ArrayExprSyntax.self) else {
                    let start = argument.expression.codeRange.lowerBound
                    return [SourceEdit(start..<start, "[\(elements.joined(separator: ", "))] + ")]
                }
                let start = array.leftSquare.codeRange.upperBound
                let text = elements.joined(separator: ", ") + (array.elements.isEmpty ? "" : ", ")
                return [SourceEdit(start..<start, text)]
            }
            let text = "\(label): [\(elements.joined(separator: ", "))]"
            let before = call.arguments.last { labels.contains($0.label?.text ?? "") }
            guard let before else { return [] }
            let end = before.expression.codeRange.upperBound
            return [SourceEdit(end..<end, ", " + text)]
        }

        /// The path from the manifest's folder to another one.
        private func relativePath(to other: URL) -> String {
            let from = folder.resolvingSymlinksInPath().pathComponents
            let to = other.resolvingSymlinksInPath().pathComponents
            let common = zip(from, to).prefix { $0 == $1 }.count
            let parts = Array(repeating: "..", count: from.count - common) + to[common...]
            return parts.isEmpty ? "." : parts.joined(separator: "/")
        }

        /// Collects the calls that declare the package and its targets.
        private final class Calls: SyntaxVisitor {
            var package: FunctionCallExprSyntax?
            var targets: [FunctionCallExprSyntax] = []

            init() { super.init(viewMode: .sourceAccurate) }

            override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
                let name = node.calledExpression.trimmedDescription
                if name == "Package" { package = node }
                if [".target", ".testTarget", ".executableTarget"].contains(where: {
                    name == $0 || name == "Target" + $0
                }),
                    node.enclosing(LabeledExprSyntax.self)?.label?.text != "dependencies"
                {
                    targets.append(node)
                }
                return .visitChildren
            }
        }
    }

    /// Replacements in the files of a package.
    struct PackageEdits {
        /// The replacements, by the index of their file in ``PackageIndex/files``.
        private(set) var edits: [Int: [SourceEdit]] = [:]

        var isEmpty: Bool { edits.isEmpty }

        mutating func add(_ edit: SourceEdit, to file: Int) { edits[file, default: []].append(edit) }

        mutating func add(_ new: [SourceEdit], to file: Int) {
            if !new.isEmpty { edits[file, default: []] += new }
        }
    }

    /// One kind of rewriting. A rewrite is idempotent, and does not change code that is compiled on Apple's platforms only.
    protocol Rewrite {
        /// The replacements in a package. If some overlap, only the first of them is applied, and the rewrite runs again on the
        /// result.
        func edits(in package: PackageIndex) -> PackageEdits
    }
#endif
