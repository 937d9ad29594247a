/// The members that contain the type of a value, if neither the format nor the schema does: `{"$date": "2024-…Z"}`.
enum ValueTag: String, CaseIterable {
    case bool = "$bool"
    case integer = "$integer"
    case double = "$double"
    case float = "$float"
    case decimal = "$decimal"
    case string = "$string"
    case date = "$date"
    case data = "$data"
    case uuid = "$uuid"
    case uri = "$uri"
    /// `true`: a null if the format has none.
    case null = "$nil"
    /// The tag of null in documents of earlier versions. Keyed archives read the string `$null` as a missing value.
    case formerNull = "$null"
    /// An object of elements, each with its own tag if it needs one.
    case composite = "$composite"
    /// The bytes of a transformable attribute; `$readable` may follow.
    case archive = "$archive"
    /// The content of an archive, as plain values.
    case readable = "$readable"
    /// The path of a file beside the document; `$size` may follow.
    case file = "$file"
    /// The name in the store of the value's file, which did not exist.
    case missing = "$missing"
    /// A file's size in bytes.
    case size = "$size"
    /// A string as its UTF-8 in Base64, if the format cannot represent its characters.
    case utf8 = "$utf8"

    /// The declared type with which the tagged value is read.
    var type: GraphValueType {
        switch self {
        case .bool, .null, .formerNull: .boolean
        case .integer, .size: .integer64
        case .double: .double
        case .float: .float
        case .decimal: .decimal
        case .string, .file, .missing: .string
        case .date: .date
        case .data, .archive, .utf8: .binaryData
        case .uuid: .uuid
        case .uri: .uri
        case .composite: .composite
        case .readable: .undefined
        }
    }
}

extension GraphValue {
    /// The tag of a value whose type is not declared.
    var tag: ValueTag {
        switch self {
        case .null: .null
        case .bool: .bool
        case .integer: .integer
        case .double: .double
        case .float: .float
        case .decimal: .decimal
        case .string: .string
        case .date: .date
        case .data: .data
        case .uuid: .uuid
        case .uri: .uri
        case .composite: .composite
        case .transformable: .archive
        case .file(let file): file.isMissing ? .missing : .file
        }
    }

    /// Whether an attribute of the declared type has the value unchanged. Null fits every type.
    package func fits(_ type: GraphValueType) -> Bool {
        switch self {
        case .null: true
        case .bool: type == .boolean
        case .integer(let value): type.integerRange?.contains(value) ?? false
        case .double: type == .double
        case .float: type == .float
        case .decimal: type == .decimal
        case .string: type == .string
        case .date: type == .date
        case .data: type == .binaryData
        case .uuid: type == .uuid
        case .uri: type == .uri || type == .objectID
        case .composite: type == .composite
        case .transformable: type == .transformable
        case .file: type == .binaryData || type == .transformable
        }
    }
}

/// The members of records besides their attributes and relationships.
enum RecordMember {
    static let header = "$header"
    static let objects = "$objects"
    static let changes = "$changes"
    /// The last line of a document in lines: the number of lines with records.
    static let end = "$end"
    /// The member of a header that announces this line.
    static let endInHeader = "end"
    static let id = "$id"
    static let entity = "$entity"
    static let reference = "$ref"
    static let deleted = "$deleted"
    /// The members that only records have: an object that begins with one is a record.
    static let ofRecords: Set<String> = [id, entity, deleted]
}
