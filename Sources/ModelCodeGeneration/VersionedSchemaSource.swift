import Foundation
import ModelFiles

/// The Swift source of a frozen `VersionedSchema`, whose models have the version hashes of a given model: for the stores of a
/// version whose classes no longer exist.
///
/// The classes are those of ``SwiftDataClasses``, in the form for versions that no longer change.
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
    private let checksum: String
    private(set) var omissions: [String] = []

    init(_ model: Model) throws {
        self.model = model
        checksum = VersionHash(model).checksum
    }

    mutating func text(named name: String, origin: String) throws -> String {
        let origin = SwiftText.line(of: origin)
        let heading = """
            // The models of \(origin), frozen. Do not edit them: a change would make its stores unreadable. Add a version instead.
            // The checksum of the version is \(checksum).

            """
        var text = SwiftText(heading: heading, imports: ["import Foundation", "import SwiftData"])
        let entities = model.entities.sorted { $0.name < $1.name }
        try SwiftDataNames.check(model)
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
                SwiftDataClass(entity, model, isFrozen: true).write(to: &text)
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

    // MARK: - What SwiftData cannot represent

    private mutating func check(_ entity: ModelEntity) throws {
        func refuse(_ property: String?, _ reason: String) -> ModelError {
            ModelError(
                .invalidValue, "SwiftData has no equal, so that the hash would differ: \(reason).",
                entity: entity.name, property: property)
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
}
