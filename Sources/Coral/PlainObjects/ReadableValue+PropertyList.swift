import Foundation
import GraphDocuments

extension ReadableValue {
    /// The tree as property list values. Recursive; readers have limited its depth.
    var propertyList: Any {
        switch self {
        case .array(let values): values.map(\.propertyList)
        case .dictionary(let members):
            Dictionary(members.map { ($0.name, $0.value.propertyList) }, uniquingKeysWith: { $1 })
        case .value(let value):
            switch value {
            case .bool(let value): NSNumber(value: value)
            case .integer(let value): NSNumber(value: value)
            case .double(let value): NSNumber(value: value)
            case .float(let value): NSNumber(value: value)
            case .decimal(let value): NSDecimalNumber(decimal: value)
            case .string(let value), .uri(let value): value
            case .date(let value): Date(timeIntervalSinceReferenceDate: value)
            case .data(let value): value
            case .uuid(let value): value.uuidString
            case .null, .composite, .transformable, .file: ""
            }
        }
    }
}
