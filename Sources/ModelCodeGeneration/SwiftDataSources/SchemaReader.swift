import Foundation
import ModelFiles

/// Reads the classes of a schema from the types of sources.
struct SchemaReader {
    let types: SourceTypes

    // MARK: - Versions

    /// The version of a schema without `VersionedSchema`.
    func version(rootedAt roots: [SourceType], in file: String) throws -> SwiftDataSources.Version {
        let identifier = "1.0.0"
        return SwiftDataSources.Version(
            name: "Models", identifier: identifier, model: try model(of: roots, identifier),
            position: ModelPosition(file: file))
    }

    /// The version that a `VersionedSchema` states.
    func version(of schema: SourceType) throws -> SwiftDataSources.Version {
        func failure(_ message: String, _ line: Int? = nil) -> ModelError {
            ModelError(.invalidValue, message, file: schema.file, line: line ?? schema.line, entity: schema.name)
        }
        guard let stated = schema.variables.first(where: { $0.name == "versionIdentifier" && $0.isStatic }) else {
            throw failure("\(schema.name) has no versionIdentifier.")
        }
        let numbers = (stated.value + stated.body).filter { $0.kind == .number }.compactMap { Int($0.text) }
        guard numbers.count == 3 else {
            throw failure("The version of \(schema.name) is not stated by three numbers.", stated.line)
        }
        guard let models = schema.variables.first(where: { $0.name == "models" && $0.isStatic }) else {
            throw failure("\(schema.name) has no models.")
        }
        let scope = SourceTypes.Scope(schema)
        let names = SourceNames.types(in: models.value + models.body)
        guard !names.isEmpty else {
            throw failure("The models of \(schema.name) are not a list of types such as [Trip.self].", models.line)
        }
        let roots = try names.map { path in
            guard let type = try types.resolvedModel(path, in: scope, line: models.line) else {
                throw failure("\(path.joined(separator: ".")) is no class with @Model in the sources.", models.line)
            }
            return type
        }
        let identifier = numbers.map(String.init).joined(separator: ".")
        return SwiftDataSources.Version(
            name: schema.name, identifier: identifier, model: try model(of: roots, identifier),
            position: ModelPosition(file: schema.file, line: schema.line))
    }

    /// The model of classes, and of all that are reachable from them by relationships and inheritance.
    private func model(of roots: [SourceType], _ version: String) throws -> Model {
        var pending = roots
        var seen: Set<ObjectIdentifier> = []
        var classes: [StoredClass] = []
        while let next = pending.popLast() {
            guard seen.insert(ObjectIdentifier(next)).inserted else { continue }
            var reader = ClassReader(type: next, types: types)
            classes.append(try reader.read())
            pending += reader.related
        }
        return try Model(storing: classes, version: version)
    }
}

extension SourceTypes {
    /// The class with `@Model` that a name means; nil if it is none.
    func resolvedModel(_ path: [String], in scope: Scope, line: Int) throws -> SourceType? {
        guard case .declared(let type, _) = try resolved(.named(path, []), in: scope, line: line), type.isModel else {
            return nil
        }
        return type
    }
}

/// Names in expressions.
enum SourceNames {
    /// The types in `[A.self, B.C.self]`.
    static func types(in tokens: [SourceToken]) -> [[String]] {
        var found: [[String]] = []
        var path: [String] = []
        for (index, token) in tokens.enumerated() {
            if token.kind == .word, token.text == "self", index > 0, tokens[index - 1].isSign("."), !path.isEmpty {
                found.append(path)
            } else if token.kind == .word {
                path = index > 0 && tokens[index - 1].isSign(".") ? path + [token.text] : [token.text]
            } else if !token.isSign(".") {
                path = []
            }
        }
        return found
    }

    /// The key paths in `[\.a, \.b], [\.c]`: the names of their properties, by groups.
    static func keyPath(in tokens: [SourceToken]) -> [String]? {
        guard tokens.first?.isSign("\\") == true else { return nil }
        let names = tokens.filter { $0.kind == .word }.map(\.text)
        guard tokens.dropFirst().allSatisfy({ $0.kind == .word || $0.isSign(".") || $0.isSign("?") || $0.isSign("!") })
        else { return nil }
        return names
    }
}

/// Reads one class with `@Model`.
private struct ClassReader {
    let type: SourceType
    let types: SourceTypes
    /// The classes that the class refers to.
    private(set) var related: [SourceType] = []

    init(type: SourceType, types: SourceTypes) { (self.type, self.types) = (type, types) }

    private var scope: SourceTypes.Scope { SourceTypes.Scope(type) }

    private func failure(_ message: String, _ property: String? = nil, line: Int) -> ModelError {
        ModelError(.invalidValue, message, file: type.file, line: line, entity: type.name, property: property)
    }

    mutating func read() throws -> StoredClass {
        if let line = type.condition ?? type.memberCondition {
            throw failure("The class depends on a condition (#if), so that its model cannot be known.", line: line)
        }
        var stored = StoredClass(name: type.name)
        stored.position = ModelPosition(file: type.file, line: type.line)
        if case .named(let path, _)? = type.inherited.first,
            let parent = try types.resolvedModel(path, in: scope, line: type.line)
        {
            stored.superclassName = parent.name
            related.append(parent)
        }
        for variable in type.variables where isPersisted(variable) {
            if variable.condition != nil {
                throw failure(
                    "The property depends on a condition (#if), so that the model cannot be known.", variable.name,
                    line: variable.line)
            }
            stored.properties.append(try property(variable))
        }
        for group in type.groups { try add(group, to: &stored) }
        return stored
    }

    private func isPersisted(_ variable: SourceVariable) -> Bool {
        !variable.isStatic && !variable.isComputed
            && !variable.attributes.contains { ["Transient", "ObservationIgnored"].contains($0.name) }
    }

    // MARK: - Groups

    private func add(_ group: SourceAttribute, to stored: inout StoredClass) throws {
        for argument in group.arguments {
            var tokens = argument.tokens
            var isTree = false
            // `.binary([\.a])` and `.rtree([\.a, \.b])`.
            if let open = tokens.firstIndex(where: { $0.isSign("(") }), tokens.last?.isSign(")") == true {
                isTree = tokens[..<open].contains { $0.isWord("rtree") }
                tokens = Array(tokens[(open + 1)...].dropLast())
            }
            guard tokens.first?.isSign("[") == true, tokens.last?.isSign("]") == true else {
                throw failure("#\(group.name) has an argument that is no list of key paths.", line: group.line)
            }
            let names = try SourceParser.parts(of: Array(tokens.dropFirst().dropLast())).map { part in
                guard let path = SourceNames.keyPath(in: part), let name = path.last, path.count <= 2 else {
                    throw failure(
                        "#\(group.name) has a key path that leads to no property of the class.", line: group.line)
                }
                return name
            }
            switch (group.name, isTree) {
            case ("Unique", _): stored.constraints.append(names)
            case (_, true): stored.treeIndexes.append(names)
            default: stored.indexes.append(names)
            }
        }
    }

    // MARK: - Properties

    private mutating func property(_ variable: SourceVariable) throws -> StoredProperty {
        func failure(_ message: String) -> ModelError { self.failure(message, variable.name, line: variable.line) }
        if variable.isShared { throw failure("@Model implements declarations of one property: declare it separately.") }
        if variable.modifiers.contains("lazy") { throw failure("A lazy property cannot be persisted.") }
        if variable.hasObservers { throw failure("A property with observers cannot be persisted.") }
        let statements = variable.attributes.filter { ["Attribute", "Relationship"].contains($0.name) }
        if statements.count > 1 { throw failure("The property has several of @Attribute and @Relationship.") }
        guard let type = try variable.type ?? SourceValue(variable.value).type(in: scope, types) else {
            throw failure("The type does not follow from the initial value: state it.")
        }
        let statement = try PropertyStatement(statements.first, failure)
        let content: StoredProperty.Content
        if let (destination, isToMany) = try destination(of: type, line: variable.line) {
            related.append(destination)
            var relationship = StoredRelationship(destination: destination.name, isToMany: isToMany)
            relationship.isStated = statement.attribute != nil
            relationship.inverse = statement.inverse
            (relationship.deleteRule, relationship.minimumCount) = (statement.deleteRule, statement.minimumCount)
            relationship.maximumCount = statement.maximumCount
            content = .relationship(relationship)
        } else {
            if statement.attribute?.name == "Relationship" {
                throw failure("The type \(type.printed) is no class with @Model, and no array of one, in the sources.")
            }
            content = .attribute(try attribute(type, statement, variable))
        }
        var property = StoredProperty(name: variable.name, isOptional: type.isOptional, content: content)
        (property.originalName, property.hashModifier) = (statement.originalName, statement.hashModifier)
        property.position = ModelPosition(file: self.type.file, line: variable.line)
        return property
    }

    /// The class that a relationship leads to; nil if the type is that of an attribute.
    private func destination(of type: SourceTypeName, line: Int) throws -> (SourceType, isToMany: Bool)? {
        switch try types.resolved(type.unwrapped, in: scope, line: line) {
        case .declared(let declared, _): return declared.isModel ? (declared, false) : nil
        case .collection("Array", let elements):
            guard case .declared(let declared, _) = try types.resolved(elements[0], in: scope, line: line),
                declared.isModel, !elements[0].isOptional
            else { return nil }
            return (declared, true)
        default: return nil
        }
    }

    private func attribute(
        _ type: SourceTypeName, _ statement: PropertyStatement, _ variable: SourceVariable
    ) throws -> StoredAttribute {
        let forms = SourceForms(
            types: types, entity: self.type.name, property: variable.name, file: self.type.file, line: variable.line)
        let form: StoredForm
        if let transformer = statement.transformer {
            form = .transformed(by: transformer)
        } else {
            form = statement.options.contains(.codable) ? .json : try forms.form(of: type, in: scope)
        }
        var attribute = StoredAttribute(form: form, typeName: type.unwrapped.printed)
        attribute.options = statement.options
        if case .primitive(let attributeType) = form {
            attribute.defaultValue = SourceValue(variable.value).defaultValue(for: attributeType)
        }
        return attribute
    }
}

/// What `@Attribute` or `@Relationship` states.
private struct PropertyStatement {
    let attribute: SourceAttribute?
    private(set) var options: Set<StoredOption> = []
    private(set) var transformer: String?
    private(set) var originalName: String?
    private(set) var hashModifier: String?
    private(set) var inverse: String?
    private(set) var deleteRule = ModelDeleteRule.nullify
    private(set) var minimumCount = 0
    private(set) var maximumCount = 0

    init(_ attribute: SourceAttribute?, _ failure: (String) -> ModelError) throws {
        self.attribute = attribute
        func unknown(_ argument: SourceArgument) -> ModelError {
            failure(
                "The argument \(argument.text) of @\(attribute?.name ?? "") is not a literal, so that its value is not known."
            )
        }
        func string(_ argument: SourceArgument) throws -> String? {
            if argument.text == "nil" { return nil }
            guard let text = argument.string else { throw unknown(argument) }
            return text
        }
        func integer(_ argument: SourceArgument) throws -> Int {
            if argument.text == "nil" { return 0 }
            guard let number = argument.integer else { throw unknown(argument) }
            return number
        }
        for argument in attribute?.arguments ?? [] {
            switch argument.label {
            case nil: try addOption(argument, unknown)
            case "originalName": originalName = try string(argument)
            case "hashModifier": hashModifier = try string(argument)
            case "minimumModelCount": minimumCount = try integer(argument)
            case "maximumModelCount": maximumCount = try integer(argument)
            case "inverse":
                guard argument.text != "nil" else { continue }
                guard let path = SourceNames.keyPath(in: argument.tokens), let name = path.last else {
                    throw unknown(argument)
                }
                inverse = name
            case "deleteRule":
                let rules: [String: ModelDeleteRule] = [
                    "nullify": .nullify, "cascade": .cascade, "deny": .deny, "noAction": .noAction,
                ]
                guard let rule = argument.member.flatMap({ rules[$0] }) else { throw unknown(argument) }
                deleteRule = rule
            default: throw unknown(argument)
            }
        }
    }

    private mutating func addOption(_ argument: SourceArgument, _ unknown: (SourceArgument) -> ModelError) throws {
        if let option = argument.member.flatMap(StoredOption.init) {
            options.insert(option)
            return
        }
        // `.transformable(by: ColourTransformer.self)` or a name.
        guard let open = argument.tokens.firstIndex(where: { $0.isSign("(") }), open > 0,
            argument.tokens[open - 1].isWord("transformable"), argument.tokens.last?.isSign(")") == true,
            let inner = SourceParser.arguments(in: Array(argument.tokens[(open + 1)...].dropLast())).first,
            inner.label == "by"
        else { throw unknown(argument) }
        guard let name = inner.string ?? SourceNames.types(in: inner.tokens).first?.last else {
            throw unknown(argument)
        }
        transformer = name
    }
}
