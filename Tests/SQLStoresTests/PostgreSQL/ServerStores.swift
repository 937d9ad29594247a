#if PostgreSQL
    import Foundation
    import PostgreSQLClient
    import Testing

    @testable import EngineTesting

    @testable import ManagedObjects
    @testable import SQLStores

    /// Stores on the tests' server with everything that such a store can have: a history with old values, an attribute that triggers
    /// derive, unique values.
    enum ServerStores {
        static var options: [AnyHashable: Any] {
            [NSPersistentHistoryTrackingKey: true, HistoryOldValuesOption: true]
        }

        static func model() -> NSManagedObjectModel {
            let model = NotesModel.make()
            let derived = NSDerivedAttributeDescription()
            derived.name = "noteCount"
            derived.attributeType = .integer64AttributeType
            derived.derivationExpression = NSExpression(format: "notes.@count")
            model.entitiesByName["Folder"]?.properties.append(derived)
            model.entitiesByName["Tag"]?.uniquenessConstraints = [["name"]]
            return model
        }

        static func stack(_ url: URL, _ options: [AnyHashable: Any] = options) throws -> TestStack {
            try TestStack(model: model(), type: TestStores.postgreSQL, url: url, options: options)
        }

        static func newURL() throws -> URL { try #require(TestStores.url(TestStores.postgreSQL)) }

        /// The result of a script that another program executes in the schema of a store.
        @discardableResult
        static func execute(_ script: String, at url: URL) throws -> PostgreSQLResult {
            let location = try PostgreSQLLocation(url)
            let connection = try PostgreSQLConnection(location.server, settings: location.settings)
            defer { connection.close() }
            return try connection.execute(script: script)
        }
    }
#endif
