import ModelFiles

/// The Swift classes of a model's entities, in the form that Xcode generates.
///
/// For each entity whose code generation is *class* there is a class, and for these and for *category* an extension
/// with the properties, the accessors of to-many relationships and `fetchRequest()`. On Apple's platforms the
/// properties are `@NSManaged`; elsewhere they use the engine's typed accessors. The same text compiles on both.
///
/// The same model gives the same text. Cost: one step for each property, and one line for each attribute of the
/// destination of a to-one relationship.
public struct EntityClasses: Sendable {
    static let baseClassName = "NSManagedObject"

    let classes: [EntityClass]
    let types: SwiftType
    /// The name of the model, for the first line of generated files.
    let modelName: String
    private let entities: ModelInheritance
    let engineNames: EngineNames

    /// Creates the classes of a model that is compiled into a module, in the model's order of entities.
    ///
    /// - Throws: ``EntityClassErrors`` with all errors of the model, each with file and line.
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
        let classNames = Set(model.entities.compactMap(\.ownClassName))
        types = SwiftType(classNames: classNames)
        engineNames = EngineNames(besides: classNames)
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

    /// The text of one file with all classes and extensions.
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

    /// Two files for each class, with Xcode's names: one with the class, for your own code, and one with its
    /// properties, to be generated again when the model changes.
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

    /// The entity and its ancestors, the topmost first.
    func lineage(of entity: ModelEntity) -> [ModelEntity] {
        entities.lineage(of: entity.name)
    }

    /// The entity of a name.
    func entity(named name: String?) -> ModelEntity? {
        name.flatMap { entities.entities[$0] }
    }

    /// The classes whose key paths a class registers: its own and its subclasses'. Empty if an ancestor's class
    /// registers them.
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
    /// The name of the entity of the class.
    public var entityName: String
    /// The contents.
    public var text: String
    /// Whether the file is written only once, for you to edit. Other files are overwritten each time.
    public var isEditable: Bool

    /// Whether a text has the heading of generated files, which may be overwritten.
    public static func isGenerated(_ text: String) -> Bool { text.hasPrefix(SwiftText.heading) }
}

/// The errors for which no classes can be generated.
public struct EntityClassErrors: Error, Sendable, CustomStringConvertible {
    /// The errors, in the model's order, with file and line if it was read from a source. Never empty.
    public var errors: [ModelError]

    /// The errors, a line each.
    public var description: String { errors.map(\.description).joined(separator: "\n") }
}

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

extension EntityClasses {
    /// Errors of a model that is valid, but cannot be represented by Swift classes.
    static func mistakes(in model: Model, moduleName: String?) -> [ModelError] {
        var mistakes: [ModelError] = []
        func report(
            _ code: ModelError.Code, _ message: String, _ entity: ModelEntity, _ property: (any ModelProperty)? = nil
        ) {
            let place = property?.position ?? entity.position
            mistakes.append(
                ModelError(
                    code, message, file: place.file ?? entity.position.file, line: place.line, entity: entity.name,
                    property: property?.name))
        }
        let isGenerated = model.entities.contains { $0.codeGeneration != .manual }
        // The class of an entity that is not generated is the type of others' relationships.
        for entity in model.entities where isGenerated {
            guard let name = entity.ownClassName, !SwiftName.isName(name) else { continue }
            report(.invalidName, "\(name.debugDescription) cannot be the name of a class.", entity)
        }
        var owners: [String: String] = [:]
        for entity in model.entities where entity.codeGeneration != .manual {
            guard let name = entity.ownClassName else { continue }
            for attribute in entity.attributes where attribute.type == .transformable {
                guard let type = attribute.valueClassName, !type.isEmpty, !SwiftName.isType(type) else { continue }
                report(.invalidName, "\(type.debugDescription) cannot be the name of a type.", entity, attribute)
            }
            if let owner = owners.updateValue(entity.name, forKey: name) {
                report(
                    .duplicateName,
                    "The class '\(name)' is already generated for '\(owner)'. Use another name, or set code generation"
                        + " to manual.", entity)
            }
            if let module = entity.classModuleName, let moduleName, module != moduleName {
                report(
                    .invalidName,
                    "The class belongs to the module '\(module)' and cannot be generated in '\(moduleName)'.", entity)
            }
            for property in entity.properties where SwiftName.isTaken(property.name) {
                report(
                    .invalidName,
                    "NSManagedObject has a member '\(property.name)': a property cannot have this name.",
                    entity, property)
            }
        }
        return mistakes
    }
}
