import CoreData

/// The source of the value of one attribute.
struct AttributeCopy {
    enum Source {
        /// The value of the original.
        case original
        case newUUID
        /// The time at which copying started.
        case now
        case parent(ParentValue)
        case closure(CopyRules.ValueClosure)
    }

    var name: String
    /// The attribute of the copy.
    var target: NSAttributeDescription
    var source: Source
    /// Whether the value of an original may be in a file of its own.
    var mayHaveFile: Bool

    var followsParent: Bool {
        if case .parent = source { true } else { false }
    }
}
