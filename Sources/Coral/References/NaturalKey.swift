import CoreData
import GraphDocuments

/// The values that identify an object in any store: those of the key that its entity declares in the user info
/// (`coral.identity`), else of the first uniqueness constraint whose values are all present.
package struct NaturalKey: Codable, Sendable, Hashable {
    /// One value of a key.
    package indirect enum Value: Codable, Sendable, Hashable {
        /// An integer, or a boolean.
        case integer(Int64)
        /// A floating-point number.
        case real(Double)
        /// A decimal number.
        case decimal(Decimal)
        /// Text.
        case string(String)
        /// Seconds since 1 January 2001.
        case date(TimeInterval)
        /// Bytes.
        case data(Data)
        /// A UUID.
        case uuid(UUID)
        /// A URL.
        case url(URL)
        /// The destination of a to-one relationship, by its own key.
        case object(entity: String, key: NaturalKey)
    }

    /// The values by the names of attributes and to-one relationships.
    package var values: [String: Value]

    /// Creates a key from values.
    package init(_ values: [String: Value]) {
        self.values = values
    }

    /// The key of an object; nil if its entity declares none, or values are missing.
    package init?(_ object: NSManagedObject) {
        self.init(object, depth: 0)
    }

    /// The maximum number of relationships in a key: an object whose key contains a cycle has no natural key.
    private static let depthLimit = 8

    private init?(_ object: NSManagedObject, depth: Int) {
        guard depth < NaturalKey.depthLimit else { return nil }
        for names in NaturalKey.candidates(of: object.entity) {
            var values: [String: Value] = [:]
            for name in names {
                guard let value = NaturalKey.value(name, of: object, depth: depth) else { break }
                values[name] = value
            }
            if values.count == Set(names).count, !values.isEmpty {
                self.values = values
                return
            }
        }
        return nil
    }

    private static func candidates(of entity: NSEntityDescription) -> [[String]] {
        let lineage = Array(sequence(first: entity) { $0.superentity })
        for ancestor in lineage {
            guard let text = ancestor.userInfo?[ObjectIdentity.userInfoKey] as? String else { continue }
            return [text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }]
        }
        return lineage.flatMap(\.uniquenessConstraints).map { constraint in
            constraint.compactMap { ($0 as? String) ?? ($0 as? NSPropertyDescription)?.name }
        }
    }

    private static func value(_ name: String, of object: NSManagedObject, depth: Int) -> Value? {
        if object.entity.attributesByName[name] != nil {
            return object.value(forKey: name).flatMap(Value.init)
        }
        guard let relationship = object.entity.relationshipsByName[name], !relationship.isToMany,
            let target = object.value(forKey: name) as? NSManagedObject,
            let key = NaturalKey(target, depth: depth + 1)
        else { return nil }
        return .object(entity: target.entity.name ?? "", key: key)
    }

    // MARK: - Looking up

    /// The objects of a context with this key, at most two: more than one means that the key is ambiguous.
    ///
    /// Throws the errors of fetching. Cost: a fetch, and one for each relationship in the key. Properties that the
    /// entity does not have match nothing.
    package func objects(of entity: String, in context: NSManagedObjectContext) throws -> [NSManagedObject] {
        try objects(of: entity, in: context, depth: 0)
    }

    private func objects(
        of name: String, in context: NSManagedObjectContext, depth: Int
    ) throws -> [NSManagedObject] {
        guard depth < NaturalKey.depthLimit, !values.isEmpty,
            let entity = context.rootCoordinator?.managedObjectModel.entity(calledOnce: name)
        else { return [] }
        var parts: [NSPredicate] = []
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            let property = entity.property(calledOnce: name)
            let now = property?.name ?? name
            if case .object(let target, let key) = value {
                guard let relationship = property as? NSRelationshipDescription, !relationship.isToMany else {
                    return []
                }
                let found = try key.objects(of: target, in: context, depth: depth + 1)
                guard !found.isEmpty else { return [] }
                parts.append(NSPredicate(format: "%K IN %@", argumentArray: [now, found]))
            } else {
                guard let attribute = property as? NSAttributeDescription, let object = value.object,
                    AttributeValue.accepts(object, attribute)
                else { return [] }
                parts.append(NSPredicate(format: "%K == %@", argumentArray: [now, object]))
            }
        }
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? name)
        request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: parts)
        request.fetchLimit = 2
        return try context.fetch(request)
    }
}

extension NSManagedObjectModel {
    /// The entity with a name in this or an earlier version of the model.
    func entity(calledOnce name: String) -> NSEntityDescription? {
        entitiesByName[name] ?? entities.first { $0.renamingIdentifier == name }
    }
}

extension NSEntityDescription {
    /// The property with a name in this or an earlier version of the model.
    fileprivate func property(calledOnce name: String) -> NSPropertyDescription? {
        propertiesByName[name] ?? properties.first { $0.renamingIdentifier == name }
    }
}

extension NaturalKey.Value {
    /// Nil for values that cannot be part of a key.
    init?(_ value: Any) {
        switch value {
        case let value as String: self = .string(value)
        case let value as NSDecimalNumber: self = .decimal(value.decimalValue)
        case let value as NSNumber: self = NaturalKey.Value.number(value)
        case let value as Date: self = .date(value.timeIntervalSinceReferenceDate)
        case let value as Data: self = .data(value)
        case let value as UUID: self = .uuid(value)
        case let value as URL: self = .url(value)
        default: return nil
        }
    }

    private static func number(_ number: NSNumber) -> NaturalKey.Value {
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "d"), UInt8(ascii: "f"): .real(number.doubleValue)
        default: .integer(number.int64Value)
        }
    }

    /// The value for a predicate; nil for an object.
    var object: Any? {
        switch self {
        case .integer(let value): NSNumber(value: value)
        case .real(let value): NSNumber(value: value)
        case .decimal(let value): NSDecimalNumber(decimal: value)
        case .string(let value): value
        case .date(let value): Date(timeIntervalSinceReferenceDate: value)
        case .data(let value): value
        case .uuid(let value): value
        case .url(let value): value
        case .object: nil
        }
    }
}
