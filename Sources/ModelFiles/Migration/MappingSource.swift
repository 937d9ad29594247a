import Foundation
import KeyedArchives

/// A mapping model as Xcode's editor saves it: an `.xcmappingmodel`.
///
/// The file is a Core Data XML store whose objects describe mappings of entities and properties. The names of their
/// attributes are those in files that Xcode has written.
public struct MappingSource: Sendable {
    /// The mapping of an entity.
    struct Entity: Sendable {
        var name: String?
        var number: Int
        var sourceName: String?
        var destinationName: String?
        var policyClassName: String?
        var attributes: [Property]
        var relationships: [Property]
    }

    /// The mapping of a property.
    struct Property: Sendable {
        var name: String
        /// The keyed archive of an expression that was entered in the editor.
        var expression: Data?
        /// The source instances of a relationship, as a key path, and the mapping that creates the destination instances.
        var sourceKeyPath: String?
        var sourceMappingName: String?
    }

    /// One of the two models.
    struct ModelLocation: Sendable {
        /// The path relative to the folder of the project.
        var path: String?
        /// The model as it was when the mapping model was saved last.
        var data: Data?
    }

    let entities: [Entity]
    let source: ModelLocation
    let destination: ModelLocation
    /// The location of the mapping model.
    let url: URL

    /// Reads a mapping model.
    ///
    /// - Throws: ``ModelError`` with file and line if it cannot be read or is not a mapping model.
    public init(contentsOf url: URL) throws {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) else {
            throw ModelError(.unreadableFile, "The file or directory does not exist.", file: url.path)
        }
        let file = isFolder.boolValue ? url.appendingPathComponent("xcmapping.xml") : url
        let root = try SourceElementReader.read(try ModelFile.contents(ofFile: file), file: file.path)
        self.url = url
        let reader = MappingSourceReader(root, file: file.path)
        (entities, source, destination) = try reader.read()
    }

    /// Both models: from the files of the project if they are found, since the mapping model must fit their current
    /// version hashes, else from the copies in the mapping model.
    ///
    /// The files are looked for by their path, and by its last two components, in the folders that contain the
    /// mapping model.
    ///
    /// - Throws: ``ModelError`` if there is neither, or a model cannot be read.
    public func models() throws -> (source: Model, destination: Model) {
        (try model(source, "source"), try model(destination, "destination"))
    }

    private func model(_ location: ModelLocation, _ side: String) throws -> Model {
        if let path = location.path, let found = file(path) { return try ModelFile.read(at: found).model }
        guard let data = location.data else {
            throw ModelError(
                .unknownFormat, "The \(side) model, \(location.path ?? "without a path"), is not found.", file: url.path
            )
        }
        return try ModelElementsReader.read(data, file: url.path)
    }

    private func file(_ path: String) -> URL? {
        let parts = path.split(separator: "/").suffix(2)
        // A version of a bundle is in the bundle; a single model is identified by its name.
        let end = parts.count == 2 && parts[parts.startIndex].hasSuffix(".xcdatamodeld") ? 2 : 1
        let names = [path, parts.suffix(end).joined(separator: "/")]
        var folder = url.standardizedFileURL.deletingLastPathComponent()
        for _ in 0..<8 where folder.path != "/" {
            for name in names where !name.split(separator: "/").contains("..") {
                let file = folder.appendingPathComponent(name)
                if FileManager.default.fileExists(atPath: file.path) { return file }
            }
            folder.deleteLastPathComponent()
        }
        return nil
    }
}

/// Reads the objects of a mapping model's XML store.
private struct MappingSourceReader {
    private let root: SourceElement
    private let file: String
    private var objects: [String: SourceElement] = [:]

    init(_ root: SourceElement, file: String) {
        self.root = root
        self.file = file
        for object in root.children(named: "object") {
            if let id = object["id"] { objects[id] = object }
        }
    }

    func read() throws -> ([MappingSource.Entity], MappingSource.ModelLocation, MappingSource.ModelLocation) {
        let models = root.children(named: "object").filter { $0["type"] == "XDDEVMAPPINGMODEL" }
        guard root.name == "database", models.count == 1 else {
            throw ModelError(.unknownFormat, "The file is not a mapping model.", file: file, line: root.line)
        }
        let entities = try related(models[0], "entitymappings").map(entity)
        return (
            entities.sorted { ($0.number, $0.destinationName ?? "") < ($1.number, $1.destinationName ?? "") },
            try location(models[0], "source"), try location(models[0], "destination")
        )
    }

    private func entity(_ object: SourceElement) throws -> MappingSource.Entity {
        let source = string(object, "sourcename")
        let destination = string(object, "destinationname")
        guard source != nil || destination != nil else {
            throw ModelError(.malformedFile, "An entity mapping has no entity.", file: file, line: object.line)
        }
        return MappingSource.Entity(
            name: string(object, "name"), number: string(object, "mappingnumber").flatMap { Int($0) } ?? 0,
            sourceName: source, destinationName: destination,
            policyClassName: string(object, "migrationpolicyclassname"),
            attributes: try properties(object, "attributemappings"),
            relationships: try properties(object, "relationshipmappings"))
    }

    private func properties(_ object: SourceElement, _ relationship: String) throws -> [MappingSource.Property] {
        try related(object, relationship).map { property in
            guard let name = string(property, "name") else {
                throw ModelError(.malformedFile, "A property mapping has no name.", file: file, line: property.line)
            }
            return MappingSource.Property(
                name: name, expression: try data(property, "valueexpressiondata"),
                sourceKeyPath: string(property, "sourcekeypath"),
                sourceMappingName: string(property, "sourcemappingname"))
        }.sorted { $0.name < $1.name }
    }

    private func location(_ object: SourceElement, _ side: String) throws -> MappingSource.ModelLocation {
        MappingSource.ModelLocation(
            path: string(object, side + "modelpath"), data: try data(object, side + "modeldata"))
    }

    // MARK: - Values

    private func related(_ object: SourceElement, _ name: String) throws -> [SourceElement] {
        let element = object.children(named: "relationship").first { $0["name"] == name }
        return try (element?["idrefs"] ?? "").split(separator: " ").map { id in
            guard let found = objects[String(id)] else {
                throw ModelError(
                    .malformedFile, "There is no object \(id).", file: file, line: element?.line ?? object.line)
            }
            return found
        }
    }

    /// The text of an attribute; nil if it is empty.
    private func string(_ object: SourceElement, _ name: String) -> String? {
        let element = object.children(named: "attribute").first { $0["name"] == name }
        return element.flatMap { $0.text.isEmpty ? nil : $0.text }
    }

    private func data(_ object: SourceElement, _ name: String) throws -> Data? {
        guard let text = string(object, name) else { return nil }
        guard let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters) else {
            throw ModelError(.malformedFile, "The value \"\(name)\" is not Base64.", file: file, line: object.line)
        }
        return data
    }
}
