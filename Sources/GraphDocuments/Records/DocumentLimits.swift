/// How much a reader takes before it refuses a document. Documents may come from anyone.
public struct DocumentLimits: Sendable, Hashable {
    /// The levels of arrays and objects inside each other. 1,024 unless said otherwise.
    public var depth: Int
    /// The number of records. A thousand million unless said otherwise.
    public var recordCount: Int
    /// The bytes of one string, as read. 1 GiB unless said otherwise.
    public var stringLength: Int
    /// The bytes of one key, as read. 4,096 unless said otherwise.
    public var keyLength: Int
    /// The bytes of the document. No limit unless said otherwise; a property list, which must be held in memory, is
    /// limited to 1 GiB besides.
    public var documentSize: Int

    /// Limits; what is not given has its default.
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

    /// The limits that are used where none are given.
    public static let standard = DocumentLimits()
}
