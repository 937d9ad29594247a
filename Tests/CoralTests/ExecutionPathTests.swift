#if !canImport(Darwin)

    import Coral
    import CoralTesting
    import GraphDocuments
    import Testing

    /// Operations report before they are executed whether they work on rows, and if not, the reason.
    @Suite(.enabled(if: Engine.hasRows)) struct ExecutionPathTests {
        // MARK: - Imports

        private func makeShop(_ change: (NSManagedObjectModel) -> Void = { _ in }) throws -> Shop {
            let model = ShopModel.make()
            // The shop's orders have an attribute that orders their versions, which rows do not support.
            model.entitiesByName["Order"]?.userInfo = ["coral.identity": "number"]
            change(model)
            return try Shop(model)
        }

        private func explain(
            _ json: String, _ shop: Shop, rowImporting: RowImporting = .automatic,
            _ change: (inout ImportOptions) -> Void = { _ in }
        ) throws -> ExecutionPath {
            var options = ImportOptions()
            options.layout = .plain
            change(&options)
            let coordinator = try #require(shop.context.persistentStoreCoordinator)
            var importer = BatchImporter(into: coordinator, options: options)
            importer.rowImporting = rowImporting
            let source = ImportSource.data(Data(json.utf8))
            let path = try importer.explain(source)
            // Explaining changes nothing, so that the import still inserts.
            let result = try importer.importDocument(source)
            #expect(result.path == path)
            #expect(result.insertCount > 0)
            return path
        }

        private static let labels = #"{"Label": [{"word": "home"}]}"#

        @Test func `an import by rows`() throws {
            let path = try explain(Self.labels, makeShop())
            #expect(path == .rows)
            #expect(path.reason == nil)
            #expect("\(path)" == "by rows")
        }

        @Test func `options that need objects`() throws {
            func code(_ change: (inout ImportOptions) -> Void) throws -> String? {
                let reason = try explain(Self.labels, makeShop(), change).reason
                return reason?.code == .options ? reason?.message : nil
            }
            #expect(try code { $0.hooks.willImport["Label"] = { _, _ in } } == "The options contain hooks.")
            #expect(try code { $0.layout = nil } == "The document's layout is not declared as plain.")
            #expect(try code { $0.skipsInvalid = true } == "Records with errors are omitted (skipsInvalid).")
            #expect(
                try code { $0.danglingReferences = .record } == "The policy for dangling references is record.")
            let never = try explain(Self.labels, makeShop(), rowImporting: .never)
            #expect("\(never)" == "through objects: The importer's rowImporting is never.")
        }

        @Test func `models and documents that need objects`() throws {
            let derived = try explain(
                #"{"Remark": [{"text": "a", "order": {"number": 3}}]}"#, makeShop())
            #expect(derived.reason?.code == .document)
            let twice = try explain(#"{"Label": [{"word": "a"}, {"word": "a"}]}"#, makeShop())
            #expect(twice.reason?.code == .document)
            #expect(twice.reason?.entity == "Label")
            #expect(twice.reason?.message == "Several records of Label have the same key.")
            let newer = try explain(#"{"Order": [{"number": 1}]}"#, Shop(ShopModel.make()))
            #expect(newer.reason?.code == .model)
            #expect(newer.reason?.entity == "Order")
            #expect("\(newer)".hasPrefix("by rows, and 1 record through objects: "))
            let ordered = try explain(#"{"Order": [{"number": 1, "lines": []}]}"#, makeShop())
            #expect(ordered.reason?.property == "lines")
            #expect(ordered.reason?.message == "Rows do not support Order.lines.")
            guard case .rowsAndObjects(1, _) = ordered else {
                Issue.record("\(ordered)")
                return
            }
            let classes = try explain(
                Self.labels, makeShop { $0.entitiesByName["Remark"]?.managedObjectClassName = "ShopRemark" })
            #expect(classes.reason?.code == .classes)
            #expect(classes.reason?.entity == "Remark")
        }

        @Test func `unique values that move between stored objects need objects`() throws {
            let shop = try makeShop { model in
                model.entitiesByName["Label"]?.userInfo = ["coral.identity": "word"]
                model.entitiesByName["Label"]?.uniquenessConstraints = [["colour"]]
            }
            let first = #"{"Label": [{"word": "a", "colour": "red"}, {"word": "b", "colour": "blue"}]}"#
            #expect(try explain(first, shop) == .rows)
            let exchanged =
                #"{"Label": [{"word": "a", "colour": "blue"}, {"word": "b", "colour": "red"}, {"word": "c"}]}"#
            let reason = try explain(exchanged, shop).reason
            #expect(reason?.code == .contents)
            #expect(reason?.entity == "Label")
            #expect(reason?.message == "Values of Label that must be unique move between objects.")
        }

        @Test func `a store in memory needs objects`() throws {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: ShopModel.make())
            try coordinator.addPersistentStore(
                ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
            var options = ImportOptions()
            options.layout = .plain
            let importer = BatchImporter(into: coordinator, options: options)
            #expect(try importer.explain(.data(Data(Self.labels.utf8))).reason?.code == .store)
            for path in try GraphExporter().explainStore(of: coordinator).values {
                #expect(path.reason?.code == .store)
            }
        }

        // MARK: - Exports

        @Test func `an export states the path of each entity`() throws {
            let shop = try makeShop { model in
                model.entitiesByName["Remark"]?.properties.append(
                    WebModel.attribute("mood", .transformableAttributeType))
            }
            let coordinator = try #require(shop.context.persistentStoreCoordinator)
            let flat = try GraphExporter(layout: .flat).explainStore(of: coordinator)
            #expect(flat.filter { $0.value == .rows }.keys.sorted() == ["Customer", "Label", "Line", "Order"])
            #expect(
                flat["Remark"]?.reason
                    == ObjectsReason(
                        .model, "Remark.mood is not a column of rows.", entity: "Remark", property: "mood"))
            let nested = try GraphExporter(layout: .nested).explainStore(of: coordinator)
            #expect(nested.values.allSatisfy { $0.reason?.message == "The document's layout is nested." })
            let plain = try GraphExporter(layout: .plain, shape: .everything.excluding("Remark"))
                .explainStore(of: coordinator)
            #expect(plain.keys.sorted() == ["Customer", "Label", "Line", "Order"])
            #expect(plain.values.allSatisfy { $0 == .rows })
        }

        // MARK: - Copies

        private func makeContainer(_ model: NSManagedObjectModel) throws -> NSPersistentContainer {
            let url = URL(fileURLWithPath: NSTemporaryDirectory() + "path-\(UUID().uuidString).sqlite")
            let container = NSPersistentContainer(name: "path", managedObjectModel: model)
            container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
            var failure: (any Error)?
            container.loadPersistentStores { failure = $1 }
            #expect(failure == nil)
            return container
        }

        @Test func `a relationship that rows cannot copy is a reason of the model`() async throws {
            let node = WebModel.entity("Node", [("name", .stringAttributeType)])
            let twin = NSRelationshipDescription()
            (twin.name, twin.destinationEntity, twin.maxCount, twin.isOptional) = ("twin", node, 1, true)
            twin.inverseRelationship = twin
            node.properties.append(twin)
            let model = NSManagedObjectModel()
            model.entities = [node]
            let container = try makeContainer(model)
            let context = container.newBackgroundContext()
            let id = try context.performAndWait {
                let object = NSEntityDescription.insertNewObject(forEntityName: "Node", into: context)
                try context.save()
                return object.objectID
            }
            let reason = try await GraphCopier().explain([id], in: container).reason
            #expect(reason?.code == .model)
            #expect(reason?.message == "twin is its own inverse.")
        }

        @Test func `copying states its path and copies nothing`() async throws {
            let container = try makeContainer(WebModel.make())
            let context = container.newBackgroundContext()
            let ids = try context.performAndWait {
                let objects = (0..<3).map { number in
                    let object = NSEntityDescription.insertNewObject(forEntityName: "Place", into: context)
                    object.setValue("p\(number)", forKey: "name")
                    return object
                }
                try context.save()
                return objects.map(\.objectID)
            }
            #expect(try await GraphCopier().explain(ids, in: container) == .rows)
            var rules = CopyRules()
            rules.didCopy = { _, _ in }
            #expect(
                try await GraphCopier(rules: rules).explain(ids, in: container).reason?.message
                    == "The rules contain hooks.")
            var never = GraphCopier()
            never.rowCopying = .never
            #expect(try await never.explain(ids, in: container).reason?.code == .options)
            var validating = GraphCopier()
            validating.validates = true
            #expect(try await validating.explain(ids, in: container).reason?.code == .options)
            let count = try context.performAndWait {
                try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Place"))
            }
            #expect(count == 3)
            #expect(try await GraphCopier().copy(ids, in: container).count == 3)
        }
    }

#endif
