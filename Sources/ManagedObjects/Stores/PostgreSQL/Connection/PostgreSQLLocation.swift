#if PostgreSQL
    import AtomicFiles
    import Foundation
    import PostgreSQLClient
    import SQLStores

    /// The place of a store: a server's database, and a schema in it.
    ///
    /// The URL is libpq's, with the schema as a further parameter of its query: `postgresql://host/database?schema=notes`.
    struct PostgreSQLLocation: Sendable {
        /// The URL for libpq.
        let server: String
        let schema: String

        /// The schema of a URL that names none.
        static let defaultSchema = "coral"

        /// - Throws: Code 134080 if the URL is of another scheme, or the name of the schema is too long.
        init(_ url: URL) throws {
            guard let scheme = url.scheme?.lowercased(), StoreClasses.serverSchemes.contains(scheme) else {
                throw CocoaError(
                    .persistentStoreOpen,
                    "The URL of a store in PostgreSQL begins with postgresql://, not \(url.scheme ?? "").",
                    url: url.withoutPassword)
            }
            let text = url.absoluteString
            let parts = text.split(separator: "?", maxSplits: 1)
            let items = parts.count > 1 ? parts[1].split(separator: "&") : []
            let named = items.first { $0.hasPrefix("schema=") }?.dropFirst("schema=".count)
            schema = named.map { String($0).removingPercentEncoding ?? String($0) } ?? Self.defaultSchema
            let kept = items.filter { !$0.hasPrefix("schema=") }.joined(separator: "&")
            server = parts[0] + (kept.isEmpty ? "" : "?" + kept)
            guard !schema.isEmpty, schema.utf8.count <= 63, !schema.utf8.contains(0) else {
                throw CocoaError(
                    .persistentStoreOpen, "The name of a schema has from 1 to 63 bytes: “\(schema)”.",
                    url: Self.withoutPassword(url))
            }
        }

        /// The URL for messages.
        static func withoutPassword(_ url: URL?) -> URL? { url?.withoutPassword }

        /// The statements that a connection executes first.
        var setup: String {
            "SET search_path TO \(quotedSchema); SET standard_conforming_strings TO on; SET bytea_output TO hex; "
                + "SET application_name TO \(PostgreSQLConnection.literal(applicationName))"
        }

        /// The name of connections to the store, by which a migration finds them. Printable ASCII: the server replaces other
        /// characters.
        var applicationName: String {
            let printable = CharacterSet(charactersIn: " "..."~").subtracting(CharacterSet(charactersIn: "%"))
            let name = schema.addingPercentEncoding(withAllowedCharacters: printable) ?? ""
            return SQLNaming.postgreSQL.fitting("coral \(name)")
        }

        /// The place of another schema in the same database.
        func url(ofSchema schema: String) -> URL? {
            URL(string: server + (server.contains("?") ? "&" : "?") + "schema=" + schema)
        }

        var quotedSchema: String { PostgreSQLConnection.quoted(schema) }
    }
#endif
