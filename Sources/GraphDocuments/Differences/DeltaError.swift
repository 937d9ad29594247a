/// The reason why a delta cannot be applied or joined.
public struct DeltaError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of errors. A struct, so that adding one does not break a `switch`.
    public struct Code: Sendable, Hashable, RawRepresentable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The graph does not have the old state of the delta.
        public static let mismatch = Code(rawValue: "mismatch")
        /// The delta updates or deletes a record that does not exist.
        public static let missing = Code(rawValue: "missing")
        /// The delta inserts a record that already exists.
        public static let exists = Code(rawValue: "exists")
        /// Two deltas to be joined do not follow one another.
        public static let unrelated = Code(rawValue: "unrelated")
        /// The delta was computed from a token, and does not contain old values.
        public static let oneWay = Code(rawValue: "oneWay")
        /// The delta updates a record whose natural key may have changed, and does not contain the former key.
        public static let unknownKey = Code(rawValue: "unknownKey")
        /// A compared state contains two records with the same entity and id.
        public static let repeated = Code(rawValue: "repeated")
        /// Both sides of a merge have changed the same property or record, and the policy is to fail.
        public static let conflict = Code(rawValue: "conflict")
    }

    /// The kind of error.
    public var code: Code
    /// A description of the error, in one sentence.
    public var message: String
    /// The record of the error.
    public var subject: RecordSubject?

    /// Creates an error of a kind, with a description and its record.
    public init(_ code: Code, _ message: String, _ subject: RecordSubject? = nil) {
        self.code = code
        self.message = message
        self.subject = subject
    }

    public var description: String { message }

    static func repeated(_ subject: RecordSubject) -> DeltaError {
        DeltaError(.repeated, "Two records have the id \(subject.id).", subject)
    }
}
