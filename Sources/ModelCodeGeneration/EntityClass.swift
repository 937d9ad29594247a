import ModelFiles

/// An entity with the names for its class.
struct EntityClass {
    let entity: ModelEntity
    /// The class's own name, without a module.
    let name: String
    /// The name of the class that it inherits from.
    let superclassName: String
    /// Whether the entity has no parent: then its class conforms to `Identifiable`.
    let isRoot: Bool
    /// The class names of the destinations of relationships and fetched properties, by property.
    let destinations: [String: String]

    /// The name as it is written in a declaration.
    var identifier: String { SwiftName.identifier(name) }

    /// Whether the class itself is generated, not only its properties.
    var isGeneratedWhole: Bool { entity.codeGeneration == .classDefinition }

    func destination(of property: any ModelProperty) -> String {
        destinations[property.name] ?? EntityClasses.baseClassName
    }
}

extension ModelEntity {
    /// The class of the entity's objects without a module; nil if it is `NSManagedObject` itself.
    var ownClassName: String? {
        guard let last = className?.split(separator: ".").last.map(String.init) else { return nil }
        return last == EntityClasses.baseClassName ? nil : last
    }

    /// The module in the class's name; nil without one, and for the module that is compiled.
    var classModuleName: String? {
        guard let className, !className.hasPrefix("."), let dot = className.lastIndex(of: ".") else { return nil }
        return String(className[..<dot])
    }
}
