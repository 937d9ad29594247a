import Coral
import CoralMigration

/// Versions of a model of notes, which differ as versions of real models do.
enum MigrationModels {
    private static func attribute(
        _ name: String, _ type: NSAttributeType, was identifier: String? = nil, optional: Bool = true,
        default value: Any? = nil
    ) -> NSAttributeDescription {
        let attribute = WebModel.attribute(name, type, optional: optional)
        attribute.renamingIdentifier = identifier
        attribute.defaultValue = value
        return attribute
    }

    static func model(_ notes: [NSAttributeDescription], others: [NSEntityDescription] = []) -> NSManagedObjectModel {
        let note = WebModel.entity("Note", [])
        note.properties = notes
        let model = NSManagedObjectModel()
        model.entities = [note] + others
        return model
    }

    static func version(_ name: String, _ notes: [NSAttributeDescription]) -> ModelVersion {
        ModelVersion(name: name, model: model(notes))
    }

    /// Notes with a title and a count.
    static var first: ModelVersion {
        version("Notes", [attribute("title", .stringAttributeType), attribute("count", .integer64AttributeType)])
    }

    /// The title is renamed to heading.
    static var second: ModelVersion {
        version(
            "Notes 2",
            [attribute("heading", .stringAttributeType, was: "title"), attribute("count", .integer64AttributeType)])
    }

    /// The heading is renamed to name, with an identifier that the first version does not have.
    static var third: ModelVersion {
        version(
            "Notes 3",
            [attribute("name", .stringAttributeType, was: "heading"), attribute("count", .integer64AttributeType)])
    }

    /// As the third, with unique names.
    static var unique: ModelVersion {
        let model = third.model
        model.entities[0].uniquenessConstraints = [["name"]]
        return ModelVersion(name: "Notes 3", model: model)
    }

    /// As the second, with a colour.
    static var coloured: ModelVersion {
        version(
            "Notes 3",
            [
                attribute("heading", .stringAttributeType, was: "title"), attribute("count", .integer64AttributeType),
                attribute("colour", .stringAttributeType, optional: false, default: "white"),
            ])
    }

    /// The count is smaller, the colour is required, and titles are unique.
    static var strict: ModelVersion {
        let model = model([
            attribute("title", .stringAttributeType, optional: false), attribute("count", .integer16AttributeType),
        ])
        model.entities[0].uniquenessConstraints = [["title"]]
        return ModelVersion(name: "Strict", model: model)
    }
}

/// A folder with a store of a model's version.
final class VersionStore {
    let folder: URL
    let url: URL

    init(_ version: ModelVersion, _ fill: (NSManagedObjectContext) throws -> Void) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        url = folder.appendingPathComponent("Notes.sqlite")
        let context = try makeContext(version.model, at: url)
        try context.performAndWait {
            try fill(context)
            try context.save()
        }
        let coordinator = context.persistentStoreCoordinator
        for store in coordinator?.persistentStores ?? [] { try coordinator?.remove(store) }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// The values of a key of all notes, in the order of their primary keys.
    func values(_ key: String, _ version: ModelVersion, at url: URL? = nil) throws -> [String] {
        let context = try makeContext(version.model, at: url ?? self.url)
        return try context.performAndWait {
            let notes = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note"))
            let sorted = notes.sorted {
                $0.objectID.uriRepresentation().lastPathComponent < $1.objectID.uriRepresentation().lastPathComponent
            }
            return sorted.map { $0.value(forKey: key).map { "\($0)" } ?? "nil" }
        }
    }

    func contents() throws -> [String: Data] {
        var contents: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            contents[name] = FileManager.default.contents(atPath: folder.appendingPathComponent(name).path)
        }
        return contents
    }
}
