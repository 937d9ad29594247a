/// A copy that rows do not support: the caller uses objects.
///
/// `RowCopyPlan` checks rules and schema before the transaction. During it only what the rows show is left: an object
/// that does not exist, a copy that would lack a required object or violate a constraint, and a member that would be
/// added to an ordered relationship of an object outside the copy. Then the transaction is rolled back.
struct RowCopyRefusal: Error {
    /// Why objects are needed, in one sentence.
    let reason: String

    init(_ reason: String) { self.reason = reason }
}
