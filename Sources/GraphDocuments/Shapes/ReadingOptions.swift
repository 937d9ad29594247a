/// How a document is read.
public struct ReadingOptions: Sendable {
    /// How much is taken.
    public var limits: DocumentLimits
    /// Whether a comma may stand before a closing bracket.
    public var allowsTrailingCommas: Bool
    /// The shape, where the document does not say it: only `.lines` and `.plain` need to be said.
    public var shape: DocumentShape?
    /// The entity of objects at the top that do not name theirs. With it, the document may also be one bare object or an
    /// array of them.
    public var rootEntity: String?
    /// The natural keys of the plain shape.
    public var layout: PlainLayout?
    /// Whether a value that does not fit its declared type is handed on as what the format alone sees in it, for the
    /// importer to convert or refuse. Otherwise it is an error.
    public var keepsMismatchedValues: Bool
    /// What becomes of records whose entity the schema does not have.
    public var unknownEntities: UnknownEntityPolicy

    /// What becomes of records whose entity the schema does not have.
    public enum UnknownEntityPolicy: Sendable, Hashable {
        /// An error.
        case fail
        /// They are passed over, with all that is nested in them.
        case skip
    }

    /// Options; what is not given has its default.
    public init(
        limits: DocumentLimits = .standard, allowsTrailingCommas: Bool = false, shape: DocumentShape? = nil,
        rootEntity: String? = nil, layout: PlainLayout? = nil, keepsMismatchedValues: Bool = false,
        unknownEntities: UnknownEntityPolicy = .fail
    ) {
        self.limits = limits
        self.allowsTrailingCommas = allowsTrailingCommas
        self.shape = shape
        self.rootEntity = rootEntity
        self.layout = layout
        self.keepsMismatchedValues = keepsMismatchedValues
        self.unknownEntities = unknownEntities
    }
}
