#if !canImport(Darwin)
    import CoreData
    import Testing

    @testable import Coral
    @testable import CoralTools

    /// The attribute whose values name the objects.
    @Suite struct LabelTests {
        private func entity(_ names: [String], label: String? = nil) -> NSEntityDescription {
            let entity = NSEntityDescription()
            entity.name = "Entity"
            entity.properties = names.map { name in
                let attribute = NSAttributeDescription()
                attribute.name = name
                attribute.isOptional = true
                attribute.attributeType = name == "number" ? .integer64AttributeType : .stringAttributeType
                return attribute
            }
            if let label { entity.userInfo = ["coral.label": label] }
            return entity
        }

        /// The label of the last entity, in a store with objects of it.
        private func label(of entities: NSEntityDescription..., objects: [[String: String]] = []) throws -> String? {
            let model = NSManagedObjectModel()
            model.entities = entities
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            return try context.performAndWait {
                let entity = try #require(entities.last)
                for values in objects {
                    NSManagedObject(entity: entity, insertInto: context).setValuesForKeys(values)
                }
                try context.save()
                return LabelAttribute.name(of: entity, in: context)
            }
        }

        @Test(
            arguments: [
                (["fromJID", "text"], "text"), (["contactJID", "partnerName", "sessionType"], "partnerName"),
                (["name", "title"], "title"), (["identifier", "colour"], "colour"), (["uuid", "zone"], "uuid"),
                (["summary", "fileName"], "fileName"), (["displayname", "body"], "displayname"), (["number"], nil),
                (["URL", "messageBody"], "messageBody"), (["first_name", "note_id"], "first_name"),
            ] as [([String], String?)])
        func `the label reads as a name or a text`(_ names: [String], _ label: String?) throws {
            let entity = entity(names)
            #expect(try self.label(of: entity) == label)
            // Objects with all values do not change this.
            let texts = names.filter { $0 != "number" }
            let objects = ["a", "b"].map { text in
                texts.reduce(into: [:]) { $0[$1] = "\($1) \(text)" }
            }
            #expect(try self.label(of: self.entity(names), objects: objects) == label)
        }

        @Test func `the label differs between objects`() throws {
            // As in the log of an app: almost all messages have the same label.
            let messages = (1...20).map { ["label": $0 == 3 ? "auth" : "network", "text": "Did receive \($0)"] }
            #expect(try label(of: entity(["label", "text"]), objects: messages) == "text")
            // A name that some objects share is better than the place of something.
            let people = ["Ada", "Ada", "Ada", "Grace", "Ada"].enumerated().map {
                ["name": $1, "pictureURL": "https://example.org/\($0)"]
            }
            #expect(try label(of: entity(["name", "pictureURL"]), objects: people) == "name")
            // A place is better than what is the same in all objects.
            let requests = (1...4).map { ["method": "GET", "url": "https://example.org/\($0)", "id": "\($0)"] }
            #expect(try label(of: entity(["method", "url", "id"]), objects: requests) == "url")
            // An attribute without values names nothing.
            #expect(try label(of: entity(["title", "code"]), objects: [["code": "A"], ["code": "B"]]) == "code")
        }

        @Test func `user info names the label`() throws {
            #expect(try label(of: entity(["title", "code"], label: "code"), objects: [["title": "A"]]) == "code")
            // Only text is a label.
            #expect(try label(of: entity(["title", "number"], label: "number")) == "title")
            #expect(try label(of: entity(["title"], label: "missing")) == "title")
            // Subentities inherit it.
            let (parent, child) = (entity(["title", "code"], label: "code"), NSEntityDescription())
            child.name = "Child"
            parent.subentities = [child]
            #expect(try label(of: parent, child) == "code")
        }
    }
#endif
