import Foundation

/// An object's URI, taken apart: `x-coredata://STORE-UUID/Entity/p12`, or `x-coredata:///Entity/tUUID12` while the
/// object is temporary.
struct ObjectURI: Equatable {
    enum Place: Equatable {
        /// A row of the store with this identifier.
        case row(store: String, number: Int64)
        /// An object that had not been saved, in the process of this identifier.
        case temporary(process: String, number: Int64)
    }

    let entityName: String
    let place: Place

    /// Nil for a URL that is no object's URI.
    init?(_ url: URL) {
        guard url.scheme?.lowercased() == "x-coredata" else { return nil }
        let path = url.path.split(separator: "/", omittingEmptySubsequences: true)
        guard path.count == 2, let letter = path[1].first else { return nil }
        entityName = String(path[0])
        let rest = path[1].dropFirst()
        switch letter {
        case "p":
            guard let store = url.host, !store.isEmpty, let number = Self.number(rest) else { return nil }
            place = .row(store: store, number: number)
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
