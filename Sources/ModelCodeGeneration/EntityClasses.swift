import ModelFiles

/// The classes of a model's entities as Swift, in the shape in which Xcode generates them.
///
/// For each entity whose code generation is *class* there is a class, and for these and for *category* an extension
/// with the properties, the accessors of to-many relationships and `fetchRequest()`. On Apple's platforms the
/// properties are `@NSManaged`; elsewhere they are typed accessors of the engine's. One text serves both.
///
/// The same model gives the same text. Cost: one step a property; a line more for each attribute that a to-one
/// relationship leads to.
public struct EntityClasses: Sendable {
    static let baseClassName = "NSManagedObject"

    let classes: [EntityClass]
    let types: SwiftType
    /// The name of the model, for the first line of what is generated.
    let modelName: String
    private let entities: ModelInheritance

    /// The classes of a model that is built into a module, in the model's order of entities.
    ///
    /// - Throws: ``EntityClassErrors`` with all mistakes of the model that stand in the way, each with file and line.
    public init(of model: Model, named modelName: String, moduleName: String? = nil) throws {
        let mistakes = model.validate() + Self.mistakes(in: model, moduleName: moduleName)
        guard mistakes.isEmpty else { throw EntityClassErrors(errors: mistakes) }
        let inheritance = ModelInheritance(model)
        func className(ofEntity name: String?) -> String {
            let found = name.flatMap { inheritance.entities[$0]?.ownClassName } ?? Self.baseClassName
            return SwiftName.identifier(found)
        }
        entities = inheritance
        self.modelName = modelName
        types = SwiftType(classNames: Set(model.entities.compactMap(\.ownClassName)))
        classes = model.entities.compactMap { entity in
            guard entity.codeGeneration != .manual, let name = entity.ownClassName else { return nil }
            let lineage = inheritance.lineage(of: entity.name)
            var destinations: [String: String] = [:]
            for relationship in lineage.flatMap(\.relationships) {
                destinations[relationship.name] = className(ofEntity: relationship.destinationName)
            }
            for property in lineage.flatMap(\.fetchedProperties) {
                destinations[property.name] = className(ofEntity: property.fetchRequest.entityName)
            }
            return EntityClass(
                entity: entity, name: name, superclassName: className(ofEntity: entity.parentName),
                isRoot: entity.parentName == nil, destinations: destinations)
        }
    }

    /// The names of the generated classes and extensions, in the model's order.
    public var classNames: [String] { classes.map(\.name) }

    /// Everything as the text of one file.
    public func text() -> String {
        var text = SwiftText(modelName: modelName)
        for entityClass in classes {
            text.line("// MARK: - \(entityClass.name)")
            text.line()
            if entityClass.isGeneratedWhole { writeClass(entityClass, to: &text) }
            writeProperties(entityClass, to: &text)
        }
        return text.finished()
    }

    /// Two files for each class, as Xcode names them: one with the class, for you to write in, and one with its
    /// properties, to be generated anew when the model changes.
    public func files() -> [GeneratedFile] {
        classes.flatMap { entityClass in
            var files: [GeneratedFile] = []
            if entityClass.isGeneratedWhole {
                var text = SwiftText()
                writeClass(entityClass, to: &text)
                files.append(
                    GeneratedFile(
                        name: entityClass.name + "+CoreDataClass.swift", entityName: entityClass.entity.name,
                        text: text.finished(), isEditable: true))
            }
            var text = SwiftText(modelName: modelName)
            writeProperties(entityClass, to: &text)
            files.append(
                GeneratedFile(
                    name: entityClass.name + "+CoreDataProperties.swift", entityName: entityClass.entity.name,
                    text: text.finished(), isEditable: false))
            return files
        }
    }

    /// The entity and those above it, the uppermost first.
    func lineage(of entity: ModelEntity) -> [ModelEntity] {
        entities.lineage(of: entity.name)
    }

    /// The entity of a name.
    func entity(named name: String?) -> ModelEntity? {
        name.flatMap { entities.entities[$0] }
    }

    /// The classes whose key paths a class makes known: it and those below it. None where a class above does it.
    func keyPathClasses(of entityClass: EntityClass) -> [EntityClass] {
        let isBelowGenerated = lineage(of: entityClass.entity).dropLast().contains { ancestor in
            classes.contains { $0.entity.name == ancestor.name }
        }
        guard !isBelowGenerated else { return [] }
        return classes.filter { other in
            lineage(of: other.entity).contains { $0.name == entityClass.entity.name }
        }
    }
}

/// A file of generated Swift.
public struct GeneratedFile: Sendable, Hashable {
    /// The file's name.
    public var name: String
    /// The name of the entity whose class it is about.
    public var entityName: String
    /// What it holds.
    public var text: String
    /// Whether it is yours once it has been written. What is not is written anew each time.
    public var isEditable: Bool

    /// Whether a file's text says that it was generated, and so may be written anew.
    public static func isGenerated(_ text: String) -> Bool { text.hasPrefix(SwiftText.heading) }
}

/// The mistakes for which no classes can be generated.
public struct EntityClassErrors: Error, Sendable, CustomStringConvertible {
    /// The mistakes, in the model's order, with file and line where it was read from a source. Never empty.
    public var errors: [ModelError]

    /// The mistakes, a line each.
    public var description: String { errors.map(\.description).joined(separator: "\n") }
}
