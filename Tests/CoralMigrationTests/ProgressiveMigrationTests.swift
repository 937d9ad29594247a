import Coral
import CoralMigration
import Testing

#if !canImport(Darwin)

    /// The path from one version of a model to a later one, and the migration along this path.
    @Suite(.enabled(if: Engine.hasRows)) struct ProgressiveMigrationTests {
        private typealias Models = MigrationModels

        private func store() throws -> VersionStore {
            try VersionStore(Models.first) { context in
                context.insert("Note", ["title": "Groceries", "count": 3])
                context.insert("Note", ["title": "Garden", "count": 70_000])
            }
        }

        private func text(_ steps: [MigrationStep]) -> [String] {
            steps.map { "\($0.source.name) -> \($0.destination.name)" }
        }

        @Test func `steps are combined if one step has the same effect`() throws {
            let store = try store()
            let migration = ProgressiveMigration(to: Models.coloured, through: [Models.first, Models.second])
            #expect(text(try migration.steps(forStoreAt: store.url)) == ["Notes -> Notes 3"])
            #expect(try migration.migrateStore(at: store.url).count == 1)
            #expect(Set(try store.values("heading", Models.coloured)) == ["Groceries", "Garden"])
            #expect(try store.values("colour", Models.coloured) == ["white", "white"])
            #expect(try migration.migrateStore(at: store.url).isEmpty)
        }

        @Test func `a version in between that gives objects a default value is not left out`() throws {
            func version(
                _ name: String, optional: Bool, default value: String?, _ others: [String]
            ) -> ModelVersion {
                let title = WebModel.attribute("title", .stringAttributeType, optional: optional)
                title.defaultValue = value
                return Models.version(name, [title] + others.map { WebModel.attribute($0, .stringAttributeType) })
            }
            let first = version("Notes", optional: true, default: nil, [])
            func steps(_ between: ModelVersion, optional: Bool, default value: String) throws -> Int {
                let last = version("Last", optional: optional, default: value, ["author", "place"])
                let store = try VersionStore(first) { $0.insert("Note", [:]) }
                let count = try ProgressiveMigration(to: last, through: [first, between])
                    .migrateStore(at: store.url).count
                #expect(try store.values("title", last) == [between.name == "Required" ? "white" : "nil"])
                return count
            }
            let required = version("Required", optional: false, default: "white", ["author"])
            #expect(try steps(required, optional: true, default: "white") == 2)
            #expect(try steps(required, optional: false, default: "black") == 2)
            #expect(try steps(required, optional: false, default: "white") == 1)
            // The default value of an attribute that objects have already is that of new objects only.
            let optional = version("Optional", optional: true, default: "white", ["author"])
            #expect(try steps(optional, optional: true, default: "black") == 1)
        }

        @Test func `a property that would lose its values is migrated step by step`() throws {
            let store = try store()
            let migration = ProgressiveMigration(to: Models.third, through: [Models.first, Models.second])
            #expect(
                text(try migration.steps(forStoreAt: store.url)) == ["Notes -> Notes 2", "Notes 2 -> Notes 3"])
            let identifier = try StoreInspection(url: store.url).metadata[NSStoreUUIDKey] as? String
            try migration.migrateStore(at: store.url)
            #expect(Set(try store.values("name", Models.third)) == ["Groceries", "Garden"])
            #expect(try StoreInspection(url: store.url).metadata[NSStoreUUIDKey] as? String == identifier)
            let names = try FileManager.default.contentsOfDirectory(atPath: store.folder.path)
            #expect(names.allSatisfy { $0.hasPrefix("Notes.sqlite") }, "\(names)")
        }

        @Test func `steps are combined up to where one would lose values`() throws {
            func version(_ name: String, _ names: [(name: String, identifier: String?)]) -> ModelVersion {
                Models.version(
                    name,
                    names.map { name, identifier in
                        let attribute = WebModel.attribute(name, .stringAttributeType, optional: true)
                        attribute.renamingIdentifier = identifier
                        return attribute
                    })
            }
            let others: [(name: String, identifier: String?)] = [("a", nil), ("b", nil), ("c", nil)]
            let first = version("1", [("title", nil)])
            let versions = [
                first, version("2", [("heading", "title")]), version("3", [("heading", "title")] + others.prefix(1)),
                version("4", [("heading", "title")] + others.prefix(2)),
                version("5", [("name", "heading")] + others.prefix(2)),
                version("6", [("name", "heading")] + others), version("7", [("label", "name")] + others),
            ]
            let store = try VersionStore(first) { $0.insert("Note", ["title": "Groceries"]) }
            let migration = ProgressiveMigration(to: versions[6], through: versions)
            #expect(text(try migration.steps(forStoreAt: store.url)) == ["1 -> 4", "4 -> 6", "6 -> 7"])
            try migration.migrateStore(at: store.url)
            #expect(try store.values("label", versions[6]) == ["Groceries"])
        }

        /// The number of the file in its file system: that of a copy differs.
        private func fileNumber(_ url: URL) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: url.path)[.systemFileNumber] as? Int
        }

        @Test func `a chain of inferred steps is one transaction in the file of the store`() throws {
            let store = try store()
            let number = try fileNumber(store.url)
            let migration = ProgressiveMigration(to: Models.third, through: [Models.first, Models.second])
            #expect(try migration.migrateStore(at: store.url).count == 2)
            #expect(try fileNumber(store.url) == number)
            #expect(Set(try store.values("name", Models.third)) == ["Groceries", "Garden"])
        }

        @Test func `an error in the last step of a chain undoes the steps before`() throws {
            let store = try VersionStore(Models.first) { context in
                for count in [1, 2] { context.insert("Note", ["title": "Groceries", "count": count]) }
            }
            let before = try store.contents()
            let number = try fileNumber(store.url)
            let migration = ProgressiveMigration(to: Models.unique, through: [Models.first, Models.second])
            #expect(try migration.steps(forStoreAt: store.url).count == 2)
            let error = #expect(throws: CocoaError.self) { try migration.migrateStore(at: store.url) }
            #expect(error?.errorCode == NSMigrationConstraintViolationError)
            #expect(try fileNumber(store.url) == number)
            #expect(try store.contents()["Notes.sqlite"] == before["Notes.sqlite"])
            #expect(try store.values("title", Models.first) == ["Groceries", "Groceries"])
            let names = try FileManager.default.contentsOfDirectory(atPath: store.folder.path)
            #expect(names.allSatisfy { $0.hasPrefix("Notes.sqlite") }, "\(names)")
        }

        @Test func `statements are those of the whole chain`() throws {
            let store = try store()
            let before = try store.contents()
            let migration = ProgressiveMigration(to: Models.third, through: [Models.first, Models.second])
            let statements = try migration.statements(forStoreAt: store.url)
            #expect(statements.first == "BEGIN IMMEDIATE" && statements.last == "COMMIT")
            #expect(statements.contains("ALTER TABLE ZNOTE RENAME COLUMN ZTITLE TO ZHEADING"), "\(statements)")
            #expect(statements.contains("ALTER TABLE ZNOTE RENAME COLUMN ZHEADING TO ZNAME"), "\(statements)")
            #expect(try store.contents()["Notes.sqlite"] == before["Notes.sqlite"])
            try migration.migrateStore(at: store.url)
            #expect(try migration.statements(forStoreAt: store.url) == [])
        }

        @Test func `a migration with a mapping model has no statements`() throws {
            let store = try store()
            var migration = ProgressiveMigration(to: Models.second, through: [Models.first])
            let mapping = try NSMappingModel.inferredMappingModel(
                forSourceModel: Models.first.model, destinationModel: Models.second.model)
            migration.mappings = [MigrationMapping(name: "Mapped", model: mapping)]
            let error = #expect(throws: MigrationError.self) { try migration.statements(forStoreAt: store.url) }
            #expect(error?.code == .notLightweight)
            #expect(migration.unfittingMappings().isEmpty)
            migration = ProgressiveMigration(to: Models.third, through: [Models.second])
            migration.mappings = [MigrationMapping(name: "Mapped", model: mapping)]
            #expect(migration.unfittingMappings().map(\.name) == ["Mapped"])
            #expect(migration.unfittingMappings(from: Models.first).isEmpty)
        }

        @Test func `the output is a new store, and the store is unchanged`() throws {
            let store = try store()
            let before = try store.contents()
            let output = store.folder.appendingPathComponent("New.sqlite")
            let migration = ProgressiveMigration(to: Models.third, through: [Models.first, Models.second])
            try migration.migrateStore(at: store.url, to: output)
            #expect(Set(try store.values("name", Models.third, at: output)) == ["Groceries", "Garden"])
            #expect(try store.contents()["Notes.sqlite"] == before["Notes.sqlite"])
        }

        @Test func `a mapping model is used for its versions, and other steps are inferred`() throws {
            let store = try store()
            let mapping = try NSMappingModel.inferredMappingModel(
                forSourceModel: Models.first.model, destinationModel: Models.second.model)
            for property in mapping.entityMappings[0].attributeMappings ?? [] where property.name == "heading" {
                property.valueExpression = NSExpression(forConstantValue: "Mapped")
            }
            var migration = ProgressiveMigration(to: Models.coloured, through: [Models.first, Models.second])
            migration.mappings = [MigrationMapping(name: "Mapped", model: mapping)]
            #expect(
                text(try migration.steps(forStoreAt: store.url)) == ["Notes -> Notes 2", "Notes 2 -> Notes 3"])
            try migration.migrateStore(at: store.url)
            #expect(try store.values("heading", Models.coloured) == ["Mapped", "Mapped"])
        }

        @Test func `a store of an unknown version is migrated with the model that it contains`() throws {
            let store = try store()
            try ProgressiveMigration(to: Models.second).migrateStore(at: store.url)
            #expect(Set(try store.values("heading", Models.second)) == ["Groceries", "Garden"])
        }

        @Test func `references of the older version resolve after the migration`() throws {
            let store = try store()
            let context = try makeContext(Models.first.model, at: store.url)
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            let data = try context.performAndWait {
                try JSONEncoder().encode(context.fetch(request).map { try ManagedObjectReference($0) })
            }
            let coordinator = try #require(context.persistentStoreCoordinator)
            for store in coordinator.persistentStores { try coordinator.remove(store) }
            let migration = ProgressiveMigration(to: Models.third, through: [Models.first, Models.second])
            #expect(try migration.migrateStore(at: store.url).count == 2)
            let references = try JSONDecoder().decode([ManagedObjectReference].self, from: data)
            let later = try makeContext(Models.third.model, at: store.url)
            let names = later.performAndWait {
                references.map { (try? $0.resolve(in: later).get())?.value(forKey: "name") as? String }
            }
            #expect(names == ["Garden", "Groceries"])
        }

        @Test func `later versions and impossible steps are refused, and the store is unchanged`() throws {
            let store = try store()
            let before = try store.contents()
            let backwards = ProgressiveMigration(to: Models.second, through: [Models.second, Models.first])
            let error = #expect(throws: MigrationError.self) { try backwards.migrateStore(at: store.url) }
            #expect(error?.code == .laterVersion)
            let impossible = #expect(throws: MigrationError.self) {
                try ProgressiveMigration(to: Models.strict).migrateStore(at: store.url)
            }
            #expect(impossible?.code == .impossibleStep)
            #expect(impossible?.message.contains("Note.count") == true)
            #expect(try store.contents() == before)
        }

        @Test func `a store of another model is refused`() throws {
            let store = try store()
            let model = NSManagedObjectModel()
            model.entities = [WebModel.entity("Place", [("name", .stringAttributeType)])]
            let error = #expect(throws: MigrationError.self) {
                try ProgressiveMigration(to: ModelVersion(name: "Places", model: model)).migrateStore(at: store.url)
            }
            #expect(error?.code == .otherModel)
        }

        @Test func `a cancelled migration leaves the store unchanged`() throws {
            let store = try store()
            let before = try store.contents()
            let progress = Progress.discreteProgress(totalUnitCount: 0)
            progress.cancel()
            let migration = ProgressiveMigration(to: Models.third, through: [Models.first, Models.second])
            #expect(throws: CocoaError.self) { try migration.migrateStore(at: store.url, progress: progress) }
            #expect(try store.contents()["Notes.sqlite"] == before["Notes.sqlite"])
        }
    }

#endif
