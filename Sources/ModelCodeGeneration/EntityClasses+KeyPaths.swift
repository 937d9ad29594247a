import ModelFiles

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
        text.block("extension \(entityClass.identifier): GeneratedManagedObject") { text in
            text.block("public static func registerGeneratedKeyPaths()") { text in
                for known in known {
                    for (path, name) in keyPaths(of: known) {
                        text.line("KeyPathRegistry.register(\\\(known.identifier).\(path), as: \"\(name)\")")
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
