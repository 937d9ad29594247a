import ModelFiles

extension EntityClasses {
    /// What the key paths of a class, and of those below it, are called. A key path knows no name off Apple's
    /// platforms.
    ///
    /// The uppermost generated class says it for all, because Swift lets a class conform to a protocol only once.
    /// Inherited properties are listed again: to Swift, `\Sub.title` and `\Note.title` are two key paths.
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

    /// The key paths of a class and their names: its properties, and what attributes a to-one relationship leads to.
    private func keyPaths(of entityClass: EntityClass) -> [(path: String, name: String)] {
        // What a class above has that is not generated here may be written by hand, or not at all.
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
