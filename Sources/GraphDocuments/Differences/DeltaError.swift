/// Why a delta cannot be applied or put together.
public struct DeltaError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of reasons. A struct, so that a new kind breaks no `switch`.
    public struct Code: Sendable, Hashable, RawRepresentable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The graph is not as the delta says that it was.
        public static let mismatch = Code(rawValue: "mismatch")
        /// The delta updates or deletes a record that is not there.
        public static let missing = Code(rawValue: "missing")
        /// The delta inserts a record that is there already.
        public static let exists = Code(rawValue: "exists")
        /// Two deltas that are to be joined do not follow one another.
        public static let unrelated = Code(rawValue: "unrelated")
        /// The delta was made since a token, and does not know what was.
        public static let oneWay = Code(rawValue: "oneWay")
        /// A state that is compared has two records with one entity and id.
        public static let repeated = Code(rawValue: "repeated")
        /// Both sides of a merge have changed the same, and the policy is to fail.
        public static let conflict = Code(rawValue: "conflict")
    }

    /// The kind of reason.
    public var code: Code
    /// What is wrong, as a sentence.
    public var message: String
    /// The record that it is about.
    public var subject: RecordSubject?

    /// An error of a kind, with a sentence, and the record that it is about.
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
