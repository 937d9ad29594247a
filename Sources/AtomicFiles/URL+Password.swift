import Foundation

extension URL {
    /// The URL without passwords, for messages: without the user's password, and without the parameters of libpq that
    /// contain one.
    package var withoutPassword: URL {
        guard !isFileURL else { return self }
        guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: false) else {
            return URL(string: "\(scheme ?? ""):") ?? URL(fileURLWithPath: "/")
        }
        parts.password = nil
        if let query = parts.percentEncodedQuery {
            let items = query.split(separator: "&").filter { item in
                let name = item.prefix { $0 != "=" }
                return !["password", "sslpassword"].contains(name.removingPercentEncoding ?? String(name))
            }
            parts.percentEncodedQuery = items.isEmpty ? nil : items.joined(separator: "&")
        }
        return parts.url ?? URL(fileURLWithPath: "/")
    }
}
