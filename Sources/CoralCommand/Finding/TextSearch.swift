import Coral
import CoralTools

#if STORE_ENGINE
    import CoralRows
    import ManagedObjects
    import SQLStores
#endif

// `coral find` (in `CoralCommand/Finding`) reads entities whose values are columns as rows (`TextSearch`), and decodes
// only the texts whose bytes may match (`TextMatcher`); the others are read as objects. `ObjectStream` reads the
// objects of a query batch by batch, `TableStream` measures the first rows of a table and then writes each row as it
// comes, in the cells of `CellWidth`. The model of a store without one is inferred from its tables (`ModelInference` in
// the engine).

/// Searches all values of a store for text: attributes, elements of composite values, archived values, and binary values in rows
/// and in files.
///
/// Entities whose values are columns of text are read as rows; the others as objects.
struct TextSearch {
    /// The values of one object in which the text was found.
    struct Hit {
        /// The short name of the object.
        let name: String
        /// The display name; nil without one.
        let label: String?
        /// The key path of each value, with the part around its first match.
        let values: [(path: String, excerpt: Excerpt)]
    }

    let matcher: TextMatcher
    /// Whether entities are read as rows where their values are columns. Rows do not have the unsaved changes of a context.
    var readsRows = true

    /// Searches the objects of entities, and passes each that has the text to a closure, in the order of the entities and the keys.
    ///
    /// Must be called on the context's queue. Throws `CocoaError.userCancelled` if the progress, which counts objects, is
    /// cancelled. Memory does not grow with the number of objects.
    func forEachHit(
        in entities: [NSEntityDescription], of store: NSPersistentStore, _ context: NSManagedObjectContext,
        _ progress: Progress, _ body: (Hit) throws -> Void
    ) throws {
        let concrete = Set(entities.flatMap(PlainSchema.hierarchy)).sorted { ($0.name ?? "") < ($1.name ?? "") }
        for entity in concrete {
            if readsRows, try searchRows(of: entity, store, context, progress, body) { continue }
            let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
            request.includesSubentities = false
            _ = try ObjectStream(of: request, isSorted: false, in: context).forEach(
                Progress.discreteProgress(totalUnitCount: 0)
            ) { object in
                if progress.isCancelled { throw CocoaError(.userCancelled) }
                progress.completedUnitCount += 1
                if let hit = hit(object) { try body(hit) }
            }
        }
    }

    // MARK: - Objects

    private func hit(_ object: NSManagedObject) -> Hit? {
        var found: [(path: String, excerpt: Excerpt)] = []
        for (name, attribute) in object.entity.attributesByName.sorted(by: { $0.key < $1.key }) {
            search(GraphValue(object.value(forKey: name), declaredAs: GraphSchema.Attribute(attribute)), name, &found)
        }
        guard !found.isEmpty else { return nil }
        return Hit(name: StoredName(object.objectID).text, label: ObjectLabel.text(of: object), values: found)
    }

    private func search(_ value: GraphValue, _ path: String, _ found: inout [(path: String, excerpt: Excerpt)]) {
        switch value {
        case .composite(let elements):
            for element in elements { search(element.value, "\(path).\(element.name)", &found) }
        case .transformable(let value):
            if let readable = value.readable ?? value.archive.flatMap({ ReadableValue(archive: $0) }) {
                search(readable, path, &found)
            } else if let archive = value.archive {
                searchContent(of: archive, path, &found)
            }
        case .data(let data): searchContent(of: data, path, &found)
        case .null, .file, .bool: break
        default: if let text = TextValue.text(of: value) { search(text, path, &found) }
        }
    }

    /// Recursive; the reader of archives limits the depth.
    private func search(_ value: ReadableValue, _ path: String, _ found: inout [(path: String, excerpt: Excerpt)]) {
        switch value {
        case .value(let value): search(value, path, &found)
        case .array(let values):
            for (index, value) in values.enumerated() { search(value, "\(path)[\(index)]", &found) }
        case .dictionary(let members): for member in members { search(member.value, "\(path).\(member.name)", &found) }
        }
    }

    private func search(_ text: String, _ path: String, _ found: inout [(path: String, excerpt: Excerpt)]) {
        if let range = matcher.range(in: text) { found.append((path, Excerpt(text, range))) }
    }

    /// Searches what bytes contain: compressed text, property lists, fields of messages.
    private func searchContent(of data: Data, _ path: String, _ found: inout [(path: String, excerpt: Excerpt)]) {
        switch ReadableBytes(data) {
        case .picture, .hexadecimal: search(data, path, &found)
        case let content: content.forEachText { search($1, path + $0, &found) }
        }
    }

    /// Searches the readable parts of bytes. A few letters in a picture are chance.
    private func search(_ data: Data, _ path: String, _ found: inout [(path: String, excerpt: Excerpt)]) {
        guard data.withUnsafeBytes({ matcher.mayMatch($0) }) else { return }
        for part in String(decoding: data, as: UTF8.self).split(whereSeparator: { !Self.isReadable($0) }) {
            guard part.utf8.count >= Self.readableLength else { continue }
            let text = String(part)
            if let range = matcher.range(in: text) { return found.append((path, Excerpt(text, range))) }
        }
    }

    /// The least number of bytes of a readable part.
    private static let readableLength = 12

    private static func isReadable(_ character: Character) -> Bool {
        guard let scalar = character.unicodeScalars.first, scalar != "\u{FFFD}" else { return false }
        return scalar.value >= 32 && !(0x7F...0x9F).contains(scalar.value) || character.isNewline || character == "\t"
    }

    // MARK: - Rows

    #if !STORE_ENGINE
        private func searchRows(
            of entity: NSEntityDescription, _ store: NSPersistentStore, _ context: NSManagedObjectContext,
            _ progress: Progress, _ body: (Hit) throws -> Void
        ) throws -> Bool { false }
    #else
        /// What is read from a row for an attribute.
        private enum Content {
            case text(Int32)
            case bytes(Int32)
            /// A stored archive.
            case archive(Int32)
            case value(AttributeColumn)
            /// A value that cannot contain the text.
            case nothing
        }

        /// The content of a column; nil if rows do not have it.
        private func content(of attribute: NSAttributeDescription, at column: Int32) -> Content? {
            switch attribute.attributeType {
            case .stringAttributeType: .text(column)
            case .binaryDataAttributeType: .bytes(column)
            case .transformableAttributeType: .archive(column)
            case let type:
                AttributeColumn(attribute, at: column).map { mayContainText(type) ? .value($0) : .nothing }
            }
        }

        /// Searches the rows of an entity; false if some of its values are not in columns.
        private func searchRows(
            of entity: NSEntityDescription, _ store: NSPersistentStore, _ context: NSManagedObjectContext,
            _ progress: Progress, _ body: (Hit) throws -> Void
        ) throws -> Bool {
            let attributes = entity.attributesByName.filter { !$0.value.isTransient }.sorted { $0.key < $1.key }
            var contents: [Content] = []
            for (index, attribute) in attributes.enumerated() {
                guard let content = content(of: attribute.value, at: Int32(index + 1)) else { return false }
                contents.append(content)
            }
            let label = LabelAttribute.name(of: entity, in: context)
            let labelColumn = attributes.firstIndex { $0.key == label }.map { Int32($0 + 1) }
            let isSearched: Bool? = try context.withRows(of: store) { rows in
                guard let cursor = try rows.cursor(over: entity, columns: attributes.map { .attribute([$0.key]) })
                else { return false }
                defer { cursor.finish() }
                var count: Int64 = 0
                defer { progress.completedUnitCount += count % 256 }
                while try cursor.next() {
                    count += 1
                    if count % 256 == 0 {
                        if progress.isCancelled { throw CocoaError(.userCancelled) }
                        progress.completedUnitCount += 256
                    }
                    var found: [(path: String, excerpt: Excerpt)] = []
                    for (index, content) in contents.enumerated() {
                        search(content, in: cursor, attributes[index].key, &found)
                    }
                    guard !found.isEmpty else { continue }
                    let title = labelColumn.flatMap { column in
                        cursor.isNull(column)
                            ? nil : PageNameCollector.name(String(decoding: cursor.text(column), as: UTF8.self))
                    }
                    try body(Hit(name: "\(entity.name ?? "")/p\(cursor.integer(0))", label: title, values: found))
                }
                return true
            }
            return isSearched == true
        }

        private func search(
            _ content: Content, in cursor: RowCursor, _ path: String, _ found: inout [(path: String, excerpt: Excerpt)]
        ) {
            switch content {
            case .nothing: break
            case .text(let column):
                // Only a text that may match is decoded.
                let text = cursor.text(column)
                if matcher.mayMatch(text) { search(String(decoding: text, as: UTF8.self), path, &found) }
            case .bytes(let column):
                if !cursor.isNull(column) { search(.data(Data(cursor.bytes(column))), path, &found) }
            case .archive(let column):
                guard !cursor.isNull(column) else { return }
                search(.transformable(TransformableValue(archive: Data(cursor.bytes(column)))), path, &found)
            case .value(let column): search(column.value(in: cursor), path, &found)
            }
        }

        private func mayContainText(_ type: NSAttributeType) -> Bool {
            switch type {
            case .booleanAttributeType: false
            case .URIAttributeType: true
            case .UUIDAttributeType: matcher.consists(of: "0123456789ABCDEFabcdef-")
            default: matcher.consists(of: "0123456789+-.:TZtze@")
            }
        }
    #endif
}
