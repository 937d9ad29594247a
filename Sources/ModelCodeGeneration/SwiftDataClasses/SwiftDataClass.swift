import Foundation
import ModelFiles

/// Writes the class of one entity.
struct SwiftDataClass {
    private let entity: ModelEntity
    private let model: Model
    private let rawValues: [String: Set<SwiftDataClasses.RawValue>]
    private let classNames: Set<String>
    /// Whether the class is that of a version whose classes no longer exist. Its enumerations are structures with the same
    /// elements, which have the same hash and read every stored value, and what is not stored is omitted.
    private let isFrozen: Bool

    init(
        _ entity: ModelEntity, _ model: Model, _ rawValues: [String: Set<SwiftDataClasses.RawValue>] = [:],
        isFrozen: Bool = false
    ) {
        (self.entity, self.model, self.rawValues, self.isFrozen) = (entity, model, rawValues, isFrozen)
        classNames = Set(model.entities.map(\.name))
    }

    private var className: String { SwiftName.identifier(entity.name) }

    /// A property of the class, with what its declaration states.
    private struct Property {
        let name: String
        let type: String
        let macro: String?
        let initialValue: String?

        /// Whether a new object needs a value for it.
        var isRequired: Bool { initialValue == nil && !type.hasSuffix("?") }
        var swiftName: String { SwiftName.identifier(name) }
    }

    func text(named name: String) -> String {
        var text = SwiftText(
            heading: "\(SwiftText.heading)\(SwiftText.line(of: name)).",
            imports: ["import Foundation", "import SwiftData"])
        write(to: &text)
        return text.finished()
    }

    func write(to text: inout SwiftText) {
        let parent = entity.parentName.map { ": \(SwiftName.identifier($0))" } ?? ""
        let isFinal = !model.entities.contains { $0.parentName == entity.name }
        text.line("@Model")
        text.block("\(isFinal ? "final " : "")class \(className)\(parent)") { text in
            for line in constraints + indexes { text.line(line) }
            if !(constraints + indexes).isEmpty { text.line() }
            for property in properties(of: entity) {
                let macro = property.macro.map { "\($0) " } ?? ""
                let value = property.initialValue.map { " = \($0)" } ?? ""
                text.line("\(macro)var \(property.swiftName): \(property.type)\(value)")
            }
            writeInitialiser(&text)
            for attribute in storedAttributes(of: entity) where attribute.type == .composite { write(attribute, &text) }
        }
    }

    private func storedAttributes(of entity: ModelEntity) -> [ModelAttribute] {
        isFrozen ? entity.attributes.filter { !$0.isTransient } : entity.attributes
    }

    private func writeInitialiser(_ text: inout SwiftText) {
        let own = properties(of: entity).filter(\.isRequired)
        let inherited = ancestors.flatMap { ancestor in
            SwiftDataClass(ancestor, model, rawValues, isFrozen: isFrozen).properties(of: ancestor).filter(\.isRequired)
                .map { (property: $0, type: self.qualified($0.type, of: ancestor)) }
        }
        let parameters = inherited.map { ($0.property.swiftName, $0.type) } + own.map { ($0.swiftName, $0.type) }
        text.line()
        let isOverride = !ancestors.isEmpty && own.isEmpty
        let list = parameters.map { "\($0.0): \($0.1)" }
        let head = "\(isOverride ? "override " : "")init("
        let isLong = head.count + list.joined(separator: ", ").count > 100
        let signature =
            isLong ? "\n        " + list.joined(separator: ",\n        ") + "\n    " : list.joined(separator: ", ")
        text.block("\(head)\(signature))") { text in
            for property in own { text.line("self.\(property.name) = \(property.swiftName)") }
            if !ancestors.isEmpty {
                let arguments = inherited.map { "\($0.property.swiftName): \($0.property.swiftName)" }
                text.line("super.init(\(arguments.joined(separator: ", ")))")
            }
        }
    }

    /// The superclasses, the topmost first.
    private var ancestors: [ModelEntity] {
        var found: [ModelEntity] = []
        var next = entity.parentName
        while let name = next, let parent = model.entity(named: name), !found.contains(where: { $0.name == name }) {
            found.insert(parent, at: 0)
            next = parent.parentName
        }
        return found
    }

    /// The type of an inherited property: a nested type is that of its class.
    private func qualified(_ type: String, of ancestor: ModelEntity) -> String {
        let bare = type.hasSuffix("?") ? String(type.dropLast()) : type
        let isNested = ancestor.attributes.contains { $0.type == .composite && typeName(of: $0) == bare }
        return isNested ? "\(SwiftName.identifier(ancestor.name)).\(type)" : type
    }

    // MARK: - Statements of the class

    private var constraints: [String] {
        let groups = entity.uniquenessConstraints.filter { !isStatedByProperty($0) }
        return groups.isEmpty ? [] : ["#Unique<\(className)>(\(groups.map(keyPaths).joined(separator: ", ")))"]
    }

    /// Whether a constraint is the option of an attribute.
    private func isStatedByProperty(_ names: [String]) -> Bool {
        names.count == 1 && entity.attributes.contains { $0.name == names[0] }
    }

    private var indexes: [String] {
        func line(_ collation: ModelFetchIndexElement.Collation, _ write: (String) -> String) -> [String] {
            let groups = entity.fetchIndexes.filter {
                $0.partialIndexPredicate == nil && $0.elements.allSatisfy { $0.collation == collation }
            }.compactMap(\.propertyNames)
            guard !groups.isEmpty else { return [] }
            return ["#Index<\(className)>(\(groups.map { write(keyPaths($0)) }.joined(separator: ", ")))"]
        }
        return line(.binary) { $0 } + line(.rTree) { ".rtree(\($0))" }
    }

    private func keyPaths(_ names: [String]) -> String {
        "[\(names.map { "\\.\(SwiftName.identifier($0))" }.joined(separator: ", "))]"
    }

    // MARK: - Properties

    private func properties(of entity: ModelEntity) -> [Property] {
        storedAttributes(of: entity).map(property) + entity.relationships.map(property)
    }

    private func property(_ attribute: ModelAttribute) -> Property {
        var options: [String] = []
        if entity.uniquenessConstraints.contains([attribute.name]) { options.append(".unique") }
        if attribute.allowsExternalBinaryDataStorage { options.append(".externalStorage") }
        if attribute.isTransient { options.append(".ephemeral") }
        if attribute.isIndexedBySpotlight { options.append(".spotlight") }
        if attribute.allowsCloudEncryption { options.append(".allowsCloudEncryption") }
        if attribute.preservesValueInHistoryOnDeletion { options.append(".preserveValueOnDeletion") }
        if let transformer = transformer(of: attribute) {
            options.append(".transformable(by: \(literal(transformer)))")
        }
        let arguments = options + namesAndModifiers(attribute)
        return Property(
            name: attribute.name, type: typeName(of: attribute) + (attribute.isOptional ? "?" : ""),
            macro: arguments.isEmpty ? nil : "@Attribute(\(arguments.joined(separator: ", ")))",
            initialValue: initialValue(of: attribute))
    }

    private func property(_ relationship: ModelRelationship) -> Property {
        var arguments: [String] = []
        if relationship.deleteRule != .nullify { arguments.append("deleteRule: .\(relationship.deleteRule)") }
        if relationship.minimumCount > 0 { arguments.append("minimumModelCount: \(relationship.minimumCount)") }
        if relationship.maximumCount > 1 { arguments.append("maximumModelCount: \(relationship.maximumCount)") }
        let (names, modifiers) = (originalName(relationship), hashModifier(relationship))
        arguments += names
        let name = relationship.destinationName ?? "Unknown"
        let destination = SwiftName.identifier(name)
        if let inverse = relationship.inverseName, statesInverse(relationship, inverse, name) {
            arguments.append("inverse: \\\(destination).\(SwiftName.identifier(inverse))")
        }
        arguments += modifiers
        // A bare relationship would get an inverse if there is only one that fits.
        let needsMacro = relationship.inverseName == nil || !arguments.isEmpty
        let type = relationship.isToMany ? "[\(destination)]" : destination
        return Property(
            name: relationship.name, type: type + (relationship.isOptional ? "?" : ""),
            macro: needsMacro
                ? "@Relationship" + (arguments.isEmpty ? "" : "(\(arguments.joined(separator: ", ")))") : nil,
            initialValue: relationship.isToMany && !relationship.isOptional ? "[]" : nil)
    }

    /// Whether this end of a pair states the inverse; the other end must not, because macros would refer to each other. The end with
    /// many objects does, else the first in the order of names.
    private func statesInverse(_ relationship: ModelRelationship, _ inverse: String, _ destination: String) -> Bool {
        guard let other = model.entity(named: destination)?.relationships.first(where: { $0.name == inverse }) else {
            return true
        }
        if relationship.isToMany != other.isToMany { return relationship.isToMany }
        return (entity.name, relationship.name) <= (destination, inverse)
    }

    private func namesAndModifiers(_ property: any ModelProperty) -> [String] {
        originalName(property) + hashModifier(property)
    }

    private func originalName(_ property: any ModelProperty) -> [String] {
        guard let name = property.renamingIdentifier, name != property.name, !name.isEmpty else { return [] }
        return ["originalName: \(literal(name))"]
    }

    private func hashModifier(_ property: any ModelProperty) -> [String] {
        property.versionHashModifier.map { ["hashModifier: \(literal($0))"] } ?? []
    }

    private func literal(_ text: String) -> String {
        var literal = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": literal += "\\\""
            case "\\": literal += "\\\\"
            case "\n": literal += "\\n"
            case "\r": literal += "\\r"
            case _ where scalar.value < 32 || scalar.value == 127:
                literal += "\\u{\(String(scalar.value, radix: 16))}"
            default: literal.unicodeScalars.append(scalar)
            }
        }
        return "\"\(literal)\""
    }

    // MARK: - Types

    private static let plainTransformer = "NSSecureUnarchiveFromData"

    /// The transformer that a property must state; nil for arrays of plain values, which have their own.
    private func transformer(of attribute: ModelAttribute) -> String? {
        guard attribute.type == .transformable, collection(attribute.valueClassName) == nil else { return nil }
        return attribute.valueTransformerName ?? Self.plainTransformer
    }

    /// A collection as Swift writes it: SwiftData notes `Array<String>` as the class.
    private func collection(_ className: String?) -> String? {
        guard let className, className.hasSuffix(">") else { return nil }
        func elements(_ name: String) -> String? {
            className.hasPrefix("\(name)<") ? String(className.dropFirst(name.count + 1).dropLast()) : nil
        }
        if let element = elements("Array") { return "[\(element)]" }
        if let element = elements("Set") { return "Set<\(element)>" }
        if let pair = elements("Dictionary") { return "[\(pair.replacingOccurrences(of: ", ", with: ": "))]" }
        return nil
    }

    private func typeName(of attribute: ModelAttribute) -> String {
        let name =
            switch attribute.type {
            case .integer16: "Int16"
            case .integer32: "Int32"
            case .integer64: "Int"
            case .decimal: "Decimal"
            case .double: "Double"
            case .float: "Float"
            case .string: "String"
            case .boolean: "Bool"
            case .date: "Date"
            case .binaryData: "Data"
            case .uuid: "UUID"
            case .uri: "URL"
            case .composite: compositeName(attribute.name)
            case .transformable: collection(attribute.valueClassName) ?? attribute.valueClassName ?? "NSObject"
            case .undefined, .objectID: "NSObject"
            }
        guard classNames.contains(name), attribute.type != .composite else { return name }
        return (["Date", "Data", "UUID", "URL", "Decimal"].contains(name) ? "Foundation." : "Swift.") + name
    }

    private func compositeName(_ name: String) -> String {
        let capitalized = SwiftName.capitalized(name)
        // Words of Swift, and the types that the class itself uses.
        let reserved = [
            "Type", "Protocol", "Self", "Any", "Codable", "Hashable", "String", "Bool", "Int", "Int16", "Int32",
            "Double",
            "Float", "Decimal", "Date", "Data", "UUID", "URL", "Set",
        ]
        return classNames.contains(capitalized) || reserved.contains(capitalized) ? capitalized + "Value" : capitalized
    }

    private func initialValue(of attribute: ModelAttribute) -> String? {
        switch attribute.defaultValue {
        case .integer(let number)? where attribute.type == .boolean: return "\(number != 0)"
        case .integer(let number)?: return "\(number)"
        case .double(let number)?: return number.isFinite ? "\(number)" : nil
        case .decimal(let number)?: return "Decimal(string: \"\(number)\") ?? 0"
        case .string(let text)?: return literal(text)
        case .boolean(let value)?: return "\(value)"
        // The value that the initialiser had when the model was made.
        case .uuid?: return attribute.isOptional ? nil : "UUID()"
        case .date?: return attribute.isOptional ? nil : "Date()"
        default: return nil
        }
    }

    // MARK: - Nested types

    private func write(_ attribute: ModelAttribute, _ text: inout SwiftText) {
        text.line()
        let name = compositeName(attribute.name)
        if attribute.isEnumeration, !isFrozen {
            if attribute.caseNames != nil { return writeCases(attribute, name, &text) }
            return writeRawValues(attribute, name, &text)
        }
        text.block("struct \(name): Codable, Hashable") { text in
            for element in attribute.elements {
                let type = typeName(of: element) + (element.isOptional ? "?" : "")
                text.line("var \(SwiftName.identifier(element.name)): \(type)")
            }
            for element in attribute.elements where element.type == .composite { write(element, &text) }
        }
    }

    private func writeCases(_ attribute: ModelAttribute, _ name: String, _ text: inout SwiftText) {
        text.block("enum \(name): Codable") { text in
            for each in attribute.caseNames ?? [] {
                let payload = attribute.elements.first { $0.name == each }?.type == .binaryData ? "(Data)" : ""
                text.line("case \(SwiftName.identifier(each))\(payload)")
            }
        }
    }

    private func writeRawValues(_ attribute: ModelAttribute, _ name: String, _ text: inout SwiftText) {
        let type = attribute.elements.first.map { typeName(of: $0) } ?? "String"
        let values = (rawValues["\(entity.name).\(attribute.name)"] ?? []).sorted()
        text.line("/// The cases are those whose raw values the store has: a model does not contain them.")
        text.block("enum \(name): \(type), Codable") { text in
            if values.isEmpty { text.line("case unknown") }
            var taken: Set<String> = []
            for value in values {
                var base = Self.caseName(of: value)
                while !taken.insert(base).inserted { base += "_" }
                switch value {
                case .text(let raw) where raw == base: text.line("case \(SwiftName.identifier(base))")
                case .text(let raw): text.line("case \(SwiftName.identifier(base)) = \(literal(raw))")
                case .integer(let raw): text.line("case \(base) = \(raw)")
                }
            }
        }
    }

    private static func caseName(of value: SwiftDataClasses.RawValue) -> String {
        switch value {
        case .integer(let number): return number < 0 ? "minus\(number.magnitude)" : "value\(number)"
        case .text(let text):
            let words = text.split { !($0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_")) }
            guard let first = words.first else { return "empty" }
            let name =
                first.prefix(1).lowercased() + first.dropFirst()
                + words.dropFirst().map { SwiftName.capitalized(String($0)) }.joined()
            return name.first?.isNumber == true ? "_" + name : name
        }
    }
}
