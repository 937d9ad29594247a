import Foundation
import ModelFiles

/// The Swift source of a frozen `VersionedSchema`, whose models have the version hashes of a given model: for the stores of a
/// version whose classes no longer exist.
///
/// Composites, which enumerations with raw values are too, become structures with the same elements: these have the same hash, and
/// read every stored value.
package struct VersionedSchemaSource {
    /// The text of the file.
    package let text: String
    /// The parts of the model that are not in the schema and that no hash covers, as sentences.
    package let omissions: [String]

    /// Writes the schema.
    ///
    /// - Parameters:
    ///   - name: The name of the type of the schema.
    ///   - origin: Where the model is from, for the comment.
    /// - Throws: ``ModelError`` with the part that SwiftData has no equal for, if the hashes would differ.
    package init(of model: Model, named name: String, origin: String) throws {
        var writer = try SchemaWriter(model)
        text = try writer.text(named: name, origin: origin)
        omissions = writer.omissions
    }
}

private struct SchemaWriter {
    private let model: Model
    private let inheritance: ModelInheritance
    private let checksum: String
    private(set) var omissions: [String] = []

    init(_ model: Model) throws {
        self.model = try model.sourceForm()
        inheritance = ModelInheritance(self.model)
        checksum = VersionHash(model).checksum
    }

    mutating func text(named name: String, origin: String) throws -> String {
        let origin = origin.split(whereSeparator: \.isNewline).joined(separator: " ")
        let heading = """
            // The models of \(origin), frozen. Do not edit them: a change would make its stores unreadable. Add a version instead.
            // The checksum of the version is \(checksum).

            """
        var text = SwiftText(heading: heading, imports: ["import Foundation", "import SwiftData"])
        let entities = model.entities.sorted { $0.name < $1.name }
        for entity in entities { try check(entity) }
        let usesInheritance = entities.contains { $0.parentName != nil }
        if usesInheritance { text.line("@available(iOS 26, macOS 26, tvOS 26, watchOS 26, visionOS 26, *)") }
        text.block("enum \(SwiftName.identifier(name)): VersionedSchema") { text in
            text.line("static let versionIdentifier = Schema.Version(\(versionNumbers))")
            text.block("static var models: [any PersistentModel.Type]") { text in
                text.line("[\(entities.map { SwiftName.identifier($0.name) + ".self" }.joined(separator: ", "))]")
            }
            for entity in entities {
                text.line()
                write(entity, to: &text)
            }
            for composite in model.composites where isUsed(composite) {
                text.line()
                text.block("struct \(SwiftName.identifier(composite.name)): Codable") { text in
                    for element in composite.elements {
                        text.line("var \(SwiftName.identifier(element.name)): \(type(of: element))")
                    }
                }
            }
        }
        return text.finished()
    }

    /// The numbers of the version identifier `1.2.0`; 1, 0, 0 if the model has none of this form.
    private var versionNumbers: String {
        for identifier in model.versionIdentifiers.sorted() {
            let numbers = identifier.split(separator: ".", omittingEmptySubsequences: false).map { Int($0) }
            if numbers.count == 3, numbers.allSatisfy({ ($0 ?? -1) >= 0 }) {
                return numbers.compactMap { $0.map(String.init) }.joined(separator: ", ")
            }
        }
        return "1, 0, 0"
    }

    private func isUsed(_ composite: ModelComposite) -> Bool {
        (model.entities.flatMap(\.attributes) + model.composites.flatMap(\.elements))
            .contains { $0.compositeName == composite.name }
    }

    // MARK: - What SwiftData cannot represent

    /// Whether a text is a name in Swift, or the name of a type: the model of a store is not trusted, and its names become code.
    private static func isName(_ text: String, besides others: String = "") -> Bool {
        guard let first = text.unicodeScalars.first, !("0"..."9").contains(first) else { return false }
        return text.unicodeScalars.allSatisfy {
            $0 == "_" || $0.properties.isAlphabetic || ("0"..."9").contains($0) || others.unicodeScalars.contains($0)
        }
    }

    private mutating func check(_ entity: ModelEntity) throws {
        func refuse(_ property: String?, _ reason: String) -> ModelError {
            ModelError(
                .invalidValue, "SwiftData has no equal, so that the hash would differ: \(reason).",
                entity: entity.name, property: property)
        }
        let elements = entity.attributes.flatMap { $0.type == .composite ? $0.elements + $0.leaves : [] }
        for name in [entity.name] + entity.properties.map(\.name) + elements.map(\.name) where !Self.isName(name) {
            throw refuse(nil, "the name \(name.debugDescription) is none in Swift")
        }
        for name in (entity.attributes + elements).compactMap(\.valueClassName)
        where !Self.isName(name, besides: "<>[], .:?") {
            throw refuse(nil, "the name of the class \(name.debugDescription) is none in Swift")
        }
        if entity.isAbstract { throw refuse(nil, "the entity is abstract") }
        if entity.versionHashModifier != nil { throw refuse(nil, "the entity has a hash modifier") }
        for attribute in entity.attributes where !attribute.isTransient {
            if attribute.isReadOnly { throw refuse(attribute.name, "the attribute is derived") }
            for leaf in attribute.leaves {
                if leaf.type == .undefined || leaf.type == .objectID {
                    throw refuse(attribute.name, "the type is \(leaf.type)")
                }
                if attribute.type == .composite, attribute.isOptional, !leaf.isOptional {
                    throw refuse(attribute.name, "an element of the optional composite is required")
                }
            }
        }
        for relationship in entity.relationships {
            if relationship.isOrdered { throw refuse(relationship.name, "the relationship is ordered") }
            if relationship.maximumCount < 0 { throw refuse(relationship.name, "the maximum count is negative") }
        }
        for property in entity.fetchedProperties {
            omissions.append("\(entity.name).\(property.name) is a fetched property, which SwiftData does not have.")
        }
        for property in entity.attributes where property.isTransient {
            omissions.append("\(entity.name).\(property.name) is transient: it is not stored.")
        }
    }

    // MARK: - Entities

    private func write(_ entity: ModelEntity, to text: inout SwiftText) {
        let hasChildren = model.entities.contains { $0.parentName == entity.name }
        let parent = entity.parentName.map { ": \(SwiftName.identifier($0))" } ?? ""
        text.line("@Model")
        text.block("\(hasChildren ? "" : "final ")class \(SwiftName.identifier(entity.name))\(parent)") { text in
            writeMacros(of: entity, to: &text)
            for attribute in entity.attributes where !attribute.isTransient {
                text.line(
                    "\(options(of: attribute, in: entity))var \(SwiftName.identifier(attribute.name)): \(type(of: attribute))\(Self.defaultText(attribute))"
                )
            }
            for relationship in entity.relationships where !relationship.isTransient {
                let start = relationship.isToMany && !relationship.isOptional ? " = []" : ""
                text.line(
                    "\(options(of: relationship, in: entity))var \(SwiftName.identifier(relationship.name)): \(type(of: relationship))\(start)"
                )
            }
            text.line()
            writeInitialiser(of: entity, to: &text)
        }
    }

    private func writeMacros(of entity: ModelEntity, to text: inout SwiftText) {
        let name = SwiftName.identifier(entity.name)
        func paths(_ names: [String]) -> String {
            "[" + names.map { "\\.\(SwiftName.identifier($0))" }.joined(separator: ", ") + "]"
        }
        let combined = entity.uniquenessConstraints.filter { $0.count > 1 }
        if !combined.isEmpty { text.line("#Unique<\(name)>(\(combined.map(paths).joined(separator: ", ")))") }
        let indexes: [[String]] = entity.fetchIndexes.compactMap { index in
            let names: [String] = index.elements.compactMap { element in
                guard case .property(let name) = element.target, element.collation == .binary else { return nil }
                return entity.properties.contains { $0.name == name } ? name : nil
            }
            return names.count == index.elements.count && !names.isEmpty ? names : nil
        }
        if !indexes.isEmpty { text.line("#Index<\(name)>(\(indexes.map(paths).joined(separator: ", ")))") }
    }

    /// An initialiser with the properties that have no initial value.
    private func writeInitialiser(of entity: ModelEntity, to text: inout SwiftText) {
        func parameters(_ entity: ModelEntity) -> [(name: String, type: String)] {
            let attributes = entity.attributes.filter {
                !$0.isTransient && !$0.isOptional && Self.defaultText($0).isEmpty
            }
            let relationships = entity.relationships.filter { !$0.isTransient && !$0.isOptional && !$0.isToMany }
            return attributes.map { ($0.name, type(of: $0)) } + relationships.map { ($0.name, type(of: $0)) }
        }
        let own = parameters(entity)
        let inherited = inheritance.ancestors(of: entity.name).reversed().flatMap(parameters)
        let list = (inherited + own).map { "\(SwiftName.identifier($0.name)): \($0.type)" }.joined(separator: ", ")
        let word = entity.parentName != nil && inherited.isEmpty && own.isEmpty ? "override init" : "init"
        text.block("\(word)(\(list))") { text in
            for parameter in own {
                let name = SwiftName.identifier(parameter.name)
                text.line("self.\(name) = \(name)")
            }
            if entity.parentName != nil {
                let arguments = inherited.map { "\($0.name): \(SwiftName.identifier($0.name))" }
                text.line("super.init(\(arguments.joined(separator: ", ")))")
            }
        }
    }

    // MARK: - Properties

    private func options(of attribute: ModelAttribute, in entity: ModelEntity) -> String {
        var arguments: [String] = []
        if entity.uniquenessConstraints.contains([attribute.name]) { arguments.append(".unique") }
        if attribute.allowsExternalBinaryDataStorage { arguments.append(".externalStorage") }
        if attribute.allowsCloudEncryption { arguments.append(".allowsCloudEncryption") }
        if attribute.preservesValueInHistoryOnDeletion { arguments.append(".preserveValueOnDeletion") }
        if attribute.isIndexedBySpotlight { arguments.append(".spotlight") }
        if attribute.type == .transformable, !Self.isPlainCollection(attribute) {
            let name = attribute.valueTransformerName ?? "NSSecureUnarchiveFromData"
            arguments.append(".transformable(by: \(Self.literal(name)))")
        }
        return Self.macro("Attribute", arguments + Self.common(attribute))
    }

    private func options(of relationship: ModelRelationship, in entity: ModelEntity) -> String {
        var arguments: [String] = []
        switch relationship.deleteRule {
        case .nullify: break
        case .cascade: arguments.append("deleteRule: .cascade")
        case .deny: arguments.append("deleteRule: .deny")
        case .noAction: arguments.append("deleteRule: .noAction")
        }
        if relationship.minimumCount != 0 { arguments.append("minimumModelCount: \(relationship.minimumCount)") }
        if relationship.maximumCount > 1 { arguments.append("maximumModelCount: \(relationship.maximumCount)") }
        var common = Self.common(relationship)
        if let inverse = relationship.inverseName, let destination = relationship.destinationName,
            (entity.name, relationship.name) <= (destination, inverse)
        {
            let argument = "inverse: \\\(SwiftName.identifier(destination)).\(SwiftName.identifier(inverse))"
            // The order of the macro's parameters.
            common.insert(argument, at: common.firstIndex { $0.hasPrefix("hashModifier") } ?? common.count)
        }
        return Self.macro("Relationship", arguments + common)
    }

    private static func common(_ property: some ModelProperty) -> [String] {
        var arguments: [String] = []
        if let name = property.renamingIdentifier, name != property.name, !name.isEmpty {
            arguments.append("originalName: \(literal(name))")
        }
        if let modifier = property.versionHashModifier { arguments.append("hashModifier: \(literal(modifier))") }
        return arguments
    }

    private static func macro(_ name: String, _ arguments: [String]) -> String {
        arguments.isEmpty ? "" : "@\(name)(\(arguments.joined(separator: ", "))) "
    }

    private func type(of relationship: ModelRelationship) -> String {
        let name = SwiftName.identifier(relationship.destinationName ?? "")
        return (relationship.isToMany ? "[\(name)]" : name) + (relationship.isOptional ? "?" : "")
    }

    private func type(of attribute: ModelAttribute) -> String {
        let name: String =
            switch attribute.type {
            case .integer16: "Int16"
            case .integer32: "Int32"
            case .integer64: "Int"
            case .decimal: qualified("Decimal", "Foundation")
            case .double: "Double"
            case .float: "Float"
            case .string: qualified("String", "Swift")
            case .boolean: "Bool"
            case .date: qualified("Date", "Foundation")
            case .binaryData: qualified("Data", "Foundation")
            case .uuid: qualified("UUID", "Foundation")
            case .uri: qualified("URL", "Foundation")
            case .transformable: attribute.valueClassName ?? "NSObject"
            case .composite: SwiftName.identifier(attribute.compositeName ?? "")
            case .undefined, .objectID: "NSObject"
            }
        return name + (attribute.isOptional ? "?" : "")
    }

    /// The name of a type, with its module if an entity or composite has the same name.
    private func qualified(_ name: String, _ module: String) -> String {
        let isTaken = model.entities.contains { $0.name == name } || model.composites.contains { $0.name == name }
        return isTaken ? "\(module).\(name)" : name
    }

    /// Whether SwiftData archives a value without a transformer: a collection of plain values.
    private static func isPlainCollection(_ attribute: ModelAttribute) -> Bool {
        let isStandard = attribute.valueTransformerName.map { $0 == "NSSecureUnarchiveFromData" } ?? true
        return isStandard
            && ["Array<", "Set<", "Dictionary<"].contains { attribute.valueClassName?.hasPrefix($0) == true }
    }

    private static func defaultText(_ attribute: ModelAttribute) -> String {
        guard !attribute.isOptional, let value = attribute.defaultValue else { return "" }
        switch (attribute.type, value) {
        case (.boolean, .boolean(let flag)): return " = \(flag)"
        case (.boolean, .integer(let number)): return " = \(number != 0)"
        case (.integer16, .integer(let number)), (.integer32, .integer(let number)),
            (.integer64, .integer(let number)), (.double, .integer(let number)), (.float, .integer(let number)):
            return " = \(number)"
        case (.double, .double(let number)) where number.isFinite, (.float, .double(let number)) where number.isFinite:
            return " = \(number)"
        case (.string, .string(let text)): return " = \(literal(text))"
        default: return ""
        }
    }

    private static func literal(_ text: String) -> String {
        var literal = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": literal += "\\\""
            case "\\": literal += "\\\\"
            case _ where scalar.value < 32 || scalar.value == 127:
                literal += "\\u{\(String(scalar.value, radix: 16))}"
            default: literal.unicodeScalars.append(scalar)
            }
        }
        return "\"\(literal)\""
    }
}
