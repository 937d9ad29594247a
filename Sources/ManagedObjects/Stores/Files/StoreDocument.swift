import Foundation
import KeyedArchives

/// What the file of an atomic store holds, as plain values: the objects by name and number, and the metadata.
struct StoreDocument {
    struct Attribute {
        /// The name, as the format spells it.
        var name: String
        /// The kind of value, as the format spells it.
        var type: String
        var value: ReadableValue
    }

    struct Relationship {
        var name: String
        var isToMany: Bool
        /// The name of the destination's entity, as the format spells it.
        var destination: String
        /// The objects that the relationship leads to.
        var references: [Int64]
    }

    struct Object {
        /// The entity's name, as the format spells it.
        var entity: String
        /// What names the object in the file.
        var reference: Int64
        /// The attributes that have values, in the order of the file.
        var attributes: [Attribute] = []
        /// The relationships, in the order of the file.
        var relationships: [Relationship] = []
    }

    /// The store's identifier.
    var uuid: String
    /// Everything else that the store says of itself.
    var metadata: [String: Any] = [:]
    /// The greatest reference that the file says has been given to an object.
    var lastReference: Int64 = 0
    var objects: [Object] = []
    /// The first line of the file, where the format has several.
    var declaration: String?
}

/// A format of files that hold a whole store.
protocol StoreFileFormat {
    /// The type of the stores.
    static var storeType: String { get }
    /// How the format spells the name of an entity.
    static func entityName(_ name: String) -> String
    /// How the format spells the name of a property. An element of a composite attribute is named by its path.
    static func propertyName(_ name: String) -> String
    /// How the format spells a kind of attribute.
    static func typeName(_ kind: EntityLayout.Slot.Kind) -> String

    /// Reads a file.
    ///
    /// - Throws: Code 259 where it is not of the format, or damaged.
    static func document(from data: Data, url: URL) throws -> StoreDocument
    /// Writes a file. Equal documents give equal bytes.
    static func data(of document: StoreDocument, url: URL) throws -> Data

    /// A stored value as one of an attribute's kind; nil where it is none.
    static func value(of stored: ReadableValue, kind: EntityLayout.Slot.Kind) -> Value?
    /// The form in which the format stores a value that is not null; transformable values are given as bytes.
    static func stored(_ value: Value, kind: EntityLayout.Slot.Kind) -> ReadableValue
}

extension StoreFileFormat {
    /// The error of a file that is not of the format.
    static func damaged(_ sentence: String, url: URL) -> CocoaError {
        CocoaError(.fileReadCorruptFile, "The file is no store of type \(storeType). \(sentence)", url: url)
    }

    /// The metadata as a binary property list.
    ///
    /// - Throws: Code 134030 for values that a property list cannot hold.
    static func propertyList(of metadata: [String: Any]) throws -> Data {
        guard PropertyListSerialization.propertyList(metadata, isValidFor: .binary) else {
            throw CocoaError(
                .persistentStoreSave, "Metadata of a store can only hold what a property list can, such as strings.")
        }
        return try PropertyListSerialization.data(fromPropertyList: metadata, format: .binary, options: 0)
    }
}
