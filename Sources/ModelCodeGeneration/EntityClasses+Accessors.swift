import ModelFiles

/// A function that changes a to-many relationship.
struct RelationshipAccessor {
    /// Its Objective-C name, by which Apple's framework recognises it.
    let selector: String
    /// Its name and parameters in Swift.
    let signature: String
    /// The call on the typed property.
    let call: String
}

extension EntityClasses {
    /// The functions that Xcode generates for a to-many relationship, in its order.
    func accessors(of relationship: ModelRelationship, in entityClass: EntityClass) -> [RelationshipAccessor] {
        let name = SwiftName.capitalized(relationship.name)
        let element = entityClass.destination(of: relationship)
        let ordered = [
            RelationshipAccessor(
                selector: "insertObject:in\(name)AtIndex:",
                signature: "insertInto\(name)(_ value: \(element), at idx: Int)",
                call: "insert(value, into: self, at: idx)"),
            RelationshipAccessor(
                selector: "removeObjectFrom\(name)AtIndex:", signature: "removeFrom\(name)(at idx: Int)",
                call: "remove(at: idx, from: self)"),
            RelationshipAccessor(
                selector: "insert\(name):atIndexes:",
                signature: "insertInto\(name)(_ values: [\(element)], at indexes: NSIndexSet)",
                call: "insert(values, into: self, at: indexes)"),
            RelationshipAccessor(
                selector: "remove\(name)AtIndexes:", signature: "removeFrom\(name)(at indexes: NSIndexSet)",
                call: "remove(at: indexes, from: self)"),
            RelationshipAccessor(
                selector: "replaceObjectIn\(name)AtIndex:withObject:",
                signature: "replace\(name)(at idx: Int, with value: \(element))",
                call: "replace(at: idx, in: self, with: value)"),
            RelationshipAccessor(
                selector: "replace\(name)AtIndexes:with\(name):",
                signature: "replace\(name)(at indexes: NSIndexSet, with values: [\(element)])",
                call: "replace(at: indexes, in: self, with: values)"),
        ]
        let set = relationship.isOrdered ? "NSOrderedSet" : "NSSet"
        let unordered = [
            RelationshipAccessor(
                selector: "add\(name)Object:", signature: "addTo\(name)(_ value: \(element))",
                call: "add(value, to: self)"),
            RelationshipAccessor(
                selector: "remove\(name)Object:", signature: "removeFrom\(name)(_ value: \(element))",
                call: "remove(value, from: self)"),
            RelationshipAccessor(
                selector: "add\(name):", signature: "addTo\(name)(_ values: \(set))", call: "add(values, to: self)"),
            RelationshipAccessor(
                selector: "remove\(name):", signature: "removeFrom\(name)(_ values: \(set))",
                call: "remove(values, from: self)"),
        ]
        return relationship.isOrdered ? ordered + unordered : unordered
    }
}
