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
            // Property lists have no values of these types.
            case .uri(let text): text
            case .uuid(let value): value.uuidString
            default: value.scalarObject ?? ""
            }
        }
    }
}
