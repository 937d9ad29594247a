import Coral
import CoralMigration
import Testing

#if !canImport(Darwin)

    /// A rehearsal finds the rows that a migration would fail for, and repairs make it work.
    @Suite(.enabled(if: Engine.hasRows)) struct MigrationRehearsalTests {
        private typealias Models = MigrationModels

        /// Notes without a title, with the same title, and with a count that is too large.
        private func store() throws -> VersionStore {
            try VersionStore(Models.first) { context in
                context.insert("Note", ["title": "Groceries", "count": 3])
                context.insert("Note", ["title": "Groceries", "count": 70_000])
                context.insert("Note", ["count": -1])
                context.insert("Note", ["title": "Garden"])
            }
        }

        private func counts(_ result: MigrationRehearsal.Result) -> [String: Int] {
            Dictionary(
                result.findings.map { ("\($0.code.rawValue) \($0.entity).\($0.property ?? "")", $0.count) },
                uniquingKeysWith: +)
        }

        @Test func `rows for which a migration would fail are found, and nothing is changed`() throws {
            let store = try store()
            let before = try store.contents()
            let result = try MigrationRehearsal(ProgressiveMigration(to: Models.strict)).run(onStoreAt: store.url)
            #expect(!result.isPossible)
            #expect(try store.contents() == before)
            #expect(
                counts(result) == [
                    "missingValue Note.title": 1, "unconvertibleValue Note.count": 1, "notUnique Note.title": 1,
                ])
            let found = try #require(result.findings.first { $0.code == .unconvertibleValue })
            #expect(found.isBreaking && found.objects.count == 1)
            let titles = try store.values("count", Models.first)
            let key = try #require(titles.firstIndex(of: "70000"))
            #expect(found.objects.first?.lastPathComponent == "p\(key + 1)")
        }

        @Test func `repairs make the migration work`() throws {
            let store = try store()
            var migration = ProgressiveMigration(to: Models.strict)
            migration.repairs = [
                MigrationRepair("Note", .fill(attribute: "title", .string("Untitled"))),
                MigrationRepair("Note", .convert(attribute: "count", .clamp)),
                MigrationRepair("Note", .deduplicate(["title"])),
            ]
            let result = try MigrationRehearsal(migration).run(onStoreAt: store.url)
            #expect(result.failure == nil)
            #expect(result.findings.allSatisfy { !$0.isBreaking })
            #expect(counts(result)["changedValue Note.title"] == 1)
            #expect(counts(result)["mergedObject Note.title"] == 1)
            #expect(result.objectCount == 3)
            try migration.migrateStore(at: store.url)
            #expect(Set(try store.values("title", Models.strict)) == ["Groceries", "Garden", "Untitled"])
            #expect(Set(try store.values("count", Models.strict)).isSubset(of: ["3", "32767", "-1", "nil", "0"]))
        }

        @Test func `duplicates of several keys are merged`() throws {
            let store = try VersionStore(Models.first) { context in
                context.insert("Note", ["title": "a"])
                context.insert("Note", ["title": "a"])
                context.insert("Note", ["title": "b", "count": 5])
                context.insert("Note", ["title": "c", "count": 5])
            }
            var migration = ProgressiveMigration(to: Models.strict)
            migration.repairs = [
                MigrationRepair("Note", .deduplicate(["title"])), MigrationRepair("Note", .deduplicate(["count"])),
                MigrationRepair("Note", .convert(attribute: "count", .clamp)),
                MigrationRepair("Note", .fill(attribute: "title", .string("-"))),
            ]
            let result = try MigrationRehearsal(migration).run(onStoreAt: store.url)
            #expect(result.failure == nil)
            #expect(result.objectCount == 2)
        }

        @Test func `each way of narrowing has its effect`() throws {
            func counts(_ narrowing: MigrationRepair.Narrowing) throws -> Set<String> {
                let store = try VersionStore(Models.first) { context in
                    context.insert("Note", ["title": "a", "count": 3])
                    context.insert("Note", ["title": "b", "count": 70_000])
                }
                var migration = ProgressiveMigration(to: Models.strict)
                migration.repairs = [
                    MigrationRepair("Note", .convert(attribute: "count", narrowing)),
                    MigrationRepair("Note", .fill(attribute: "title", .string("-"))),
                ]
                try migration.migrateStore(at: store.url)
                return Set(try store.values("count", Models.strict))
            }
            #expect(try counts(.clamp) == ["3", "32767"])
            #expect(try counts(.clear) == ["3", "nil"])
            #expect(try counts(.replace(.string("12"))) == ["3", "12"])
            #expect(throws: (any Error).self) { try counts(.fail) }
        }

        /// As in an inferred migration: no repair gives these objects another value.
        @Test func `a repaired attribute without a value gets its default value`() throws {
            func attribute(
                _ name: String, _ type: NSAttributeType, optional: Bool = true
            ) -> NSAttributeDescription {
                let attribute = WebModel.attribute(name, type, optional: optional)
                attribute.defaultValue = 7
                return attribute
            }
            let title = { WebModel.attribute("title", .stringAttributeType) }
            // The count becomes required; the size is new in the second version, and has another type in the third.
            let second = Models.version(
                "Second",
                [
                    title(), attribute("count", .integer16AttributeType, optional: false),
                    attribute("size", .integer64AttributeType),
                ])
            let third = Models.version(
                "Third",
                [
                    title(), attribute("count", .integer16AttributeType, optional: false),
                    attribute("size", .integer16AttributeType),
                ])
            let store = try VersionStore(Models.first) { context in
                context.insert("Note", ["title": "a", "count": 70_000])
                context.insert("Note", ["title": "b"])
            }
            var migration = ProgressiveMigration(to: third, through: [Models.first, second])
            migration.repairs = [
                MigrationRepair("Note", .convert(attribute: "count", .clamp)),
                MigrationRepair("Note", .convert(attribute: "size", .clamp)),
            ]
            let result = try MigrationRehearsal(migration).run(onStoreAt: store.url)
            #expect(result.failure == nil)
            #expect(result.findings.allSatisfy { !$0.isBreaking })
            #expect(try migration.migrateStore(at: store.url).count == 2)
            #expect(Set(try store.values("count", third)) == ["32767", "7"])
            #expect(try store.values("size", third) == ["7", "7"])
        }

        @Test func `a required value that is cleared becomes the default value`() throws {
            let count = WebModel.attribute("count", .integer16AttributeType, optional: false)
            count.defaultValue = 7
            let second = Models.version("Second", [WebModel.attribute("title", .stringAttributeType), count])
            let store = try VersionStore(Models.first) { context in
                context.insert("Note", ["title": "a", "count": 70_000])
            }
            var migration = ProgressiveMigration(to: second, through: [Models.first])
            migration.repairs = [MigrationRepair("Note", .convert(attribute: "count", .clear))]
            #expect(try MigrationRehearsal(migration).run(onStoreAt: store.url).failure == nil)
            try migration.migrateStore(at: store.url)
            #expect(try store.values("count", second) == ["7"])
        }

        /// A list may have two notes, and the merged list would have four.
        @Test func `a deduplication that fails is a result`() throws {
            func version(_ name: String, count: NSAttributeType) -> ModelVersion {
                let list = WebModel.entity("List", [("code", .stringAttributeType), ("count", count)])
                let note = WebModel.entity("Note", [("title", .stringAttributeType)])
                WebModel.relate(list, "notes", .toMany(ordered: false), note, "list", .toOne)
                list.relationshipsByName["notes"]?.maxCount = 2
                let model = NSManagedObjectModel()
                model.entities = [list, note]
                return ModelVersion(name: name, model: model)
            }
            let (first, second) = (
                version("First", count: .integer64AttributeType), version("Second", count: .integer16AttributeType)
            )
            let store = try VersionStore(first) { context in
                for _ in 0..<2 {
                    let list = context.insert("List", ["code": "x"])
                    for title in ["a", "b"] { context.insert("Note", ["title": title, "list": list]) }
                }
            }
            var migration = ProgressiveMigration(to: second, through: [first])
            migration.repairs = [
                MigrationRepair("List", .deduplicate(["code"])),
                MigrationRepair("List", .convert(attribute: "count", .clamp)),
            ]
            let result = try MigrationRehearsal(migration).run(onStoreAt: store.url)
            #expect(result.failure?.hasPrefix("The step from \"First\" to \"Second\" fails.") == true)
            #expect(result.objectCount == 0)
        }

        @Test func `text is converted to numbers where possible`() throws {
            let number = WebModel.entity("Note", [("title", .integer64AttributeType)])
            let model = NSManagedObjectModel()
            model.entities = [number]
            var migration = ProgressiveMigration(to: ModelVersion(name: "Numbers", model: model))
            migration.repairs = [MigrationRepair("Note", .convert(attribute: "title", .fail))]
            let store = try VersionStore(Models.first) { context in
                context.insert("Note", ["title": "12", "count": 1])
                context.insert("Note", ["title": "twelve", "count": 1])
            }
            let result = try MigrationRehearsal(migration).run(onStoreAt: store.url)
            #expect(counts(result) == ["unconvertibleValue Note.title": 1, "removedValue Note.count": 2])
            #expect(!result.isPossible)
            migration.repairs = [MigrationRepair("Note", .convert(attribute: "title", .clear))]
            try migration.migrateStore(at: store.url)
            #expect(Set(try store.values("title", migration.destination)) == ["12", "nil"])
        }

        @Test func `removed objects, their orphans and removed values are listed`() throws {
            func entities() -> [NSEntityDescription] {
                let album = WebModel.entity("Album", [("name", .stringAttributeType)])
                let photo = WebModel.entity("Photo", [("name", .stringAttributeType), ("size", .doubleAttributeType)])
                WebModel.relate(
                    album, "photos", .toMany(ordered: false), photo, "album", .toOne, rule: .cascadeDeleteRule)
                return [album, photo]
            }
            let old = NSManagedObjectModel()
            old.entities = entities()
            let new = NSManagedObjectModel()
            new.entities = [WebModel.entity("Photo", [("name", .stringAttributeType)])]
            let store = try VersionStore(ModelVersion(name: "Old", model: old)) { context in
                let album = context.insert("Album", ["name": "Holidays"])
                for name in ["a", "b", "c"] { context.insert("Photo", ["name": name, "album": album, "size": 2.5]) }
                context.insert("Photo", ["name": "d"])
            }
            let migration = ProgressiveMigration(to: ModelVersion(name: "New", model: new))
            let result = try MigrationRehearsal(migration).run(onStoreAt: store.url)
            #expect(result.isPossible)
            #expect(
                counts(result) == [
                    "removedObject Album.": 1, "orphan Photo.": 3, "removedValue Photo.album": 3,
                    "removedValue Photo.size": 3,
                ])
            #expect(result.objectCount == 4)
        }

        @Test func `a repair of an unknown attribute, or with an invalid value, is refused`() throws {
            let store = try store()
            var migration = ProgressiveMigration(to: Models.strict)
            migration.repairs = [MigrationRepair("Note", .fill(attribute: "titel", .string("")))]
            let error = #expect(throws: MigrationError.self) { try migration.migrateStore(at: store.url) }
            #expect(error?.message.contains("Did you mean \"title\"?") == true)
            migration.repairs = [MigrationRepair("Note", .fill(attribute: "count", .string("many")))]
            #expect(throws: MigrationError.self) { try MigrationRehearsal(migration).run(onStoreAt: store.url) }
        }
    }

#endif
