import Foundation

/// Builds a graph as dictionaries and arrays of Foundation objects, in one of three styles. Each of them can be read
/// back without loss.
///
/// Everything is in memory. Deallocating a nested document is recursive: it is safe up to the default depth limit, but
/// not for 20,000 levels.
package struct DictionaryGraphWriter: ForwardingGraphWriter {
    var target: TreeGraphWriter

    /// Creates a writer. Throws `DocumentError` for layouts that are neither flat nor nested.
    package init(style: DictionaryStyle, layout: DocumentLayout = .nested) throws {
        target = try TreeGraphWriter(style: TreeStyle(style: style), layout: layout)
    }

    /// The whole document: header and objects.
    package var document: [String: Any] { target.document.foundationObject as? [String: Any] ?? [:] }

    /// The objects at the top level, in the order written.
    package var objects: [[String: Any]] { target.objects.compactMap { $0.foundationObject as? [String: Any] } }
}

/// Reads records from dictionaries and arrays of Foundation objects, in any style.
package struct DictionaryDocumentReader: DocumentReader {
    private var reader: TokenRecordReader<TreeTokens>

    /// Reads the header. `document` is a dictionary (a document, or with a root entity in the options one object) or an
    /// array of dictionaries. Throws `DocumentError`, for example for an object of an unsupported type.
    package init(_ document: Any, schema: GraphSchema, options: ReadingOptions = ReadingOptions()) throws {
        let tree = try ReadableValue(foundationObject: document, depthLimit: min(options.limits.depth, 4096))
        reader = try TokenRecordReader(TreeTokens(tree, limits: options.limits), schema: schema, options: options)
    }

    package var header: DocumentHeader? { reader.header }
    package var bytesRead: Int { reader.bytesRead }
    package var byteCount: Int? { nil }
    package mutating func nextPlaced() throws -> PlacedRecord? { try reader.nextPlaced() }
}

extension ReadableValue {
    /// The tree as Foundation objects: `[String: Any]`, `[Any]`, numbers, strings, dates, …, `NSNull`.
    package var foundationObject: Any {
        switch self {
        case .array(let values): values.map(\.foundationObject)
        case .dictionary(let members):
            Dictionary(members.map { ($0.name, $0.value.foundationObject) }, uniquingKeysWith: { $1 })
        case .value(let value): value.foundationObject
        }
    }

    /// The tree of Foundation objects; a set is an array. The keys of dictionaries are sorted, except that those with a special meaning
    /// come first. Throws `DocumentError` for an object of an unsupported type, and beyond `depthLimit` levels.
    package init(foundationObject object: Any, depthLimit: Int) throws {
        guard depthLimit > 0 else {
            throw DocumentError(.limit, "The dictionary nests too deeply.", at: DocumentPlace(offset: 0))
        }
        // Swift's own types first: a cast to a class makes an object of Foundation from the whole value.
        if let dictionary = object as? [String: Any] {
            let members = try dictionary.sorted { ReadableValue.comesBefore($0.key, $1.key) }.map { key, value in
                Member(name: key, value: try ReadableValue(foundationObject: value, depthLimit: depthLimit - 1))
            }
            self = .dictionary(members)
        } else if let values = object as? [Any] {
            self = .array(try values.map { try ReadableValue(foundationObject: $0, depthLimit: depthLimit - 1) })
        } else if let value = GraphValue(foundationObject: object) {
            self = .value(value)
        } else if let values = object as? NSOrderedSet {
            self = .array(try values.array.map { try ReadableValue(foundationObject: $0, depthLimit: depthLimit - 1) })
        } else if let values = object as? NSSet {
            // Sorted by content, because a set has another order in each process.
            let trees = try values.allObjects.map {
                try ReadableValue(foundationObject: $0, depthLimit: depthLimit - 1)
            }
            self = .array(
                trees.map { ($0, String(describing: $0)) }.sorted { $0.1 < $1.1 }.map(\.0))
        } else {
            throw DocumentError(
                .wrongType, "An object of type \(type(of: object)) is not supported in a document.",
                at: DocumentPlace(offset: 0))
        }
    }

    /// This library's own members first, the header before the objects, the entity before the other members.
    private static func comesBefore(_ left: String, _ right: String) -> Bool {
        let (leftRank, rightRank) = (rank(of: left), rank(of: right))
        return leftRank == rightRank ? left < right : leftRank < rightRank
    }

    private static let firstMembers = [
        RecordMember.header, RecordMember.entity, RecordMember.id, ValueTag.archive.rawValue, ValueTag.file.rawValue,
    ]

    private static func rank(of name: String) -> Int { firstMembers.firstIndex(of: name) ?? firstMembers.count }
}

extension GraphValue {
    /// The value as a Foundation object.
    fileprivate var foundationObject: Any {
        switch self {
        case .bool(let value): value
        case .integer(let value): Int(exactly: value) ?? value
        case .double(let value): value
        case .float(let value): value
        case .decimal(let value): value
        case .string(let value): value
        case .date(let value): Date(timeIntervalSinceReferenceDate: value)
        case .data(let value): value
        case .uuid(let value): value
        case .uri(let value): URL(string: value) ?? value
        case .null, .composite, .transformable, .file: NSNull()
        }
    }

    /// The value of a Foundation object, or nil.
    package init?(foundationObject object: Any) {
        switch object {
        case let value as String: self = .string(value)
        case let value as Date: self = .date(value.timeIntervalSinceReferenceDate)
        case let value as Data: self = .data(value)
        case let value as UUID: self = .uuid(value)
        case let value as URL: self = .uri(value.absoluteString)
        default:
            if let value = GraphValue(number: object) {
                self = value
            } else if object is NSNull {
                self = .null
            } else {
                return nil
            }
        }
    }

    /// The value of a number object. Its exact type is compared first: casts convert between number types.
    private init?(number object: Any) {
        let type = Swift.type(of: object)
        if type == Bool.self, let value = object as? Bool {
            self = .bool(value)
        } else if type == Float.self, let value = object as? Float {
            self = .float(value)
        } else if type == Double.self, let value = object as? Double {
            self = .double(value)
        } else if type == Decimal.self, let value = object as? Decimal {
            self = .decimal(value)
        } else if let value = object as? NSDecimalNumber {
            self = GraphValue(parsed: value.decimalValue)
        } else if let value = object as? any BinaryInteger {
            guard let integer = Int64(exactly: value) else { return nil }
            self = .integer(integer)
        } else if let value = object as? NSNumber {
            switch String(cString: value.objCType) {
            case "c" where value === kCFBooleanLike(value), "B": self = .bool(value.boolValue)
            case "f": self = .float(value.floatValue)
            case "d": self = .double(value.doubleValue)
            case "Q":
                guard let integer = Int64(exactly: value.uint64Value) else { return nil }
                self = .integer(integer)
            default: self = .integer(value.int64Value)
            }
        } else {
            return nil
        }
    }
}

extension GraphValue {
    /// The value of a decimal object. JSON parsers create decimals for any number, so the simplest type that loses
    /// nothing is chosen.
    fileprivate init(parsed decimal: Decimal) {
        let text = DecimalText.text(decimal)
        if let integer = Int64(text) {
            self = .integer(integer)
        } else if let double = Double(text), Decimal(string: double.description, locale: nil) == decimal {
            self = .double(double)
        } else {
            self = .decimal(decimal)
        }
    }
}

/// The boolean object that equals the number, which is the number itself if it is a boolean: Foundation has two such
/// instances.
private func kCFBooleanLike(_ number: NSNumber) -> NSNumber {
    NSNumber(value: number.boolValue)
}
