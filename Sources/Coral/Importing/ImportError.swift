import CodedErrors
import Foundation
import GraphDocuments

/// Why a record cannot be imported, or an import cannot be carried out.
public typealias ImportError = CodedError<GraphImporter>

/// Where an import fails: what is known of the record, its object, and their property.
public struct ImportPlace: Sendable, Hashable, CustomStringConvertible {
    /// The position in the document.
    public var document: DocumentPlace?
    /// The record that cannot be imported.
    public var record: RecordID?
    /// The record's entity.
    public var entity: String?
    /// The property with the error.
    public var property: String?
    /// The URI of the stored object, if the record was matched with one.
    public var object: String?
    /// For an object that is invalid by the model, the error code in `NSCocoaErrorDomain`.
    package var ruleCode: Int?

    /// The position in the document, else the record's id, else the object.
    public var description: String {
        document.map { "\($0)" } ?? record?.text ?? object.map(ImportSubject.shortName) ?? ""
    }
}

extension GraphImporter: ErrorDomain {
    public typealias Place = ImportPlace

    /// The sentence, followed by the place, unless only entity and property are known, which the sentence names.
    public static func _description(of message: String, at place: ImportPlace?) -> String {
        let place = place?.description ?? ""
        return place.isEmpty ? message : "\(message) (\(place))"
    }
}

extension ImportError {
    /// An error of a kind, with a sentence and what is known of its place.
    package init(
        _ code: Code, _ message: String, at document: DocumentPlace? = nil, record: RecordID? = nil,
        entity: String? = nil, property: String? = nil, object: String? = nil, ruleCode: Int? = nil
    ) {
        let place = ImportPlace(
            document: document, record: record, entity: entity, property: property, object: object, ruleCode: ruleCode)
        self.init(code, message, at: place)
    }
}

extension ImportError.Code {
    /// There is no context, or it has no coordinator.
    public static let noContext = Self(rawValue: "noContext")
    /// The import's options do not fit the model, or the importer is used wrongly, for example a plan is applied twice.
    public static let misuse = Self(rawValue: "misuse")
    /// A value that cannot be converted to the declared type.
    public static let wrongValue = Self(rawValue: "wrongValue")
    /// A reference to an object that does not exist or has the wrong entity.
    public static let danglingReference = Self(rawValue: "danglingReference")
    /// A member that is not a property of the entity.
    public static let unknownKey = Self(rawValue: "unknownKey")
    /// A record of an abstract entity, or of an entity that is not that of the matched object.
    public static let wrongEntity = Self(rawValue: "wrongEntity")
    /// An object that is invalid by the model.
    public static let invalidObject = Self(rawValue: "invalidObject")
    /// Identities that refer to each other in a cycle, or a key that several objects have.
    public static let ambiguousIdentity = Self(rawValue: "ambiguousIdentity")
    /// A document without records that would delete objects.
    public static let emptyDocument = Self(rawValue: "emptyDocument")
    /// An object that was changed, deleted, or inserted with the key of a planned one, after the plan was made.
    public static let outdatedPlan = Self(rawValue: "outdatedPlan")
    /// A value whose file did not exist when the document was written.
    public static let missingFile = Self(rawValue: "missingFile")
    /// Two records of a document that state the same id.
    public static let repeatedID = Self(rawValue: "repeatedID")
    /// A file beside the document that does not exist or may not be read.
    public static let file = Self(rawValue: "file")
    /// An operation that only stores of this package's engine support.
    public static let unsupported = Self(rawValue: "unsupported")
}
