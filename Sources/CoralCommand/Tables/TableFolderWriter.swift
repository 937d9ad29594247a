import AtomicFiles
import Coral

/// Writes a graph as tables in a folder: a file for each entity, and one for each relationship that needs pairs of objects.
///
/// Rows begin with the object's name, `Note/p1`, with which others refer to it. Elements of composite values have columns of their
/// own. Bytes are Base64. An empty field is null, and `""` an empty text. A to-many relationship has a file if the column of the
/// inverse does not express it: many-to-many, ordered, or without an inverse.
struct TableFolderWriter: GraphWriter {
    private let folder: URL
    private let schema: GraphSchema
    private let escapesFormulas: Bool
    private let form: TableForm
    private var tables: [String: ByteOutput] = [:]
    private var object: (entity: GraphSchema.Entity, id: String)?
    private var fields: [String: String] = [:]
    private var relationship: GraphSchema.Relationship?

    /// - Parameter escapesFormulas: Whether text that a spreadsheet would evaluate has an apostrophe.
    init(to folder: URL, model: NSManagedObjectModel, form: TableForm, escapesFormulas: Bool) {
        self.folder = folder
        self.form = form
        schema = GraphSchema(model)
        self.escapesFormulas = escapesFormulas
    }

    mutating func begin(_ header: DocumentHeader) throws {}

    mutating func beginObject(id: RecordID?, entity: String, isDeleted: Bool) throws {
        guard let entity = schema.entity(entity) else { return }
        object = (entity, id?.text ?? "")
        fields = [:]
    }

    mutating func attribute(_ name: String, _ value: GraphValue, declaredAs type: GraphSchema.Attribute?) throws {
        if case .composite(let elements) = value {
            for element in elements { try attribute("\(name).\(element.name)", element.value, declaredAs: nil) }
        } else {
            fields[name] = field(value)
        }
    }

    private func field(_ value: GraphValue) -> String? {
        switch value {
        case .string(""): return "\"\""
        case .string(let text): return form.field(escapesFormulas ? QueryDocument.unevaluated(text) : text)
        case .transformable(let value): return value.archive?.base64EncodedString()
        default: return TextValue.text(of: value).map(form.field)
        }
    }

    mutating func beginRelationship(_ name: String, isToMany: Bool, isOrdered: Bool) throws {
        relationship = object?.entity.relationship(name)
    }

    mutating func reference(_ id: RecordID) throws {
        guard let object, let relationship else { return }
        guard relationship.isToMany else {
            fields[relationship.name] = form.field(id.text)
            return
        }
        guard Self.hasTable(relationship, in: schema) else { return }
        let table = try table("\(object.entity.name).\(relationship.name)") {
            [object.entity.name, relationship.name]
        }
        try table.write(form.line([form.field(object.id), form.field(id.text)]))
    }

    mutating func endRelationship() throws { relationship = nil }

    mutating func nullRelationship(_ name: String) throws {}

    mutating func endObject() throws {
        guard let object else { return }
        let columns = Self.columns(of: object.entity)
        let table = try table(object.entity.name) { ["objectID"] + columns }
        try table.write(form.line([form.field(object.id)] + columns.map { fields[$0] ?? "" }))
        self.object = nil
    }

    mutating func finish() throws { for table in tables.values { try table.finish() } }

    /// The file with a name, which is begun with its titles.
    private mutating func table(_ name: String, _ titles: () -> [String]) throws -> ByteOutput {
        if let table = tables[name] { return table }
        let table = ByteOutput(to: try AtomicFile(path: folder.appendingPathComponent("\(name).\(form.rawValue)").path))
        try table.write(form.line(titles().map(form.field)))
        tables[name] = table
        return table
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
    private static func hasTable(_ relationship: GraphSchema.Relationship, in schema: GraphSchema) -> Bool {
        guard !relationship.isOrdered, let name = relationship.inverse,
            let inverse = schema.entity(relationship.destination)?.relationship(name)
        else { return true }
        guard inverse.isToMany else { return false }
        return (inverse.destination, relationship.name) <= (relationship.destination, inverse.name)
    }
}
