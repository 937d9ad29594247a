import Foundation
import KeyedArchives

extension ReadableValue {
    /// The tree, in the style of property lists, as a property list.
    var propertyList: PropertyListValue {
        switch self {
        case .array(let values): .array(values.map(\.propertyList))
        case .dictionary(let members):
            .dictionary(PropertyListDictionary(members.map { ($0.name, $0.value.propertyList) }))
        case .value(let value):
            switch value {
            case .bool(let value): .boolean(value)
            case .integer(let value): .integer(value)
            case .double(let value): .real(value)
            case .date(let value): .date(Date(timeIntervalSinceReferenceDate: value))
            case .data(let value): .data(value)
            default: .string(TextValue.text(of: value) ?? "")
            }
        }
    }

    /// The tree of a property list. Throws `DocumentError` for values that documents do not support (references of
    /// archives), and beyond `depthLimit` levels.
    init(propertyList: PropertyListValue, depthLimit: Int) throws {
        guard depthLimit > 0 else {
            throw DocumentError(.limit, "The property list nests too deeply.", at: DocumentPlace(offset: 0))
        }
        switch propertyList {
        case .null: self = .value(.null)
        case .boolean(let value): self = .value(.bool(value))
        case .integer(let value): self = .value(.integer(value))
        case .unsignedInteger(let value): self = .value(.decimal(Decimal(value)))
        case .real(let value): self = .value(.double(value))
        case .date(let value): self = .value(.date(value.timeIntervalSinceReferenceDate))
        case .data(let value): self = .value(.data(value))
        case .string(let value): self = .value(.string(value))
        case .uid:
            throw DocumentError(
                .unsupported, "The property list is a keyed archive, not a document.", at: DocumentPlace(offset: 0))
        case .array(let values), .set(let values):
            self = .array(try values.map { try ReadableValue(propertyList: $0, depthLimit: depthLimit - 1) })
        case .dictionary(let dictionary):
            self = .dictionary(
                try dictionary.map { key, value in
                    Member(name: key, value: try ReadableValue(propertyList: value, depthLimit: depthLimit - 1))
                })
        }
    }
}
