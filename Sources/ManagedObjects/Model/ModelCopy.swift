import CoreDataErrors
import Foundation
import FoundationAdditions
import KeyedArchives
import Synchronization

/// A deep copy of related entities: references between them become references between the copies.
internal struct ModelCopy {
    let entities: [NSEntityDescription]

    init(of originals: [NSEntityDescription]) {
        let pairs = originals.map { original in
            let copy = CopyingCoder.blank { type(of: original).init(coder: $0) }
            copy.assign(from: original)
            return (original: original, copy: copy)
        }
        let copies = Dictionary(
            pairs.map { (ObjectIdentifier($0.original), $0.copy) }, uniquingKeysWith: { first, _ in first })
        for (original, copy) in pairs {
            copy.subentities = original.subentities.compactMap { copies[ObjectIdentifier($0)] }
            for case let relationship as NSRelationshipDescription in copy.ownProperties {
                if let destination = relationship.destinationEntity {
                    relationship.destinationEntity = copies[ObjectIdentifier(destination)]
                }
                if let inverse = relationship.inverseRelationship, let owner = inverse.entityIfAny {
                    let copiedOwner = copies[ObjectIdentifier(owner)]
                    relationship.inverseRelationship =
                        copiedOwner?.ownProperties.first { $0.name == inverse.name } as? NSRelationshipDescription
                }
            }
        }
        entities = pairs.map(\.copy)
        // Indexes may refer to inherited properties.
        for (original, copy) in pairs {
            let names = copy.propertiesByName
            for (index, copiedIndex) in zip(original.indexes, copy.indexes) {
                for (element, copiedElement) in zip(index.elements, copiedIndex.elements)
                where !(element.property is NSExpressionDescription) {
                    if let name = element.propertyName, let property = names[name] { copiedElement.property = property }
                }
            }
        }
    }
}

/// The coder that begins a copy. Copies have the class of the original, which may be a user's: such a class has `init(coder:)`, but
/// `init()` only if it declares no initialiser of its own.
final class CopyingCoder: NSCoder {
    /// An object without content.
    static func blank<Object>(_ create: (CopyingCoder) -> Object?) -> Object {
        guard let object = create(CopyingCoder()) else {
            preconditionFailure("The class \(Object.self) cannot be copied: its init(coder:) returns nil.")
        }
        return object
    }

    override var allowsKeyedCoding: Bool { true }
    override func containsValue(forKey key: String) -> Bool { false }
    override func decodeObject(forKey key: String) -> Any? { nil }
}

/// Coding of descriptions in keyed archives: only whole models can be coded.
internal enum ModelCoding {
    /// The key of the model's compiled form in an archive.
    static let compiledModelKey = "CompiledModel"

    /// The error for a part that is coded on its own.
    static var onlyWholeModels: CocoaError {
        CocoaError(
            .coderInvalidValue,
            userInfo: [
                NSLocalizedDescriptionKey:
                    "An entity, a property or an index cannot be archived without its model: archive the model instead."
            ])
    }
}

/// The user info of an entity or a property. Unlike the rest of a model, it can be changed while a coordinator uses the model.
final class DescriptionUserInfo: Sendable {
    private struct Pairs: @unchecked Sendable {  // because the dictionary is replaced, never changed in place
        let dictionary: [AnyHashable: Any]?
    }

    private let pairs = Mutex(Pairs(dictionary: [:]))

    var dictionary: [AnyHashable: Any]? {
        get { pairs.withLock { $0 }.dictionary }
        set {
            let replacement = Pairs(dictionary: newValue)
            pairs.withLock { $0 = replacement }
        }
    }
}

/// Converts between the user info of Core Data's API and the property lists of model files.
package enum PlainUserInfo {
    /// A dictionary of Foundation values: strings, numbers, dates, data, arrays, dictionaries.
    package static func dictionary(_ plain: [String: PropertyListValue]) -> [AnyHashable: Any] {
        Dictionary(plain.map { (AnyHashable($0.key), $0.value.object) }, uniquingKeysWith: { $1 })
    }

    /// The part of a dictionary that a property list can represent. Keys that are not strings are omitted.
    static func plain(_ dictionary: [AnyHashable: Any]?) -> [String: PropertyListValue] {
        var result: [String: PropertyListValue] = [:]
        for (key, value) in dictionary ?? [:] {
            if let key = key as? String { result[key] = PropertyListValue(object: value, others: .omitted) }
        }
        return result
    }
}
