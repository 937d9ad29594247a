#if PostgreSQL
    import AtomicFiles
    import CoreDataErrors
    import Foundation
    import ManagedObjects
    import PostgreSQLClient
    import SQLStatements

    /// The place of a store: a server's database, and a schema in it.
    ///
    /// The URL is libpq's, with further parameters in its query:
    ///
    /// - `schema`: the schema, as in `postgresql://host/database?schema=notes`.
    /// - `direct`: the host and the port of the server itself, if the URL is that of a pooler:
    ///   `postgresql://pooler:6432/database?direct=server:5432`. Notifications of commits are received there.
    /// - `standby`: the hosts and ports of standbys from which contexts may read, with a comma between two.
    package struct PostgreSQLLocation: Sendable {
        /// The URL for libpq.
        let server: String
        package let schema: String
        /// The place of the server for connections that must not pass through a pooler; nil if the URL names none.
        let direct: PostgreSQLAddress?
        /// The places of the standbys from which contexts may read.
        let standbys: [PostgreSQLAddress]

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
            func value(of name: String) -> String? {
                items.first { $0.hasPrefix(name + "=") }.map { item in
                    let value = String(item.dropFirst(name.utf8.count + 1))
                    return value.removingPercentEncoding ?? value
                }
            }
            schema = value(of: "schema") ?? Self.defaultSchema
            func address(_ place: String, of parameter: String) throws -> PostgreSQLAddress {
                guard let colon = place.lastIndex(of: ":"), colon > place.startIndex,
                    UInt16(place[colon...].dropFirst()) != nil
                else {
                    throw CocoaError(
                        .persistentStoreOpen,
                        "“\(parameter)” is a host and a port, such as server:5432, not “\(place)”.",
                        url: Self.withoutPassword(url))
                }
                let host = place[..<colon]
                // An IPv6 address stands in brackets.
                let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
                return PostgreSQLAddress(
                    host: String(isBracketed ? host.dropFirst().dropLast() : host),
                    port: String(place[colon...].dropFirst()))
            }
            direct = try value(of: "direct").map { try address($0, of: "direct") }
            standbys = try (value(of: "standby") ?? "").split(separator: ",").map {
                var standby = try address(String($0), of: "standby")
                standby.isStandby = true
                return standby
            }
            let own = ["schema=", "direct=", "standby="]
            let kept = items.filter { item in !own.contains { item.hasPrefix($0) } }.joined(separator: "&")
            server = parts[0] + (kept.isEmpty ? "" : "?" + kept)
            guard !schema.isEmpty, schema.utf8.count <= 63, !schema.utf8.contains(0) else {
                throw CocoaError(
                    .persistentStoreOpen, "The name of a schema has from 1 to 63 bytes: “\(schema)”.",
                    url: Self.withoutPassword(url))
            }
        }

        /// The URL for messages.
        static func withoutPassword(_ url: URL?) -> URL? { url?.withoutPassword }

        /// The settings with which the statements of a store are executed.
        var settings: PostgreSQLSettings {
            [
                "search_path": .names([schema]), "standard_conforming_strings": .text("on"),
                "bytea_output": .text("hex"),
                "application_name": .text(applicationName),
            ]
        }

        /// The name of connections to the store, by which a migration finds them. Printable ASCII: the server replaces other
        /// characters.
        var applicationName: String {
            let printable = CharacterSet(charactersIn: " "..."~").subtracting(CharacterSet(charactersIn: "%"))
            let name = schema.addingPercentEncoding(withAllowedCharacters: printable) ?? ""
            return SQLNaming.postgreSQL.fitting("coral \(name)")
        }

        /// Connects to the server itself, for work that may last long and needs locks of the session.
        ///
        /// - Parameters:
        ///   - work: The subject of an error's sentence, such as `An upgrade`.
        ///   - url: The URL for errors.
        /// - Throws: Code 134080 if the URL names a pooler only.
        func session(for work: String, url: URL?) throws -> PostgreSQLConnection {
            let connection = try PostgreSQLConnection(server, settings: settings, at: direct)
            guard !connection.isPooled else {
                throw CocoaError(
                    .persistentStoreOpen,
                    "\(work) needs a session of the server, and the URL names a pooler. Name the server in the URL: "
                        + "direct=host:port.", url: url)
            }
            var settings = ["statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"]
                .map { "SET \($0) TO 0" }
            // If this process ends, the server ends its statement.
            if connection.serverVersion >= 140_000 { settings.append("SET client_connection_check_interval TO 500") }
            try connection.execute(script: settings.joined(separator: "; "))
            return connection
        }

        /// The place of another schema in the same database.
        func url(ofSchema schema: String) -> URL? {
            URL(string: server + (server.contains("?") ? "&" : "?") + "schema=" + schema)
        }

        /// A URL with another schema, and with all other parameters.
        static func url(_ url: URL, withSchema schema: String) -> URL? {
            let parts = url.absoluteString.split(separator: "?", maxSplits: 1)
            let items = parts.count > 1 ? parts[1].split(separator: "&").filter { !$0.hasPrefix("schema=") } : []
            let allowed = CharacterSet.urlQueryAllowed.subtracting(CharacterSet(charactersIn: "&=+#*"))
            let name = schema.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
            return URL(string: parts[0] + "?" + (items + ["schema=\(name)"]).joined(separator: "&"))
        }

        var quotedSchema: String { PostgreSQLConnection.quoted(schema) }
    }
#endif
