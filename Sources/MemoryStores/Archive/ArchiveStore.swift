import Foundation
import KeyedArchives
import ManagedObjects

/// A store in one keyed archive: ``NSPersistentStore/StoreType/archive``.
final class ArchiveStore: FileStore, @unchecked Sendable {  // because its state is used while the store is locked
    override class var format: any StoreFileFormat.Type { ArchiveStoreFormat.self }
}

/// The format of stores in a keyed archive, which is defined by this engine.
///
/// The root is a dictionary: `format` is the text `ManagedObjects.archive-store`, `version` is 1, `uuid` the store's
/// identifier, `metadata` its metadata as a binary property list, `lastReference` the greatest number that an object
/// has had, and `objects` an array of dictionaries: `entity`, `reference` (the number that identifies the object),
/// `attributes` (a dictionary of values without nil) and `relationships` (a dictionary of non-empty arrays of numbers).
/// Elements of composite attributes are keyed by their paths; transformable values are the bytes of their transformers.
/// Values are strings, numbers, dates, data, UUIDs, URLs and decimal numbers, so that any unarchiver can read the file.
enum ArchiveStoreFormat: StoreFileFormat {
    static var storeType: String { NSPersistentStore.StoreType.archive.rawValue }
    static func entityName(_ name: String) -> String { name }
    static func propertyName(_ name: String) -> String { name }
    static func typeName(_ kind: EntityLayout.Slot.Kind) -> String { kind.expectation }

    private static let formatName = "ManagedObjects.archive-store"
    private static let version: Int64 = 1
    /// More values than a file of the maximum size can contain.
    private static let valueLimit = 200_000_000

    // MARK: - Reading

    static func document(from data: Data, url: URL) throws -> StoreDocument {
        var limits = ReadableValue.Limits()
        limits.valueCount = valueLimit
        let root: ReadableValue
        do {
            root = try ReadableValue(archive: data, limits: limits)
        } catch let error as ArchiveError {
            throw damaged(error.message, url: url)
        }
        guard case .string(formatName)? = root["format"], case .string(let uuid)? = root["uuid"],
            case .data(let metadata)? = root["metadata"], case .integer(let lastReference)? = root["lastReference"],
            case .array(let objects)? = root["objects"]
        else { throw damaged("The archive does not contain a store.", url: url) }
        guard case .integer(version)? = root["version"] else {
            throw damaged("It was written by a later version of the engine.", url: url)
        }
        var document = StoreDocument(uuid: uuid, lastReference: lastReference)
        guard
            let list = try? PropertyListValue(propertyList: metadata), let metadata = StoreMetadata.content(of: list)
        else { throw damaged("Its metadata are damaged.", url: url) }
        document.metadata = metadata
        document.objects = try objects.map { try object($0, url: url) }
        return document
    }

    private static func object(_ value: ReadableValue, url: URL) throws -> StoreDocument.Object {
        guard case .string(let entity)? = value["entity"], case .integer(let reference)? = value["reference"],
            let attributes = value["attributes"]?.members, let relationships = value["relationships"]?.members
        else { throw damaged("An object is damaged.", url: url) }
        return StoreDocument.Object(
            entity: entity, reference: reference,
            attributes: attributes.map { StoreDocument.Attribute(name: $0.name, type: "", value: $0.value) },
            relationships: try relationships.map { name, value in
                guard case .array(let elements) = value else { throw damaged("“\(name)” is not an array.", url: url) }
                let references = try elements.map { element in
                    guard case .integer(let number) = element else {
                        throw damaged("A reference of “\(name)” is not a number.", url: url)
                    }
                    return number
                }
                return StoreDocument.Relationship(name: name, isToMany: true, destination: "", references: references)
            })
    }

    // MARK: - Writing

    static func data(of document: StoreDocument, url: URL) throws -> Data {
        let root = ReadableValue(members: [
            ("format", .string(formatName)), ("version", .integer(version)), ("uuid", .string(document.uuid)),
            ("metadata", .data(try BinaryPropertyList.write(StoreMetadata.propertyList(of: document.metadata)))),
            ("lastReference", .integer(document.lastReference)), ("objects", .array(document.objects.map(value))),
        ])
        return try root.archived()
    }

    private static func value(_ object: StoreDocument.Object) -> ReadableValue {
        let relationships = object.relationships.filter { !$0.references.isEmpty }
        return ReadableValue(members: [
            ("entity", .string(object.entity)), ("reference", .integer(object.reference)),
            ("attributes", ReadableValue(members: object.attributes.map { ($0.name, $0.value) })),
            (
                "relationships",
                ReadableValue(
                    members: relationships.map { ($0.name, .array($0.references.map(ReadableValue.integer))) })
            ),
        ])
    }

    // MARK: - Values

    static func value(of stored: ReadableValue, kind: EntityLayout.Slot.Kind) -> Value? {
        switch (stored, kind) {
        case (.integer(let number), .integer16), (.integer(let number), .integer32),
            (.integer(let number), .integer64), (.integer(let number), .boolean):
            .integer(number)
        case (.boolean(let flag), .boolean): .integer(flag ? 1 : 0)
        case (.real(let number), .double), (.real(let number), .float): .real(number)
        case (.date(let date), .date): .real(date.timeIntervalSinceReferenceDate)
        case (.decimal(let number), .decimal): .decimal(number)
        case (.string(let text), .string): .string(text)
        case (.data(let data), .data), (.data(let data), .transformable): .data(data)
        case (.uuid(let uuid), .uuid): .uuid(uuid)
        case (.url(let text), .uri): URL(string: text).map { .object(ObjectValue($0)) }
        default: nil
        }
    }

    static func stored(_ value: Value, kind: EntityLayout.Slot.Kind) -> ReadableValue {
        switch value {
        case .integer(let number): kind == .boolean ? .boolean(number != 0) : .integer(number)
        case .real(let number): kind == .date ? .date(Date(timeIntervalSinceReferenceDate: number)) : .real(number)
        case .string(let text): .string(text)
        case .data(let data): .data(data)
        case .uuid(let uuid): .uuid(uuid)
        case .decimal(let number): .decimal(number)
        case .object(let box): .url((box.value as? URL)?.absoluteString ?? "")
        case .null, .reference: .null
        }
    }
}

extension ReadableValue {
    /// A dictionary whose keys are strings.
    fileprivate init(members: [(String, ReadableValue)]) {
        self = .dictionary(members.map { Pair(.string($0), $1) })
    }

    /// The pairs of a dictionary whose keys are strings; nil for anything else.
    fileprivate var members: [(name: String, value: ReadableValue)]? {
        guard case .dictionary(let pairs) = self else { return nil }
        var members: [(name: String, value: ReadableValue)] = []
        for pair in pairs {
            guard case .string(let name) = pair.key else { return nil }
            members.append((name, pair.value))
        }
        return members
    }

    fileprivate subscript(name: String) -> ReadableValue? { members?.first { $0.name == name }?.value }
}
