/// Limits beyond which a reader rejects a document, for documents from untrusted sources.
public struct DocumentLimits: Sendable, Hashable {
    /// The nesting depth of arrays and objects. 1,024 by default.
    public var depth: Int
    /// The number of records. A thousand million by default.
    public var recordCount: Int
    /// The bytes of one string, as read. 1 GiB by default.
    public var stringLength: Int
    /// The bytes of one key, as read. 4,096 by default.
    package var keyLength: Int
    /// The bytes of the document. No limit by default; a property list, which must be held in memory, is also limited
    /// to 1 GiB.
    public var documentSize: Int

    /// Creates limits; those not given have their default.
    public init(
        depth: Int = 1024, recordCount: Int = 1_000_000_000, stringLength: Int = 1 << 30, keyLength: Int = 4096,
        documentSize: Int = .max
    ) {
        self.depth = depth
        self.recordCount = recordCount
        self.stringLength = stringLength
        self.keyLength = keyLength
        self.documentSize = documentSize
    }

    /// The default limits.
    public static let standard = DocumentLimits()
}
