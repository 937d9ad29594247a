import CoreData
import GraphDocuments

/// The user info directives that describe the format of documents: those of this library, or of another library that an
/// app used before.
///
///     let options = try Dialect.groot.importOptions(for: model)
///     let cards = try context.importObjects(from: json, as: Card.self, options: options)
///
/// A dialect reads user info into a `Mapping`, and reproduces the import behaviour of its library. Models annotated for
/// that library work unchanged. MOCloner's directives concern copies: `GraphCopier` reads them.
public struct Dialect: Sendable {
    /// The name, for `init(named:)` and the command.
    public let name: String
    let read: @Sendable (NSManagedObjectModel) -> DialectReading
    let adjust: @Sendable (inout ImportOptions, NSManagedObjectModel) -> Void

    /// The directives of this library: `coral.key`, `coral.dates` and others; see <doc:MappingDocuments>.
    public static let coral = Dialect(name: "coral", read: CoralDialect.read) { _, _ in }
    /// Groot: `JSONKeyPath`, `JSONTransformerName`, `identityAttribute(s)`, `entityMapperName`, …
    public static let groot = Dialect(name: "groot", read: GrootDialect.read, adjust: GrootDialect.adjust)
    /// Sync: `sync.remoteKey`, `sync.isPrimaryKey`, snake_case by default, `…_id` and `…_ids`, …
    public static let sync = Dialect(name: "sync", read: SyncDialect.read, adjust: SyncDialect.adjust)
    /// MagicalImport, a part of MagicalRecord: `mappedKeyName`, `relatedByAttribute`, `dateFormat`, …
    public static let magicalImport = Dialect(
        name: "magicalimport", read: MagicalImportDialect.read, adjust: MagicalImportDialect.adjust)

    /// All dialects.
    package static let all: [Dialect] = [.coral, .groot, .sync, .magicalImport]

    /// The dialect of that name, or nil.
    package init?(named name: String) {
        guard let known = Dialect.all.first(where: { $0.name == name.lowercased() }) else { return nil }
        self = known
    }

    private init(
        name: String, read: @escaping @Sendable (NSManagedObjectModel) -> DialectReading,
        adjust: @escaping @Sendable (inout ImportOptions, NSManagedObjectModel) -> Void
    ) {
        self.name = name
        self.read = read
        self.adjust = adjust
    }

    /// The mapping that a model's user info declares. Throws `MappingError` if it is malformed.
    public func mapping(of model: NSManagedObjectModel) throws -> Mapping {
        let reading = read(model)
        guard reading.mistakes.allSatisfy(\.isWarning) else { throw MappingError(reading.mistakes) }
        return reading.mapping
    }

    /// All errors in the user info: misspelt directives, invalid values, and declarations that do not fit the model. Empty if
    /// there are none.
    public func mistakes(in model: NSManagedObjectModel) -> [MappingMistake] {
        let reading = read(model)
        return (reading.mistakes + reading.mapping.mistakes(in: model))
            .sorted { ($0.entity, $0.property ?? "", $0.message) < ($1.entity, $1.property ?? "", $1.message) }
    }

    /// Options for importing documents of the dialect: the mapping, and the library's treatment of references, missing
    /// members, and trailing commas. Other given options are kept.
    ///
    /// Throws `MappingError` if the user info is malformed.
    public func importOptions(
        for model: NSManagedObjectModel, _ base: ImportOptions = ImportOptions()
    ) throws -> ImportOptions {
        var options = base
        let mapping = try mapping(of: model)
        options.mapping = base.mapping.map { mapping.merging($0) } ?? mapping
        adjust(&options, model)
        return options
    }

    /// An exporter that writes documents of the dialect: objects with the destinations of all their mapped
    /// relationships.
    ///
    /// Throws `MappingError` if the user info is malformed.
    public func exporter(for model: NSManagedObjectModel, format: GraphFormat = .json) throws -> GraphExporter {
        var exporter = GraphExporter(format: format, layout: .nested, shape: .everything)
        exporter.mapping = try mapping(of: model)
        return exporter
    }
}

/// The result of reading a model's user info.
struct DialectReading {
    var mapping = Mapping()
    var mistakes: [MappingMistake] = []

    mutating func note(
        _ code: MappingMistake.Code, _ message: String, _ entity: String, _ property: String? = nil,
        isWarning: Bool = false
    ) {
        mistakes.append(MappingMistake(code, message, entity: entity, property: property, isWarning: isWarning))
    }

    /// Records each key of a user info that is similar to a known one, and each unknown key with the dialect's prefix.
    mutating func checkWords(
        of userInfo: [AnyHashable: Any]?, known: [String], prefix: String? = nil, _ entity: String,
        _ property: String? = nil
    ) {
        for key in (userInfo ?? [:]).keys.compactMap({ $0 as? String }).sorted() where !known.contains(key) {
            if let prefix {
                guard key.lowercased().hasPrefix(prefix) else { continue }
            } else {
                guard NameSuggestion.nearest(to: key, in: known) != nil else { continue }
            }
            note(
                .unknownDirective, "Unknown directive \"\(key)\".\(NameSuggestion.question(for: key, in: known))",
                entity,
                property)
        }
    }
}

extension NSManagedObjectModel {
    /// The entities, sorted by name, so that results are deterministic.
    package var sortedEntities: [NSEntityDescription] { entities.sorted { ($0.name ?? "") < ($1.name ?? "") } }
}

extension NSEntityDescription {
    /// The properties that the entity itself declares, sorted by name.
    package var ownProperties: [NSPropertyDescription] {
        let inherited = superentity?.propertiesByName ?? [:]
        return propertiesByName.filter { inherited[$0.key] == nil }.map(\.value).sorted { $0.name < $1.name }
    }
}

/// The text of a directive; nil if there is none.
func directive(_ key: String, in userInfo: [AnyHashable: Any]?) -> String? {
    userInfo?[key].map { ($0 as? String) ?? "\($0)" }
}
