/// A change that rows do not support, as the stored rows show: a unique value that moves between objects, or a stored
/// value that only objects can validate. The transaction is rolled back, and the caller uses objects.
@_spi(Stores)
public struct RowRefusal: Error {
    /// Why objects are needed, in one sentence.
    public let reason: String

    init(_ reason: String) { self.reason = reason }
}
