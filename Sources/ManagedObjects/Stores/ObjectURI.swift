import Foundation

/// An object's URI, taken apart: `x-coredata://STORE-UUID/Entity/p12`, or `x-coredata:///Entity/tUUID12` while the
/// object is temporary.
struct ObjectURI: Equatable {
    enum Place: Equatable {
        /// A row of the store with this identifier, by its primary key.
        case row(store: String, number: Int64)
        /// A row of the store with this identifier, by the text of its reference object as it stands in the URI: escaped.
        case reference(store: String, text: String)
        /// An object that had not been saved, in the process of this identifier.
        case temporary(process: String, number: Int64)
    }

    let entityName: String
    let place: Place

    /// Nil for a URL that is no object's URI.
    init?(_ url: URL) {
        guard url.scheme?.lowercased() == "x-coredata" else { return nil }
        guard let escaped = URLComponents(url: url, resolvingAgainstBaseURL: false)?.percentEncodedPath else {
            return nil
        }
        // The text of a reference object may itself have slashes.
        let path = escaped.drop { $0 == "/" }.split(separator: "/", maxSplits: 1)
        guard path.count == 2, let letter = path[1].first, let name = path[0].removingPercentEncoding else {
            return nil
        }
        entityName = name
        let rest = path[1].dropFirst()
        switch letter {
        case "p":
            guard let store = url.host, !store.isEmpty, !rest.isEmpty else { return nil }
            place =
                Self.number(rest).map { .row(store: store, number: $0) }
                ?? .reference(store: store, text: String(rest))
        case "t":
            let process = rest.prefix(36)
            guard UUID(uuidString: String(process)) != nil, let number = Self.number(rest.dropFirst(36)) else {
                return nil
            }
            place = .temporary(process: String(process), number: number)
        default:
            return nil
        }
    }

    /// A positive number in plain digits.
    private static func number(_ text: Substring) -> Int64? {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let number = Int64(text),
            number > 0
        else { return nil }
        return number
    }
}
