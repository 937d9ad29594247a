import AtomicFiles
import Coral

/// Writes records as tables in a folder: a file for each entity, and one for each relationship that needs pairs of objects.
///
/// Rows begin with the object's name, `Note/p1`, with which others refer to it. Elements of composite values have columns of their
/// own. Bytes are Base64. An empty field is null, and `""` an empty text. A to-many relationship has a file if the column of the
/// inverse does not express it: many-to-many, ordered, or without an inverse.
final class TableFolderWriter {
    private let folder: URL
    private let schema: GraphSchema
    private let form: TableForm
    private let escapesFormulas: Bool
    private var tables: [String: EntityTable] = [:]
    private var last: EntityTable?

    /// - Parameter escapesFormulas: Whether text that a spreadsheet would evaluate has an apostrophe.
    init(to folder: URL, model: NSManagedObjectModel, form: TableForm, escapesFormulas: Bool) {
        self.folder = folder
        self.form = form
        schema = GraphSchema(model)
        self.escapesFormulas = escapesFormulas
    }

    /// Writes a record. Those of one entity have the same properties.
    func write(_ record: GraphRecord) throws {
        // Consecutive records usually have the same entity.
        if last?.entity.name != record.entity { last = try table(of: record) }
        try last?.write(record)
    }

    func finish() throws {
        for table in tables.values {
            try table.rows.output.finish()
            for pairs in table.pairs { try pairs.file?.output.finish() }
        }
    }

    /// The table of a record's entity, which is begun with its titles.
    private func table(of record: GraphRecord) throws -> EntityTable? {
        if let table = tables[record.entity] { return table }
        guard let entity = schema.entity(record.entity) else { return nil }
        let rows = try file(entity.name, ["objectID"] + Self.columns(of: entity))
        let table = EntityTable(entity, record, rows, schema) { [unowned self] in
            try file("\(entity.name).\($0)", [entity.name, $0])
        }
        tables[entity.name] = table
        return table
    }

    private func file(_ name: String, _ titles: [String]) throws -> TableFile {
        let path = folder.appendingPathComponent("\(name).\(form.rawValue)").path
        let output = ByteOutput(to: try AtomicFile(path: path))
        var file = TableFile(
            output: output, table: TableWriter(form, to: output, escapesFormulas: escapesFormulas))
        try file.table.line(titles)
        return file
    }

    // MARK: - Columns

    /// The columns of an entity after that of the object's name: attributes and to-one relationships.
    static func columns(of entity: GraphSchema.Entity) -> [String] {
        entity.attributes.flatMap { columns(of: $0, "") } + entity.relationships.filter { !$0.isToMany }.map(\.name)
    }

    /// Recursive; the depth is that of the model.
    private static func columns(of attribute: GraphSchema.Attribute, _ prefix: String) -> [String] {
        let name = prefix + attribute.name
        return attribute.elements.isEmpty ? [name] : attribute.elements.flatMap { columns(of: $0, "\(name).") }
    }

    /// Whether a to-many relationship has a table. Of the sides of a many-to-many relationship only one has, unless both are
    /// ordered.
    fileprivate static func hasTable(_ relationship: GraphSchema.Relationship, in schema: GraphSchema) -> Bool {
        guard !relationship.isOrdered, let name = relationship.inverse,
            let inverse = schema.entity(relationship.destination)?.relationship(name)
        else { return true }
        guard inverse.isToMany else { return false }
        return (inverse.destination, relationship.name) <= (relationship.destination, inverse.name)
    }
}

private struct TableFile {
    let output: ByteOutput
    var table: TableWriter
}

/// The table of an entity, and the tables of pairs of its relationships.
private final class EntityTable {
    /// The relationship of a table of pairs, at its place in records. The file is made for the first pair.
    struct Pairs {
        let name: String
        let place: Int
        var file: TableFile?
    }

    let entity: GraphSchema.Entity
    private(set) var rows: TableFile
    private(set) var pairs: [Pairs]
    /// The places in records of the attributes and of the to-one relationships that have columns; nil for one that is omitted.
    private let attributes: [(place: Int?, attribute: GraphSchema.Attribute)]
    private let references: [Int?]
    private let makePairs: (String) throws -> TableFile

    init(
        _ entity: GraphSchema.Entity, _ record: GraphRecord, _ rows: TableFile, _ schema: GraphSchema,
        makePairs: @escaping (String) throws -> TableFile
    ) {
        self.entity = entity
        self.rows = rows
        self.makePairs = makePairs
        attributes = entity.attributes.map { attribute in
            (record.attributes.firstIndex { $0.name == attribute.name }, attribute)
        }
        let place = { (name: String) in record.relationships.firstIndex { $0.name == name } }
        references = entity.relationships.filter { !$0.isToMany }.map { place($0.name) }
        pairs = entity.relationships.filter { $0.isToMany && TableFolderWriter.hasTable($0, in: schema) }
            .compactMap { relationship in
                place(relationship.name).map { Pairs(name: relationship.name, place: $0) }
            }
    }

    func write(_ record: GraphRecord) throws {
        try rows.table.text(record.id.text)
        for (place, attribute) in attributes {
            try write(place.map { record.attributes[$0].value } ?? .null, attribute)
        }
        for place in references {
            if let place, case .toOne(let id?) = record.relationships[place].target {
                try rows.table.text(id.text)
            } else {
                try rows.table.null()
            }
        }
        try rows.table.endLine()
        for index in pairs.indices { try writePairs(of: record, index) }
    }

    /// Writes a value, or a field for each element of a composite one. Recursive; the depth is that of the model.
    private func write(_ value: GraphValue, _ attribute: GraphSchema.Attribute) throws {
        guard attribute.elements.isEmpty else {
            let elements: [GraphAttribute] = if case .composite(let elements) = value { elements } else { [] }
            for element in attribute.elements {
                try write(elements.first { $0.name == element.name }?.value ?? .null, element)
            }
            return
        }
        if case .string("") = value { try rows.table.quotedEmptyText() } else { try rows.table.value(value) }
    }

    private func writePairs(of record: GraphRecord, _ index: Int) throws {
        guard case .toMany(let ids) = record.relationships[pairs[index].place].target, !ids.isEmpty else { return }
        if pairs[index].file == nil { pairs[index].file = try makePairs(pairs[index].name) }
        for id in ids {
            try pairs[index].file?.table.text(record.id.text)
            try pairs[index].file?.table.text(id.text)
            try pairs[index].file?.table.endLine()
        }
    }
}
