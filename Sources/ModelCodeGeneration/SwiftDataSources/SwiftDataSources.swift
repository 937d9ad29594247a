import Foundation
import ModelFiles

/// The classes with `@Model` in Swift sources, and the models that SwiftData makes of them.
///
/// Only declarations are read, not expressions. What a declaration does not state, and what depends on the build, is an error with
/// its place: the reader never guesses a part of a model.
package struct SwiftDataSources: Sendable {
    /// A version of the schema.
    package struct Version: Sendable {
        /// The name of the type with `VersionedSchema`; `Models` if the sources have none.
        package let name: String
        /// The version as text, such as `1.0.0`.
        package let identifier: String
        package let model: Model
        package let position: ModelPosition
    }

    /// The versions: those of the plan in its order, then the others.
    package let versions: [Version]
    /// Whether the sources have types with `VersionedSchema`.
    package let hasSchemas: Bool
    /// The migration plan; nil if the sources have none.
    package let plan: MigrationPlan?

    /// Reads the Swift files at some paths: files, or folders with all files in them.
    ///
    /// - Throws: ``ModelError`` with file and line if a file cannot be read, there is no class with `@Model`, or a part of a model does
    ///   not follow from the sources. Cost: all files are read; those without a type that a model uses are only scanned.
    package init(at paths: [String]) throws {
        try self.init(try SourceFiles.read(at: paths))
    }

    /// Whether a folder contains a Swift file, at any depth.
    package static func isFolderOfSources(_ path: String) -> Bool { SourceFiles.isFolderOfSources(path) }

    /// Reads sources that are in memory.
    package init(_ sources: [(file: String, text: String)]) throws {
        let parsers = try sources.map { try SourceParser($0.text, file: $0.file) }
        let types = SourceTypes(parsers.flatMap(\.declarations))
        let reader = SchemaReader(types: types)
        plan = try MigrationPlan.found(in: types)
        let schemas = types.all.filter { $0.inherits("VersionedSchema") }
        hasSchemas = !schemas.isEmpty
        guard hasSchemas else {
            versions = [try reader.version(rootedAt: try Self.roots(in: parsers, types), in: sources.first?.file ?? "")]
            return
        }
        let order = plan?.schemas ?? []
        let read = try schemas.map { try reader.version(of: $0) }
        let planned = order.compactMap { name in read.first { $0.name == name } }
        let others = read.filter { !order.contains($0.name) }.sorted {
            $0.identifier.compare($1.identifier, options: .numeric) == .orderedAscending
        }
        versions = order.isEmpty ? others : planned + others
    }

    /// The version that the program has now: the last of the plan, or else the latest.
    package var current: Version {
        let name = plan?.schemas.last
        return versions.first { $0.name == name } ?? versions[versions.count - 1]
    }

    /// The versions as a model file.
    package func modelFile() throws -> ModelFile {
        try ModelFile(
            kind: hasSchemas ? .swiftSchemas : .swiftSource,
            versions: versions.map { .init(name: $0.name, model: $0.model) }, currentName: current.name)
    }

    // MARK: - The classes of a schema without versions

    /// The classes that containers and schemas of the sources name; all classes with `@Model` if there are none.
    private static func roots(in parsers: [SourceParser], _ types: SourceTypes) throws -> [SourceType] {
        let models = types.all.filter(\.isModel)
        guard !models.isEmpty else {
            throw ModelError(
                .unknownFormat, "The sources have no class with @Model.", file: parsers.first?.file)
        }
        var roots: [SourceType] = []
        for parser in parsers {
            for (path, line) in parser.namedModels {
                let scope = SourceTypes.Scope(path: [], file: parser.file)
                guard let named = try types.type(path, in: scope, line: line), named.isModel,
                    !roots.contains(where: { $0 === named })
                else { continue }
                roots.append(named)
            }
        }
        return roots.isEmpty ? models : roots
    }
}

extension SourceParser {
    /// The names in `Schema([A.self])`, `ModelContainer(for: A.self)` and `modelContainer(for: [A.self])`, with their lines.
    fileprivate var namedModels: [(path: [String], line: Int)] {
        var found: [(path: [String], line: Int)] = []
        for start in tokens.indices.dropLast(2) where tokens[start].kind == .word && tokens[start + 1].isSign("(") {
            let word = tokens[start].text
            let isContainer = ["ModelContainer", "modelContainer"].contains(word)
            guard word == "Schema" || isContainer && tokens[start + 2].isWord("for") else { continue }
            var position = start + 2
            var path: [String] = []
            var depth = 1
            while position < tokens.count, depth > 0 {
                let token = tokens[position]
                if token.isSign("(") { depth += 1 }
                if token.isSign(")") { depth -= 1 }
                // The second argument is no class.
                if position > start + 3, tokens[position].isSign(":") { break }
                if token.kind == .word, token.text == "self", !path.isEmpty {
                    found.append((path, token.line))
                } else if token.kind == .word {
                    path = tokens[position - 1].isSign(".") ? path + [token.text] : [token.text]
                } else if !token.isSign(".") {
                    path = []
                }
                position += 1
            }
        }
        return found
    }
}

/// The Swift files at paths.
enum SourceFiles {
    /// The texts of files, and of all Swift files in folders, sorted by path. Hidden folders are left out, as is `.build`.
    static func read(at paths: [String]) throws -> [(file: String, text: String)] {
        try paths.flatMap { path -> [String] in
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
                throw ModelError(.unreadableFile, "The file or directory does not exist.", file: path)
            }
            return isFolder.boolValue ? try files(in: path) : [path]
        }.map { path in
            do {
                return (path, try String(contentsOf: URL(fileURLWithPath: path), encoding: .utf8))
            } catch {
                throw ModelError(.unreadableFile, "The file cannot be read, or is not UTF-8.", file: path)
            }
        }
    }

    private static func files(in folder: String) throws -> [String] {
        let base = folder.hasSuffix("/") ? String(folder.dropLast()) : folder
        guard
            let walk = FileManager.default.enumerator(
                at: URL(fileURLWithPath: base), includingPropertiesForKeys: nil, options: .skipsHiddenFiles)
        else { throw ModelError(.unreadableFile, "The directory cannot be read.", file: folder) }
        let prefix = URL(fileURLWithPath: base).path
        let files = walk.compactMap { $0 as? URL }.filter {
            $0.pathExtension == "swift" && $0.lastPathComponent != "Package.swift"
        }
        return files.map { base + $0.path.dropFirst(prefix.count) }.sorted()
    }

    /// Whether a folder contains a Swift file, at any depth.
    static func isFolderOfSources(_ path: String) -> Bool {
        ((try? files(in: path)) ?? []).isEmpty == false
    }
}
