/// Options for reading a document.
package struct ReadingOptions: Sendable {
    /// The limits.
    package var limits: DocumentLimits
    /// Whether a trailing comma is accepted before a closing bracket.
    package var allowsTrailingCommas: Bool
    /// The layout, if the document does not contain it: needed for `.lines` and `.plain` only.
    package var layout: DocumentLayout?
    /// The entity of top-level objects without one. With it, the document may also be a single object or an array of
    /// objects.
    package var rootEntity: String?
    /// The natural keys of the plain layout.
    package var plainLayout: PlainLayout?
    /// Whether a value that does not fit its declared type is passed on with the type of the format, for the importer
    /// to convert or reject. Otherwise it is an error.
    package var keepsMismatchedValues: Bool
    /// The treatment of records whose entity the schema does not have.
    package var unknownEntities: UnknownEntityPolicy

    /// The treatment of records whose entity the schema does not have.
    package enum UnknownEntityPolicy: Sendable, Hashable {
        /// An error.
        case fail
        /// They are skipped, with all nested records.
        case skip
    }

    /// Creates options; those not given have their default.
    package init(
        limits: DocumentLimits = .standard, allowsTrailingCommas: Bool = false, layout: DocumentLayout? = nil,
        rootEntity: String? = nil, plainLayout: PlainLayout? = nil, keepsMismatchedValues: Bool = false,
        unknownEntities: UnknownEntityPolicy = .fail
    ) {
        self.limits = limits
        self.allowsTrailingCommas = allowsTrailingCommas
        self.layout = layout
        self.rootEntity = rootEntity
        self.plainLayout = plainLayout
        self.keepsMismatchedValues = keepsMismatchedValues
        self.unknownEntities = unknownEntities
    }
}
