import CoreDataErrors
import Foundation
import KeyedArchives
import ManagedObjects

/// The content of an atomic store's file as plain values: the objects by name and number, and the metadata.
struct StoreDocument {
    struct Attribute {
        /// The name in the format's spelling.
        var name: String
        /// The type of the value in the format's spelling.
        var type: String
        var value: ReadableValue
    }

    struct Relationship {
        var name: String
        var isToMany: Bool
        /// The name of the destination's entity in the format's spelling.
        var destination: String
        /// The numbers of the members.
        var references: [Int64]
    }

    struct Object {
        /// The entity's name in the format's spelling.
        var entity: String
        /// The number of the object in the file.
        var reference: Int64
        /// The attributes that have values, in the order of the file.
        var attributes: [Attribute] = []
        /// The relationships, in the order of the file.
        var relationships: [Relationship] = []
    }

    /// The store's identifier.
    var uuid: String
    /// The other metadata.
    var metadata: [String: Any] = [:]
    /// The greatest number that an object has had, according to the file.
    var lastReference: Int64 = 0
    var objects: [Object] = []
    /// The first line of the file, for formats with a declaration.
    var declaration: String?
}

/// A format of files that contain a whole store.
protocol StoreFileFormat {
    /// The type of the stores.
    static var storeType: String { get }
    /// The format's spelling of an entity's name.
    static func entityName(_ name: String) -> String
    /// The format's spelling of a property's name. An element of a composite attribute is named by its path.
    static func propertyName(_ name: String) -> String
    /// The format's name of an attribute type.
    static func typeName(_ kind: EntityLayout.Slot.Kind) -> String

    /// Reads a file.
    ///
    /// - Throws: Code 259 if the file is not of the format, or is damaged.
    static func document(from data: Data, url: URL) throws -> StoreDocument
    /// Writes a file. Equal documents produce equal bytes.
    static func data(of document: StoreDocument, url: URL) throws -> Data

    /// Converts a stored value to one of an attribute's type; nil if it is invalid.
    static func value(of stored: ReadableValue, kind: EntityLayout.Slot.Kind) -> Value?
    /// The form in which the format stores a value that is not null; transformable values are passed as bytes.
    static func stored(_ value: Value, kind: EntityLayout.Slot.Kind) -> ReadableValue
}

extension StoreFileFormat {
    /// The error of a file that is not of the format.
    static func damaged(_ sentence: String, url: URL) -> CocoaError {
        CocoaError(.fileReadCorruptFile, "The file is not a store of type \(storeType). \(sentence)", url: url)
    }
}
