import ModelFiles

extension EntityClasses {
    /// Writes the class itself, empty.
    func writeClass(_ entityClass: EntityClass, to text: inout SwiftText) {
        text.line("#if canImport(Darwin)")
        text.line("@objc(\(entityClass.name))")
        text.line("#endif")
        text.block("public class \(entityClass.identifier): \(entityClass.superclassName)") { $0.line() }
        text.line()
    }

    /// Writes the extension with the properties and accessors.
    func writeProperties(_ entityClass: EntityClass, to text: inout SwiftText) {
        let name = entityClass.identifier
        text.block("extension \(name)") { text in
            text.block("@nonobjc public class func fetchRequest() -> NSFetchRequest<\(name)>") { text in
                text.line("return NSFetchRequest<\(name)>(entityName: \"\(entityClass.entity.name)\")")
            }
        }
        text.line()
        text.line("#if canImport(Darwin)")
        writeManagedDeclarations(entityClass, to: &text)
        text.line("#else")
        writeTypedAccessors(entityClass, to: &text)
        writeKeyPaths(entityClass, to: &text)
        text.line("#endif")
        text.line()
        if entityClass.isRoot {
            text.block("extension \(name): Identifiable") { $0.line() }
            text.line()
        }
    }

    /// The type of a property, and whether it can be set.
    func type(of property: any ModelProperty, in entityClass: EntityClass) -> String {
        switch property {
        case let attribute as ModelAttribute: types.name(of: attribute)
        case let relationship as ModelRelationship:
            types.name(of: relationship, destination: entityClass.destination(of: relationship))
        default: "[\(entityClass.destination(of: property))]?"
        }
    }
}

// MARK: - On Apple's platforms

extension EntityClasses {
    private func writeManagedDeclarations(_ entityClass: EntityClass, to text: inout SwiftText) {
        let entity = entityClass.entity
        text.block("extension \(entityClass.identifier)") { text in
            for property in entity.properties {
                let type = type(of: property, in: entityClass)
                text.line("@NSManaged public var \(SwiftName.identifier(property.name)): \(type)")
            }
        }
        for relationship in entity.relationships where relationship.isToMany {
            text.line()
            text.line("// MARK: Accessors of \(relationship.name)")
            text.block("extension \(entityClass.identifier)") { text in
                for (index, accessor) in accessors(of: relationship, in: entityClass).enumerated() {
                    if index > 0 { text.line() }
                    text.line("@objc(\(accessor.selector))")
                    text.line("@NSManaged public func \(accessor.signature)")
                }
            }
        }
    }
}

// MARK: - Elsewhere

extension EntityClasses {
    private func writeTypedAccessors(_ entityClass: EntityClass, to text: inout SwiftText) {
        let entity = entityClass.entity
        let plan = entity.attributes as [any ModelProperty] + entity.relationships
        text.block("extension \(entityClass.identifier)") { text in
            if !plan.isEmpty {
                text.block("private enum ManagedProperties") { text in
                    for property in plan {
                        let type =
                            (property as? ModelAttribute).map(types.storedName) ?? type(of: property, in: entityClass)
                        let name = SwiftName.identifier(property.name)
                        text.line(
                            "static let \(name) = \(engineNames["ManagedProperty"])<\(type)>(\"\(property.name)\")")
                    }
                }
            }
            for property in entity.properties {
                text.line()
                writeTypedAccessor(property, in: entityClass, to: &text)
            }
        }
        for relationship in entity.relationships where relationship.isToMany {
            text.line()
            text.line("// MARK: Accessors of \(relationship.name)")
            text.block("extension \(entityClass.identifier)") { text in
                let property = "ManagedProperties.\(SwiftName.identifier(relationship.name))"
                for (index, accessor) in accessors(of: relationship, in: entityClass).enumerated() {
                    if index > 0 { text.line() }
                    text.block("public func \(accessor.signature)") { $0.line("\(property).\(accessor.call)") }
                }
                writeArrayAccessors(of: relationship, in: entityClass, to: &text)
            }
        }
    }

    /// The functions for an array of members: on Apple's platforms `addToTags([home, work])` passes a literal of `NSSet`, which
    /// has no array literals on other platforms. `NSOrderedSet` has them on all platforms.
    private func writeArrayAccessors(
        of relationship: ModelRelationship, in entityClass: EntityClass, to text: inout SwiftText
    ) {
        guard !relationship.isOrdered else { return }
        let name = SwiftName.capitalized(relationship.name)
        let element = entityClass.destination(of: relationship)
        for function in ["addTo\(name)", "removeFrom\(name)"] {
            text.line()
            text.block("public func \(function)(_ values: [\(element)])") {
                $0.line("\(function)(NSSet(array: values))")
            }
        }
    }

    private func writeTypedAccessor(
        _ property: any ModelProperty, in entityClass: EntityClass, to text: inout SwiftText
    ) {
        let name = SwiftName.identifier(property.name)
        let type = type(of: property, in: entityClass)
        let head = "public var \(name): \(type)"
        if property is ModelFetchedProperty {
            return text.line("\(head) { value(forKey: \"\(property.name)\") as? \(type.dropLast()) }")
        }
        let place = "ManagedProperties.\(name)[self]"
        if let attribute = property as? ModelAttribute, types.isDateInSeconds(attribute) {
            text.block(head) { text in
                text.line("get { \(place)?.timeIntervalSinceReferenceDate ?? 0 }")
                text.line("set { \(place) = .init(timeIntervalSinceReferenceDate: newValue) }")
            }
        } else {
            text.block(head) { text in
                text.line("get { \(place) }")
                text.line("set { \(place) = newValue }")
            }
        }
    }
}
