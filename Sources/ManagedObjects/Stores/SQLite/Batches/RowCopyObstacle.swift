/// The reason why rows cannot be copied by SQL, so that the copy must be made with objects.
///
/// Store, rules and schema are checked before the transaction (`RowCopyPlan`). An obstacle that is found only in the
/// rows ends the transaction, which is rolled back: an object that does not exist, a copy that would lack a required
/// object or violate a constraint, and a member that would be added to an ordered relationship of an object outside the
/// copy.
@_spi(Stores)
public struct RowCopyObstacle: Error {
    /// What is read to find the obstacle.
    public enum Kind: Sendable {
        case store, schema, rows
    }

    public let kind: Kind
    /// Why objects are needed, in one sentence.
    public let reason: String

    init(_ kind: Kind, _ reason: String) {
        self.kind = kind
        self.reason = reason
    }
}
