import Coral

/// A column of a query's result: a key path evaluated on each object.
struct QueryColumn {
    /// The title of the column: the key path.
    let title: String
    let keys: [String]

    /// The relationships of the path, which are prefetched together.
    let prefetching: String?

    /// A column of a valid key path.
    init(_ keyPath: String, of entity: NSEntityDescription) {
        title = keyPath
        keys = KeyPathCheck.keys(of: keyPath)
        var path: [String] = []
        var here = entity
        for key in keys {
            guard let next = here.relationshipsByName[key]?.destinationEntity else { break }
            path.append(key)
            here = next
        }
        prefetching = path.isEmpty ? nil : path.joined(separator: ".")
    }

    // MARK: - Choice of columns

    /// The columns of a list of key paths. Throws `CommandError` with the position of an invalid one.
    static func columns(_ text: String, of entity: NSEntityDescription) throws -> [QueryColumn] {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard text.contains(where: { !$0.isWhitespace }) else {
            throw CommandError("--columns is empty. Write key paths: title,tags.name.")
        }
        let paths = try parts.flatMap { part -> [String] in
            let path = part.trimmingCharacters(in: .whitespaces)
            return path.contains("*") ? try Self.paths(like: path, of: entity) : [path]
        }
        return try paths.map { path in
            let keys = KeyPathCheck.keys(of: path)
            let property = try KeyPathCheck(entity).check(keys, in: text)
            if property == nil, let key = keys.dropLast().first(where: KeyPathCheck.builtIn.contains) {
                throw CommandError("No key can follow \(key) in a column." + Caret.below([key], in: text))
            }
            if let word = keys.first(where: { $0.hasPrefix("@") && $0 != "@count" }) {
                throw CommandError("Columns support @count, not \(word)." + Caret.below([word], in: text))
            }
            if let index = keys.firstIndex(of: "@count"), index == 0 || index + 1 < keys.count {
                throw CommandError("@count must be at the end, after a to-many relationship: items.@count.")
            }
            return QueryColumn(path, of: entity)
        }
    }

    /// The key paths that a pattern matches, in which `*` stands for any letters of a name: `*Date`, `author.*`. Throws
    /// `CommandError` if there are none.
    private static func paths(like pattern: String, of entity: NSEntityDescription) throws -> [String] {
        let names = KeyPathCheck.keys(of: pattern)
        var found: [(path: String, entity: NSEntityDescription?)] = [("", entity)]
        for name in names {
            found = found.flatMap { path, entity in
                (entity?.propertiesByName ?? [:]).sorted { $0.key < $1.key }.compactMap { key, property in
                    guard matches(key[...], name[...]) else { return nil }
                    let relationship = property as? NSRelationshipDescription
                    return (path.isEmpty ? key : "\(path).\(key)", relationship?.destinationEntity)
                }
            }
        }
        guard !found.isEmpty else {
            throw CommandError("\(entity.name ?? "") has no properties like \(pattern).")
        }
        return found.map(\.path)
    }

    /// Whether a name matches a pattern, without regard to case. Each `*` is tried at one place: the first at which what follows it
    /// matches.
    private static func matches(_ name: Substring, _ pattern: Substring) -> Bool {
        let pieces = pattern.lowercased().split(separator: "*", omittingEmptySubsequences: false)
        var rest = name.lowercased()[...]
        guard pieces.count > 1 else { return rest == pieces[0] }
        guard rest.hasPrefix(pieces[0]) else { return false }
        rest = rest.dropFirst(pieces[0].count)
        for piece in pieces.dropFirst().dropLast() where !piece.isEmpty {
            guard let range = rest.range(of: piece) else { return false }
            rest = rest[range.upperBound...]
        }
        return rest.hasSuffix(pieces[pieces.count - 1])
    }

    /// The object's name, its attributes except large ones, the destinations of to-one relationships, and the member
    /// counts of to-many relationships, in the order of their names.
    static func standardColumns(of entity: NSEntityDescription) -> [QueryColumn] {
        let attributes = entity.attributesByName.sorted { $0.key < $1.key }.filter { _, attribute in
            attribute.attributeType != .binaryDataAttributeType
                && attribute.attributeType != .transformableAttributeType
        }
        let relationships = entity.relationshipsByName.sorted { $0.key < $1.key }
        let paths =
            ["objectID"] + attributes.map(\.key)
            + relationships.map { $0.value.isToMany ? "\($0.key).@count" : $0.key }
        return paths.map { QueryColumn($0, of: entity) }
    }

    // MARK: - Cells

    /// The value of an object at the key path.
    func cell(of object: NSManagedObject) -> QueryCell { Self.cell(of: object, keys[...]) }

    private static func cell(of object: NSManagedObject, _ keys: ArraySlice<String>) -> QueryCell {
        guard let key = keys.first else { return .object(StoredName(object.objectID).text) }
        if let attribute = object.entity.attributesByName[key] {
            let schema = GraphSchema.Attribute(attribute)
            return cell(of: GraphValue(object.value(forKey: key), declaredAs: schema), schema, keys.dropFirst())
        }
        if let relationship = object.entity.relationshipsByName[key] {
            let rest = keys.dropFirst()
            let value = object.value(forKey: key)
            guard relationship.isToMany else {
                return (value as? NSManagedObject).map { cell(of: $0, rest) } ?? .null
            }
            let members = members(of: value)
            if rest.first == "@count" { return .value(.integer(Int64(members.count)), nil) }
            return .list(members.map { cell(of: $0, rest) })
        }
        switch key {
        case "objectID", "self", "SELF": return .object(StoredName(object.objectID).text)
        case "entity": return .value(.string(object.entity.name ?? ""), nil)
        // The property belongs to subentities only.
        default: return .null
        }
    }

    /// A value, or an element of a composite value.
    private static func cell(
        of value: GraphValue, _ schema: GraphSchema.Attribute, _ keys: ArraySlice<String>
    ) -> QueryCell {
        guard let key = keys.first, case .composite(let elements) = value else {
            return value.isNull ? .null : .value(value, schema)
        }
        guard let element = elements.first(where: { $0.name == key }),
            let inner = schema.elements.first(where: { $0.name == key })
        else { return .null }
        return cell(of: element.value, inner, keys.dropFirst())
    }

    private static func members(of value: Any?) -> [NSManagedObject] {
        if let ordered = value as? NSOrderedSet { return ordered.array.compactMap { $0 as? NSManagedObject } }
        let members = (value as? NSSet)?.allObjects.compactMap { $0 as? NSManagedObject } ?? []
        return StoredName.sorted(members)
    }
}
