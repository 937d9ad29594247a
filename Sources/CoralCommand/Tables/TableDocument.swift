import AtomicFiles
import Coral

/// Tables as the records of an import: a CSV file, or a folder of them as `coral export --format csv` writes it.
///
/// The types of values are those of the model. Memory holds all records.
struct TableDocument {
    private let model: NSManagedObjectModel
    private let schema: GraphSchema
    private let zone: TimeZone?
    private var records: [PlacedRecord] = []
    /// The members of to-many relationships in tables of pairs, by the owner's name and the relationship.
    private var members: [String: [String: [RecordID]]] = [:]
    /// The errors of single rows, with their lines.
    private(set) var mistakes: [String] = []

    /// Reads a file or the files of a folder.
    ///
    /// - Parameter entity: The entity of a file's rows; nil for the one that the file is named after.
    /// Throws `CommandError` with the line for a table that cannot be read at all. The errors of single rows are collected.
    init(at url: URL, entity: String?, model: NSManagedObjectModel, zone: TimeZone?) throws {
        self.model = model
        schema = GraphSchema(model)
        self.zone = zone
        if FileStatus(url.path)?.isFolder == true {
            guard entity == nil else {
                throw CommandError(
                    "--entity names the entity of one table. The tables of a folder are named after theirs.")
            }
            try readFolder(url)
        } else {
            try read(url, entity: entity ?? url.deletingPathExtension().lastPathComponent)
        }
    }

    private mutating func readFolder(_ folder: URL) throws {
        let files = try Self.files(in: folder)
        for file in files where file.name.contains(".") { try readPairs(file.url, file.name) }
        for file in files where !file.name.contains(".") { try read(file.url, entity: file.name) }
        if let (owner, relationships) = members.min(by: { $0.key < $1.key }) {
            let names = relationships.keys.sorted().joined(separator: ", ")
            throw CommandError("\(owner) has \(names) in a table of pairs, and is in no other table.")
        }
    }

    /// The tables of a folder, in the order of their names.
    static func files(in folder: URL) throws -> [(name: String, url: URL)] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { TableForm(ofFile: $0) != nil }
            .sorted().map {
                (($0 as NSString).deletingPathExtension, folder.appendingPathComponent($0))
            }
    }

    /// The records, which refer to each other only: a name such as `Note/p1` is not that of an object of the store.
    var source: ImportSource { .placedRecords(records) }

    private func rows(of url: URL) throws -> TableRows {
        let form = TableForm(ofFile: url.path) ?? .csv
        return try TableRows(Data(contentsOf: url), as: form, name: url.lastPathComponent)
    }

    // MARK: - Pairs

    private mutating func readPairs(_ url: URL, _ name: String) throws {
        let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
        guard parts.count == 2, let entity = schema.entity(parts[0]), let relationship = entity.relationship(parts[1]),
            relationship.isToMany
        else { throw CommandError("\(url.lastPathComponent) is not named after a to-many relationship of the model.") }
        var rows = try rows(of: url)
        guard try rows.next() != nil else { return }
        while let row = try rows.next() {
            guard row.fields.count == 2, !row.fields.contains(where: \.text.isEmpty) else {
                throw CommandError("\(url.lastPathComponent), line \(row.line): a pair has two names.")
            }
            members[row.fields[0].text, default: [:]][relationship.name, default: []].append(
                RecordID(row.fields[1].text))
        }
    }

    // MARK: - Objects

    private enum Column {
        case id
        case attribute([String], GraphSchema.Attribute)
        case reference(String)
        /// A number that `coral query` writes.
        case count
    }

    private mutating func read(_ url: URL, entity name: String) throws {
        let file = url.lastPathComponent
        guard let entity = schema.entity(name) else {
            let question = NameSuggestion.question(for: name, in: model.entitiesByName.keys)
            throw CommandError(
                "\(file): the model has no entity \"\(name)\".\(question) --entity names the one of the rows.")
        }
        var rows = try rows(of: url)
        guard let titles = try rows.next() else {
            throw CommandError("\(file) has no line with the names of the columns.")
        }
        let columns = try titles.fields.map { try column($0.text, of: entity, file) }
        let doubled = Dictionary(grouping: titles.fields.map(\.text)) { $0 }.first { $0.value.count > 1 }
        if let doubled { throw CommandError("\(file) has the column \(doubled.key) twice.") }
        while let row = try rows.next() {
            guard row.fields.count == columns.count else {
                mistakes.append(
                    "\(file), line \(row.line): the row has \(Quantity.count(row.fields.count, "field")), and there are "
                        + "\(Quantity.count(columns.count, "column")).")
                continue
            }
            add(row, columns, entity, file)
        }
    }

    private func column(_ title: String, of entity: GraphSchema.Entity, _ file: String) throws -> Column {
        if title == "objectID" { return .id }
        let keys = title.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        if let relationship = entity.relationship(keys[0]) {
            if keys.count == 2, keys[1] == "@count" { return .count }
            guard keys.count == 1, !relationship.isToMany else {
                throw CommandError(
                    "\(file): the column \(title) cannot be imported. To-one relationships are names such as "
                        + "\(relationship.destination)/p1; to-many ones have a table of pairs, \(entity.name).\(keys[0]).csv."
                )
            }
            return .reference(title)
        }
        var attribute = entity.attribute(keys[0])
        for key in keys.dropFirst() { attribute = attribute?.elements.first { $0.name == key } }
        guard let attribute, attribute.elements.isEmpty else {
            let names = TableFolderWriter.columns(of: entity)
            throw CommandError(
                "\(file): \(entity.name) has no property \(title).\(NameSuggestion.advice(for: title, in: names))")
        }
        return .attribute(keys, attribute)
    }

    private mutating func add(
        _ row: TableRows.Row, _ columns: [Column], _ entity: GraphSchema.Entity, _ file: String
    ) {
        var id: RecordID?
        var attributes: [GraphAttribute] = []
        var relationships: [GraphRelationship] = []
        for (field, column) in zip(row.fields, columns) {
            switch column {
            case .count: break
            case .id: id = field.text.isEmpty ? nil : RecordID(field.text)
            case .reference(let name):
                let target = field.text.isEmpty ? nil : RecordID(field.text)
                relationships.append(GraphRelationship(name: name, target: .toOne(target)))
            case .attribute(let keys, let attribute):
                guard let value = value(field, attribute) else {
                    mistakes.append(
                        "\(file), line \(row.line): \(keys.joined(separator: ".")) \"\(QueryAnswer.cut(field.text))\" is not "
                            + "\(Self.noun(attribute.type)).")
                    return
                }
                Self.set(value, keys[...], in: &attributes)
            }
        }
        if let id, let more = members.removeValue(forKey: id.text) {
            for (name, ids) in more.sorted(by: { $0.key < $1.key }) {
                let isOrdered = entity.relationship(name)?.isOrdered == true
                relationships.append(GraphRelationship(name: name, target: .toMany(ids), isOrdered: isOrdered))
            }
        }
        let record = GraphRecord(
            id: id ?? .number(records.count), entity: entity.name, attributes: attributes,
            relationships: relationships)
        records.append(
            PlacedRecord(
                record, at: DocumentPlace(offset: 0, line: row.line, column: 1, pointer: "/\(file)"),
                hasOwnID: id != nil))
    }

    /// Sets an element of a composite value in the value of its attribute. Recursive; the depth is that of the model.
    private static func set(_ value: GraphValue, _ keys: ArraySlice<String>, in attributes: inout [GraphAttribute]) {
        guard let key = keys.first else { return }
        guard keys.count > 1 else { return attributes.append(GraphAttribute(name: key, value: value)) }
        let index: Int
        if let known = attributes.firstIndex(where: { $0.name == key }) {
            index = known
        } else {
            index = attributes.count
            attributes.append(GraphAttribute(name: key, value: .null))
        }
        var elements: [GraphAttribute] = if case .composite(let known) = attributes[index].value { known } else { [] }
        // A composite value without any element is null.
        if value.isNull, elements.isEmpty { return }
        set(value, keys.dropFirst(), in: &elements)
        attributes[index].value = .composite(elements)
    }

    // MARK: - Values

    /// The value of a field; nil if it is not of the type.
    private func value(_ field: TableRows.Field, _ attribute: GraphSchema.Attribute) -> GraphValue? {
        if field.isNull || attribute.type != .string && field.text.isEmpty { return .null }
        let text = field.text.trimmingCharacters(in: .whitespaces)
        switch attribute.type {
        case .string: return .string(field.text)
        case .boolean:
            return ["true": true, "1": true, "false": false, "0": false][text.lowercased()].map { .bool($0) }
        case .date:
            if let exact = TextValue.anyValue(text, as: .date) { return exact }
            return TypedConstants.date(text, in: zone).map { .date($0.timeIntervalSinceReferenceDate) }
        case .binaryData: return Data(base64Encoded: text).map { .data($0) }
        case .transformable:
            return Data(base64Encoded: text).map { .transformable(TransformableValue(archive: $0)) }
        default: return TextValue.anyValue(text, as: attribute.type)
        }
    }

    private static func noun(_ type: GraphValueType) -> String {
        switch type {
        case .integer16, .integer32, .integer64: "an integer"
        case .double, .float, .decimal: "a number"
        case .boolean: "true or false"
        case .date: "a date, such as 2024-02-29 or 2024-02-29T12:30:00Z"
        case .uuid: "a UUID"
        case .uri: "a URL"
        case .binaryData, .transformable: "Base64"
        default: "a value that a table can have"
        }
    }
}
