extension DanglingReferencePolicy {
    /// The treatment of a reference whose object does not exist.
    enum Outcome {
        /// The record has an error.
        case error
        /// The reference is omitted and reported.
        case conflict
        /// The reference is omitted.
        case omission
    }

    /// The outcome of this policy, used by imports through objects and by rows.
    ///
    /// - Parameter isKnown: Whether the document contains the object, but its record is omitted or deletes it: the
    ///   reference is then not dangling, and an error would be reported twice.
    func outcome(isKnown: Bool) -> Outcome {
        switch self {
        case .fail, .stub: isKnown ? .conflict : .error
        case .record: .conflict
        case .skip: .omission
        }
    }
}
