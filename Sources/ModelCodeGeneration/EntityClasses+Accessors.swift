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

extension EntityClasses {
    /// Writes the function that registers the names of the key paths of a class and its subclasses. Outside Apple's platforms a
    /// key path has no name.
    ///
    /// The topmost generated class registers all of them, because in Swift a class can conform to a protocol only once.
    /// Inherited properties are listed again: in Swift, `\Sub.title` and `\Note.title` are different key paths.
    func writeKeyPaths(_ entityClass: EntityClass, to text: inout SwiftText) {
        let known = keyPathClasses(of: entityClass)
        guard !known.isEmpty else { return }
        text.line()
        text.block("extension \(entityClass.identifier): \(engineNames["GeneratedManagedObject"])") { text in
            text.block("public static func registerGeneratedKeyPaths()") { text in
                for known in known {
                    for (path, name) in keyPaths(of: known) {
                        text.line(
                            "\(engineNames["KeyPathRegistry"]).register(\\\(known.identifier).\(path), as: \"\(name)\")"
                        )
                    }
                }
            }
        }
    }

    /// The key paths of a class and their names: its properties, and the attributes of the destinations of to-one
    /// relationships.
    private func keyPaths(of entityClass: EntityClass) -> [(path: String, name: String)] {
        // Properties of an ancestor that is not generated here may be hand-written or missing.
        let lineage = lineage(of: entityClass.entity).filter { $0.codeGeneration != .manual }
        var paths: [(path: String, name: String)] = []
        for property in lineage.flatMap(\.properties) {
            let path = SwiftName.identifier(property.name)
            paths.append((path, property.name))
            guard let relationship = property as? ModelRelationship, !relationship.isToMany,
                let destination = entity(named: relationship.destinationName), destination.ownClassName != nil
            else { continue }
            for attribute in self.lineage(of: destination).filter({ $0.codeGeneration != .manual }).flatMap(
                \.attributes)
            {
                paths.append(
                    ("\(path)?.\(SwiftName.identifier(attribute.name))", "\(property.name).\(attribute.name)"))
            }
        }
        return paths
    }
}
