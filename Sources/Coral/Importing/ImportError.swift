import Foundation
import GraphDocuments

/// Why a record cannot be imported, or an import cannot be carried out.
public struct ImportError: Error, Sendable, Hashable {
    /// The kind of error.
    public var code: Code
    /// A description of the error, in one sentence.
    public var message: String
    /// The position in the document.
    public var place: DocumentPlace?
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
    /// The other errors, if several stopped an import; this error is the first. At most `ImportOptions.entryLimit`.
    package var others: [ImportError] = []
    /// The number of other errors that were found before the import stopped, including those that are not kept.
    package var otherCount = 0

    /// An error of a kind, with a sentence and its subject.
    package init(
        _ code: Code, _ message: String, at place: DocumentPlace? = nil, record: RecordID? = nil, entity: String? = nil,
        property: String? = nil, object: String? = nil
    ) {
        self.code = code
        self.message = message
        self.place = place
        self.record = record
        self.entity = entity
        self.property = property
        self.object = object
    }

    /// The kinds of errors. A struct, so that adding one does not break a `switch`.
    public struct Code: Sendable, Hashable, RawRepresentable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// There is no context, or it has no coordinator.
        public static let noContext = Code(rawValue: "noContext")
        /// The import's options do not fit the model, or the importer is used wrongly, for example a plan is applied twice.
        public static let misuse = Code(rawValue: "misuse")
        /// A value that cannot be converted to the declared type.
        public static let wrongValue = Code(rawValue: "wrongValue")
        /// A reference to an object that does not exist or has the wrong entity.
        public static let danglingReference = Code(rawValue: "danglingReference")
        /// A member that is not a property of the entity.
        public static let unknownKey = Code(rawValue: "unknownKey")
        /// A record of an abstract entity, or of an entity that is not that of the matched object.
        public static let wrongEntity = Code(rawValue: "wrongEntity")
        /// An object that is invalid by the model.
        public static let invalidObject = Code(rawValue: "invalidObject")
        /// Identities that refer to each other in a cycle, or a key that several objects have.
        public static let ambiguousIdentity = Code(rawValue: "ambiguousIdentity")
        /// A document without records that would delete objects.
        public static let emptyDocument = Code(rawValue: "emptyDocument")
        /// An object that was changed, deleted, or inserted with the key of a planned one, after the plan was made.
        public static let outdatedPlan = Code(rawValue: "outdatedPlan")
        /// A value whose file did not exist when the document was written.
        public static let missingFile = Code(rawValue: "missingFile")
        /// Two records of a document that state the same id.
        public static let repeatedID = Code(rawValue: "repeatedID")
        /// A file beside the document that does not exist or may not be read.
        public static let file = Code(rawValue: "file")
        /// An operation that only stores of this package's engine support.
        public static let unsupported = Code(rawValue: "unsupported")
    }
}

extension ImportError: CustomStringConvertible, LocalizedError {
    public var errorDescription: String? { description }

    public var description: String {
        // Without a position in the document, the object identifies the subject.
        let subject = place.map { "\($0)" } ?? record?.text ?? object.map(ImportSubject.shortName)
        let text = subject.map { "\(message) (\($0))" } ?? message
        switch max(otherCount, others.count) {
        case 0: return text
        case 1: return "\(text) One more error was found."
        case let count: return "\(text) \(count) more errors were found."
        }
    }
}
