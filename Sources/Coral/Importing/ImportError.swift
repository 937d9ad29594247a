import GraphDocuments

/// Why a record cannot be imported, or an import cannot be carried out.
public struct ImportError: Error, Sendable, Hashable {
    /// The kind of reason.
    public var code: Code
    /// What is wrong, as a sentence.
    public var message: String
    /// Where it stands in the document.
    public var place: DocumentPlace?
    /// The record that cannot be imported.
    public var record: RecordID?
    /// The record's entity.
    public var entity: String?
    /// The property at fault.
    public var property: String?
    /// The URI of the stored object, where the record was matched with one.
    public var object: String?
    /// For an object that the model's rules do not allow, the code in `NSCocoaErrorDomain` that says which.
    public var ruleCode: Int?
    /// The other errors, where several stopped an import; the first is told above.
    public var others: [ImportError] = []

    /// An error of a kind, with a sentence, and what it is about.
    public init(
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

    /// The kinds of reasons. A struct, so that a new kind breaks no `switch`.
    public struct Code: Sendable, Hashable, RawRepresentable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The context has no coordinator, or the importer's declarations do not fit the model.
        public static let misuse = Code(rawValue: "misuse")
        /// A value that cannot become one of the declared type.
        public static let wrongValue = Code(rawValue: "wrongValue")
        /// A reference to an object that exists nowhere, or of the wrong entity.
        public static let danglingReference = Code(rawValue: "danglingReference")
        /// A member that the entity does not have.
        public static let unknownKey = Code(rawValue: "unknownKey")
        /// A record of an entity that has no objects of its own, or of another entity than the object it was matched with.
        public static let wrongEntity = Code(rawValue: "wrongEntity")
        /// An object that the model's rules do not allow.
        public static let invalidObject = Code(rawValue: "invalidObject")
        /// Identities that lead through each other in a circle, or a key that several objects have.
        public static let ambiguousIdentity = Code(rawValue: "ambiguousIdentity")
        /// A value whose file did not exist when the document was written.
        public static let missingFile = Code(rawValue: "missingFile")
        /// Two records of a document state one id.
        public static let repeatedID = Code(rawValue: "repeatedID")
        /// A file beside the document that is not there, or may not be read.
        public static let file = Code(rawValue: "file")
        /// Something that only stores of this package's engine can do.
        public static let unsupported = Code(rawValue: "unsupported")
    }
}

extension ImportError: CustomStringConvertible {
    public var description: String {
        // Without a place the object says which of many it is about.
        let subject = place.map { "\($0)" } ?? record?.text ?? object.map(ImportSubject.shortName)
        let text = subject.map { "\(message) (\($0))" } ?? message
        switch others.count {
        case 0: return text
        case 1: return "\(text) There is one more error."
        default: return "\(text) There are \(others.count) more errors."
        }
    }
}
