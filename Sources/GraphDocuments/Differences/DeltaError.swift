import CodedErrors

extension GraphDelta: ErrorDomain {
    /// The record of the error.
    public typealias Place = RecordSubject

    /// The sentence alone, which names the place.
    public static func description(of message: String, at place: RecordSubject?) -> String { message }
}

/// The reason why a delta cannot be applied or joined.
public typealias DeltaError = CodedError<GraphDelta>

extension DeltaError.Code {
    /// The graph does not have the old state of the delta.
    public static let mismatch = Self(rawValue: "mismatch")
    /// The delta updates or deletes a record that does not exist.
    public static let missing = Self(rawValue: "missing")
    /// The delta inserts a record that already exists.
    public static let exists = Self(rawValue: "exists")
    /// Two deltas to be joined do not follow one another.
    public static let unrelated = Self(rawValue: "unrelated")
    /// The delta was computed from a token, and does not contain old values.
    public static let oneWay = Self(rawValue: "oneWay")
    /// The delta updates a record whose natural key may have changed, and does not contain the former key.
    public static let unknownKey = Self(rawValue: "unknownKey")
    /// A compared state contains two records with the same entity and id.
    public static let repeated = Self(rawValue: "repeated")
    /// Both sides of a merge have changed the same property or record, and the policy is to fail.
    public static let conflict = Self(rawValue: "conflict")
}

extension DeltaError {
    static func repeated(_ subject: RecordSubject) -> DeltaError {
        DeltaError(.repeated, "Two records have the id \(subject.id).", at: subject)
    }
}
