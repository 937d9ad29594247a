import Foundation

extension ReadableValue {
    /// The keyed archive of the value, as `NSKeyedArchiver` would write it. Equal values give equal bytes.
    ///
    /// Throws ``ArchiveError`` when the value nests deeper than the limit, or refers to an ancestor that it does not
    /// have.
    public func archived(limits: Limits = Limits()) throws -> Data {
        var builder = KeyedArchiveBuilder()
        let root = try builder.add(self, limits: limits)
        return try builder.archive(root: root)
    }
}

extension KeyedArchiveBuilder {
    /// Adds a readable value and all that it contains.
    ///
    /// Throws ``ArchiveError`` when the value nests deeper than the limit, or refers to an ancestor that it does not
    /// have.
    public mutating func add(
        _ value: ReadableValue, limits: ReadableValue.Limits = ReadableValue.Limits()
    ) throws -> PropertyListValue {
        try add(value, ancestors: [], depthLimit: limits.depth)
    }

    /// Recursive, no deeper than the limit.
    private mutating func add(
        _ value: ReadableValue, ancestors: [PropertyListValue], depthLimit: Int
    ) throws -> PropertyListValue {
        guard ancestors.count <= depthLimit else {
            throw ArchiveError(.tooLarge, "The value nests deeper than \(depthLimit) levels.")
        }
        switch value {
        case .null: return Self.null
        case .boolean(let value): return add(value: .boolean(value))
        case .integer(let value): return add(value: .integer(value))
        case .unsignedInteger(let value): return add(value: .unsignedInteger(value))
        case .real(let value): return add(value: .real(value))
        case .string(let value): return add(string: value)
        case .data(let value): return add(value: .data(value))
        case .date(let date):
            let time = PropertyListValue.real(date.timeIntervalSinceReferenceDate)
            return add(classChain: ["NSDate", "NSObject"], fields: PropertyListDictionary([("NS.time", time)]))
        case .uuid(let uuid):
            let bytes = PropertyListValue.data(ArchivedScalars.bytes(uuid))
            return add(classChain: ["NSUUID", "NSObject"], fields: PropertyListDictionary([("NS.uuidbytes", bytes)]))
        case .url(let text):
            let text = add(string: text)
            return add(
                classChain: ["NSURL", "NSObject"],
                fields: PropertyListDictionary([("NS.base", Self.null), ("NS.relative", text)]))
        case .decimal(let decimal):
            return add(
                classChain: ["NSDecimalNumberPlaceholder", "NSDecimalNumber", "NSNumber", "NSValue", "NSObject"],
                fields: ArchivedScalars.fields(decimal))
        case .ancestor(let levels):
            guard levels > 0, levels <= ancestors.count else {
                throw ArchiveError(.danglingReference, "The value refers to an ancestor that it does not have.")
            }
            return ancestors[ancestors.count - levels]
        case .array, .set, .orderedSet, .dictionary, .object:
            let reference = reserve()
            try fill(reference, with: value, ancestors: ancestors + [reference], depthLimit: depthLimit)
            return reference
        }
    }

    private mutating func fill(
        _ reference: PropertyListValue, with value: ReadableValue, ancestors: [PropertyListValue], depthLimit: Int
    ) throws {
        func references(_ values: [ReadableValue]) throws -> [PropertyListValue] {
            try values.map { try add($0, ancestors: ancestors, depthLimit: depthLimit) }
        }
        switch value {
        case .array(let values):
            let members = PropertyListDictionary([("NS.objects", .array(try references(values)))])
            fill(reference, classChain: ["NSArray", "NSObject"], fields: members)
        case .set(let values):
            let members = PropertyListDictionary([("NS.objects", .array(try references(values)))])
            fill(reference, classChain: ["NSSet", "NSObject"], fields: members)
        case .orderedSet(let values):
            let members = try references(values).enumerated().map { ("NS.object.\($0)", $1) }
            fill(reference, classChain: ["NSOrderedSet", "NSObject"], fields: PropertyListDictionary(members))
        case .dictionary(let pairs):
            let keys = try references(pairs.map(\.key))
            let values = try references(pairs.map(\.value))
            fill(reference, dictionary: Array(zip(keys, values)).map { (key: $0, value: $1) })
        case .object(let classChain, let fields):
            let values = try fields.map { field -> (String, PropertyListValue) in
                // A number or a boolean is written inline in its field, as `NSKeyedArchiver` does.
                switch field.value {
                case .boolean(let value): (field.name, .boolean(value))
                case .integer(let value): (field.name, .integer(value))
                case .unsignedInteger(let value): (field.name, .unsignedInteger(value))
                case .real(let value): (field.name, .real(value))
                default: (field.name, try add(field.value, ancestors: ancestors, depthLimit: depthLimit))
                }
            }
            fill(reference, classChain: classChain, fields: PropertyListDictionary(values))
        default:
            break
        }
    }
}
