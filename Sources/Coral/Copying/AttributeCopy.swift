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
    /// Whether the value of an original may be stored in an external file.
    var mayHaveFile: Bool
    /// Whether a value of the type can be changed in place; the original and the copy must then not share it.
    let mayChangeInPlace: Bool

    init(name: String, target: NSAttributeDescription, source: Source, mayHaveFile: Bool) {
        self.name = name
        self.target = target
        self.source = source
        self.mayHaveFile = mayHaveFile
        mayChangeInPlace =
            switch target.attributeType {
            case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .decimalAttributeType,
                .doubleAttributeType, .floatAttributeType, .booleanAttributeType, .dateAttributeType,
                .UUIDAttributeType, .URIAttributeType, .objectIDAttributeType:
                false
            default: true
            }
    }

    var followsParent: Bool {
        if case .parent = source { true } else { false }
    }
}
