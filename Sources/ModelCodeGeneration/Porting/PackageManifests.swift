import Foundation

/// The manifests of the packages to which source files belong.
struct PackageManifests {
    /// What a manifest names.
    struct Content {
        /// The package's folder.
        var folder: URL?
        /// Whether it names the plugin CoralModelPlugin outside the declarations of targets, such as in a loop over all of them.
        var usesModelPlugin = false
        /// Whether it names products of the package `Apple`.
        var usesAppleModules = false
        var targets: [TargetDeclaration] = []

        /// Whether the target of a file uses the plugin CoralModelPlugin. For a file of no declared target: whether any does.
        func usesModelPlugin(for file: URL) -> Bool {
            if usesModelPlugin { return true }
            let path = file.standardizedFileURL.path
            let owner = targets.first { target in
                target.folders.contains { path.hasPrefix((folder?.path ?? "") + "/" + $0 + "/") }
            }
            return owner?.usesModelPlugin ?? targets.contains(where: \.usesModelPlugin)
        }

        /// Whether a target excludes a file from its sources. It is often a text that a test compares, such as the expansion of a macro.
        func excludes(_ file: URL) -> Bool {
            let path = file.standardizedFileURL.path
            return targets.contains { target in
                target.folders.contains { directory in
                    let start = (folder?.path ?? "") + "/" + directory + "/"
                    return path.hasPrefix(start)
                        && target.excluded.contains { path == start + $0 || path.hasPrefix(start + $0 + "/") }
                }
            }
        }
    }

    /// The content of the manifest for a folder, by the folder's path.
    private var known: [String: Content] = [:]

    /// What the nearest manifest above a file names; nothing if there is no manifest. Cost: for each folder, once, a check for a
    /// manifest in it and its ancestors, and the reading of the manifest.
    mutating func content(for file: URL) -> Content {
        var folder = file.standardizedFileURL.deletingLastPathComponent()
        var asked: [String] = []
        var answer = Content()
        while true {
            if let known = known[folder.path] {
                answer = known
                break
            }
            asked.append(folder.path)
            if let manifest = try? Data(contentsOf: folder.appendingPathComponent("Package.swift")) {
                answer = Content(String(decoding: manifest, as: UTF8.self), in: folder)
                break
            }
            guard folder.path != "/", !folder.path.isEmpty else { break }
            folder.deleteLastPathComponent()
        }
        for path in asked { known[path] = answer }
        return answer
    }
}

extension PackageManifests.Content {
    fileprivate init(_ manifest: String, in folder: URL) {
        self.folder = folder
        usesAppleModules = manifest.contains("package: \"Apple\"")
        var rest = manifest[...]
        while let declaration = TargetDeclaration.first(in: rest) {
            usesModelPlugin = usesModelPlugin || TargetDeclaration.namesPlugin(rest[..<declaration.range.lowerBound])
            targets.append(declaration.target)
            rest = rest[declaration.range.upperBound...]
        }
        usesModelPlugin = usesModelPlugin || TargetDeclaration.namesPlugin(rest)
    }
}

/// The declaration of a target in a manifest, read as text: this module does not use swift-syntax.
struct TargetDeclaration {
    /// The folders that it can have, relative to the package's folder: that of `path:`, or those with its name.
    let folders: [String]
    let usesModelPlugin: Bool
    /// The files and folders that are not sources, relative to the target's folder: the literals of `exclude:`.
    let excluded: [String]

    private init(_ text: Substring) {
        func string(_ label: String) -> String? {
            text.range(of: label + ": \"").map { String(text[$0.upperBound...].prefix { $0 != "\"" }) }
        }
        let name = string("name") ?? ""
        // An argument `path:` follows dependencies; a dependency by path has a parenthesis of its own.
        folders = string(" path").map { [$0] } ?? ["Sources/", "Tests/", "Source/", "src/"].map { $0 + name }
        usesModelPlugin = Self.namesPlugin(text) || Self.refersToPlugins(text)
        let list = text.range(of: "exclude: [").map { text[$0.upperBound...].prefix { $0 != "]" } } ?? ""
        // Every other part between quotation marks is a literal.
        let parts = list.split(separator: "\"", omittingEmptySubsequences: false)
        excluded = parts.indices.filter { $0 % 2 == 1 }.map { String(parts[$0]) }
    }

    static func namesPlugin(_ text: Substring) -> Bool { text.contains("CoralModelPlugin") }

    /// Whether the argument `plugins:` is something else than a list, such as a constant of the manifest.
    private static func refersToPlugins(_ text: Substring) -> Bool {
        text.range(of: "plugins: ").map { text[$0.upperBound...].first != "[" } ?? false
    }

    /// The first declaration in a text, to its closing parenthesis.
    static func first(in text: Substring) -> (target: TargetDeclaration, range: Range<Substring.Index>)? {
        let starts = [".target(", ".executableTarget(", ".testTarget("].compactMap { text.range(of: $0) }
        // A dependency `.target(name: "Model")` ends on its line and is inside a declaration that began before.
        guard let start = starts.min(by: { $0.lowerBound < $1.lowerBound }) else { return nil }
        var depth = 1
        var end = start.upperBound
        while end < text.endIndex, depth > 0 {
            if text[end] == "(" { depth += 1 }
            if text[end] == ")" { depth -= 1 }
            end = text.index(after: end)
        }
        return (TargetDeclaration(text[start.upperBound..<end]), start.lowerBound..<end)
    }
}

/// The modules of a package, by the folders of their sources.
package enum SourceModule {
    /// The folder of a file's module: the one below `Sources` or `Tests`. Empty in a folder that has neither: all files are one
    /// module.
    package static func folder(of url: URL, below folder: URL) -> String {
        let parts = url.standardizedFileURL.pathComponents
        let start = folder.standardizedFileURL.pathComponents.count
        guard let root = parts.dropFirst(start).firstIndex(where: { ["Sources", "Tests"].contains($0) }) else {
            return ""
        }
        // Directly in `Sources` are the files of a package with one module.
        return parts[...min(root + 1, parts.count - 2)].joined(separator: "/")
    }
}
