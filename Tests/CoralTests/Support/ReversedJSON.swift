import Foundation

/// JSON whose members are in descending order, so that those of the library, which begin with `$`, are last.
func reversedJSON(_ object: Any) throws -> Data {
    func text(_ object: Any) throws -> String {
        switch object {
        case let members as [String: Any]:
            let parts = try members.sorted { $0.key > $1.key }.map { try "\(text($0.key)):\(text($0.value))" }
            return "{\(parts.joined(separator: ","))}"
        case let values as [Any]: return "[\(try values.map(text).joined(separator: ","))]"
        default:
            return String(
                decoding: try JSONSerialization.data(withJSONObject: object, options: .fragmentsAllowed), as: UTF8.self)
        }
    }
    return Data(try text(object).utf8)
}
