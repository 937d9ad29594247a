import Coral
import SwiftData

extension PersistentModel {
    /// The model and the models that the shape embeds as a document; by default those that it owns through cascading
    /// relationships.
    ///
    ///     let json = try recipe.encoded()
    ///     let copy = try otherContext.importModel(from: json, as: Recipe.self)
    ///
    /// - Throws: ``ModelToolkitError`` for a model in no context and for invalid rules of its classes, and the errors of
    ///   `NSManagedObject.encoded(as:layout:shape:portable:)`.
    public func encoded(
        as format: GraphFormat = .json, layout: DocumentLayout? = nil, shape: GraphShape = .ownership,
        portable: Bool = false
    ) throws -> Data {
        try [self].encoded(as: format, layout: layout, shape: shape, portable: portable)
    }

    /// The model as a dictionary: attributes by name, embedded models as nested dictionaries, others as references.
    /// `populate(from:)` and `importModel(from:as:)` import it.
    ///
    /// - Throws: As ``encoded(as:layout:shape:portable:)`` does, and the errors of `NSManagedObject.dictionary(style:shape:portable:)`.
    public func dictionary(
        style: DictionaryStyle = .native, shape: GraphShape = .ownership, portable: Bool = false
    ) throws -> [String: Any] {
        let shape = try contextOfToolkit.rules.applied(to: shape)
        return try managedObject.dictionary(style: style, shape: shape, portable: portable)
    }
}

extension Collection where Element: PersistentModel {
    /// The models and the models that the shape embeds as one document; one that several of them refer to is written once.
    /// Throws as `encoded(as:layout:shape:portable:)` of one model does.
    public func encoded(
        as format: GraphFormat = .json, layout: DocumentLayout? = nil, shape: GraphShape = .ownership,
        portable: Bool = false
    ) throws -> Data {
        let shape = try rules?.applied(to: shape) ?? shape
        return try managedObjects.encoded(as: format, layout: layout, shape: shape, portable: portable)
    }

    /// The models as dictionaries, in their order. Throws as `dictionary(style:shape:portable:)` of one model does.
    public func dictionaries(
        style: DictionaryStyle = .native, shape: GraphShape = .ownership, portable: Bool = false
    ) throws -> [[String: Any]] {
        let shape = try rules?.applied(to: shape) ?? shape
        return try managedObjects.dictionaries(style: style, shape: shape, portable: portable)
    }
}
