import Coral
import CoralTools
import Foundation

/// A request for a page of a store: a path below the token, and the fields of the query or of a form.
struct SiteRequest: Sendable {
    let page: String
    let fields: [String: String]
    /// Whether the request is one that changes something.
    let isChange: Bool
    /// The path of the first page.
    let root: String

    /// The value of a field; nil if it is empty.
    subscript(_ name: String) -> String? { fields[name].flatMap { $0.isEmpty ? nil : $0 } }

    /// The address in the field `return`, restricted to pages of this site and without characters that would end a header.
    var returnAddress: String {
        let address = self["return"].flatMap { address in
            address.hasPrefix("/") || !address.utf8.allSatisfy { (33...126).contains($0) } ? nil : address
        }
        return root + (address ?? "")
    }
}

/// The response to a request.
struct SiteAnswer: Sendable {
    var status = 200
    var contentType = "text/html"
    var body = Data()
    /// The part of a page after its beginning, for a page whose beginning has already been sent.
    var rest: HTML = ""
    /// The body of a response that is sent while it is made, instead of `body`.
    var stream: ResponseStream?
    var location: String?
    var headers: [String: String] = [:]
    /// Whether the page contains a style sheet, such as that of a picture.
    var allowsInlineStyles = false

    static func page(_ html: HTML, status: Int = 200) -> SiteAnswer {
        SiteAnswer(status: status, body: Data(html.text.utf8))
    }

    static func text(_ text: String, as type: String) -> SiteAnswer {
        SiteAnswer(contentType: type, body: Data(text.utf8))
    }

    static func redirection(to path: String) -> SiteAnswer { SiteAnswer(status: 303, location: path) }

    static let tooLarge = refusal(
        RequestCheck.Refusal.tooLarge.sentence, status: RequestCheck.Refusal.tooLarge.status)

    /// A refusal as plain text, which contains no data of the store.
    static func refusal(_ sentence: String, status: Int = 403) -> SiteAnswer {
        SiteAnswer(status: status, contentType: "text/plain", body: Data("\(sentence)\n".utf8))
    }
}

/// The fields of a form, and addresses with fields.
package enum FormFields {
    /// The fields of a body in the form `application/x-www-form-urlencoded`.
    package static func fields(of body: Data) -> [String: String] {
        var fields: [String: String] = [:]
        for part in body.split(separator: UInt8(ascii: "&")) {
            let sides = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let pair = sides.map { side in
                String(decoding: side, as: UTF8.self).replacingOccurrences(of: "+", with: " ", options: .literal)
                    .removingPercentEncoding ?? ""
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
