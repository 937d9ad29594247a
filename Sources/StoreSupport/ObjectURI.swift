import Foundation

/// The parts of an object's URI: `x-coredata://STORE-UUID/Entity/p12`, or `x-coredata:///Entity/tUUID12` for a
/// temporary object.
package struct ObjectURI: Equatable {
    package enum Form: Equatable {
        /// A row of the store with an identifier, by its primary key.
        case row(store: String, number: Int64)
        /// A row of the store with an identifier, by the escaped text of its reference object in the URI.
        case reference(store: String, text: String)
        /// An object that has not been saved, in the process with an identifier.
        case temporary(process: String, number: Int64)
    }

    package let entityName: String
    package let form: Form

    /// Nil if the URL is not an object's URI.
    package init?(_ url: URL) {
        guard url.scheme?.lowercased() == "x-coredata" else { return nil }
        guard let escaped = URLComponents(url: url, resolvingAgainstBaseURL: false)?.percentEncodedPath else {
            return nil
        }
        // The text of a reference object may contain slashes.
        let path = escaped.drop { $0 == "/" }.split(separator: "/", maxSplits: 1)
        guard path.count == 2, let letter = path[1].first, let name = path[0].removingPercentEncoding else {
            return nil
        }
        entityName = name
        let rest = path[1].dropFirst()
        switch letter {
        case "p":
            guard let store = url.host, !store.isEmpty, !rest.isEmpty else { return nil }
            form =
                Self.number(rest).map { .row(store: store, number: $0) }
                ?? .reference(store: store, text: String(rest))
        case "t":
            let process = rest.prefix(36)
            guard UUID(uuidString: String(process)) != nil, let number = Self.number(rest.dropFirst(36)) else {
                return nil
            }
            form = .temporary(process: String(process), number: number)
        default:
            return nil
        }
    }

    /// A positive number in ASCII digits.
    private static func number(_ text: Substring) -> Int64? {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let number = Int64(text),
            number > 0
        else { return nil }
        return number
    }
}
