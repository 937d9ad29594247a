/// A copy that rows do not support: the transaction is rolled back, and the caller uses objects.
struct RowCopyRefusal: Error {
    /// Why objects are needed, in one sentence.
    let reason: String

    init(_ reason: String) { self.reason = reason }
}
