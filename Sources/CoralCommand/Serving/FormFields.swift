import Foundation

/// The fields of a form, and addresses with fields.
package enum FormFields {
    /// The fields of a body in the form `application/x-www-form-urlencoded`.
    package static func fields(of body: Data) -> [String: String] {
        var fields: [String: String] = [:]
        for part in String(decoding: body, as: UTF8.self).split(separator: "&") {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
                $0.replacingOccurrences(of: "+", with: " ").removingPercentEncoding ?? ""
            }
            if let name = pair.first { fields[name] = pair.count > 1 ? pair[1] : "" }
        }
        return fields
    }

    /// A relative address: `table?entity=Note&sort=title`. Fields without a value are omitted.
    package static func address(_ page: String, _ fields: [(String, String?)]) -> String {
        let query = fields.compactMap { name, value in value.map { "\(name)=\(encoded($0))" } }
        return query.isEmpty ? page : "\(page)?\(query.joined(separator: "&"))"
    }

    private static let plain = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")

    private static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
    }
}
