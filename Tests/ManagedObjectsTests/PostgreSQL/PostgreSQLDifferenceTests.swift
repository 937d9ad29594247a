#if PostgreSQL
    import Foundation
    import Testing

    import class ManagedObjects.NSExpression
    import class ManagedObjects.NSPredicate

    @testable import ManagedObjects

    /// What the article "More than one machine" lists as different from a store in a file. The other points are in
    /// `PostgreSQLStoreTests`, `PostgreSQLFailureTests` and `ReadersAgreeTests`.
    @Suite(.serialized, .enabled(if: TestStores.server != nil, "CORAL_POSTGRESQL names no server."))
    struct PostgreSQLDifferenceTests {
        private func context(_ model: NSManagedObjectModel = NotesModel.make()) throws -> NSManagedObjectContext {
            try TestStack(model: model, type: TestStores.postgreSQL, url: TestStores.url(TestStores.postgreSQL))
                .context()
        }

        private func aggregate(_ format: String, _ type: NSAttributeType) -> NSFetchRequest<NSDictionary> {
            let column = NSExpressionDescription()
            column.name = "found"
            column.expression = NSExpression(format: format)
            column.expressionResultType = type
            let request = NSFetchRequest<NSDictionary>(entityName: "Note")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = [column]
            return request
        }

        @Test func `a sum beyond 64 bits is an error`() throws {
            let context = try context()
            for _ in 0..<2 { _ = context.insert("Note", ["count": Int64.max]) }
            try context.save()
            #expect(throws: CocoaError.self) { try context.fetch(aggregate("sum:(count)", .integer64AttributeType)) }
        }

        @Test func `shifts and the extremes of UUIDs are computed in the process`() throws {
            let context = try context()
            let identifiers = (0..<3).map { _ in UUID() }
            for (number, identifier) in identifiers.enumerated() {
                _ = context.insert("Note", ["count": number + 1, "identifier": identifier])
            }
            try context.save()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            request.predicate = NSPredicate(format: "leftshift:by:(count, 2) == 12")
            #expect(try context.count(for: request) == 1)
            let least = try context.fetch(aggregate("min:(identifier)", .UUIDAttributeType)).first?["found"] as? UUID
            #expect(least?.uuidString == identifiers.map(\.uuidString).min())
        }

        @Test func `texts derived from other objects by a function are refused`() throws {
            let model = NotesModel.make()
            let derived = NSDerivedAttributeDescription()
            derived.name = "folderKey"
            derived.attributeType = .stringAttributeType
            derived.derivationExpression = NSExpression(format: "canonical:(folder.name)")
            model.entitiesByName["Note"]?.properties.append(derived)
            let error = #expect(throws: CocoaError.self) { try context(model) }
            #expect(error?.code == .persistentStoreIncompatibleSchema)
        }

        @Test func `rows may refer to rows that do not exist`() throws {
            let context = try context()
            let folder = context.insert("Folder", ["name": "f"])
            let note = context.insert("Note", ["title": "n"])
            note.setValue(folder, forKey: "folder")
            try context.save()
            let store = try #require(context.persistentStoreCoordinator?.persistentStores.first as? PostgreSQLStore)
            _ = try store.content().pool.withConnection { try $0.execute("DELETE FROM ZFOLDER") }
            let other = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
            other.persistentStoreCoordinator = context.persistentStoreCoordinator
            #expect(try other.all("Note").count == 1)
        }
    }
#endif
