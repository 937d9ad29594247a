#if PostgreSQL
    import CoreData
    import Foundation

    extension NSPersistentStore.StoreType {
        /// A store in a schema of a PostgreSQL database, which programs on many machines use at the same time.
        public static let postgreSQL = NSPersistentStore.StoreType(rawValue: "PostgreSQL")
    }

    extension NSPersistentStoreDescription {
        /// The description of a store in PostgreSQL.
        ///
        /// Parameters that the URL does not contain (host, port, user, password, TLS) are read from the environment (`PGHOST`,
        /// `PGPASSWORD`, `PGSSLMODE`, …), the service file and the password file, as in every program that uses libpq. The URL
        /// should not contain a password: the engine omits it from its own messages, but other messages about the store may
        /// contain the URL.
        ///
        /// - Parameters:
        ///   - url: A connection URL of libpq: `postgresql://host/database`.
        ///   - schema: The schema of the database that contains the store's tables. It is created if it does not exist. Nil for
        ///     the schema that the URL names in its query (`?schema=notes`), otherwise `coral`.
        public static func postgreSQL(url: URL, schema: String? = nil) -> NSPersistentStoreDescription {
            let description = NSPersistentStoreDescription(url: storeURL(url, schema: schema))
            description.type = NSPersistentStore.StoreType.postgreSQL.rawValue
            return description
        }

        /// The description of a store in PostgreSQL, for a URL as text. See ``postgreSQL(url:schema:)-(URL,_)``.
        ///
        /// A text that is not a URL is reported as an error when the store is added.
        public static func postgreSQL(url: String, schema: String? = nil) -> NSPersistentStoreDescription {
            postgreSQL(url: URL(string: url) ?? URL(fileURLWithPath: url), schema: schema)
        }

        /// The URL with the name of the schema in its query: stores in one database differ by it.
        private static func storeURL(_ url: URL, schema: String?) -> URL {
            guard let schema else { return url }
            let text = url.absoluteString
            let parts = text.split(separator: "?", maxSplits: 1).map(String.init)
            var items = parts.count > 1 ? parts[1].split(separator: "&").map(String.init) : []
            items.removeAll { $0.hasPrefix("schema=") }
            let allowed = CharacterSet.urlQueryAllowed.subtracting(CharacterSet(charactersIn: "&=+?#"))
            items.append("schema=" + (schema.addingPercentEncoding(withAllowedCharacters: allowed) ?? schema))
            return URL(string: parts[0] + "?" + items.joined(separator: "&")) ?? url
        }
    }
#endif
