import Coral
import Testing

/// The directives of MOCloner in the model's user info.
@Suite struct CopyDirectiveTests {
    /// Notes with items and memos; tags are shared. The model of MOCloner's article.
    private func model(_ change: (NSEntityDescription, NSEntityDescription) -> Void = { _, _ in })
        -> NSManagedObjectModel
    {
        let note = WebModel.entity("Note", [])
        let item = WebModel.entity("Item", [("name", .stringAttributeType)])
        let memo = WebModel.entity("Memo", [("text", .stringAttributeType)])
        let tag = WebModel.entity("Tag", [("name", .stringAttributeType)])
        note.properties += [
            WebModel.attribute("id", .UUIDAttributeType, userInfo: ["rebuild": "uuid"]),
            WebModel.attribute("title", .stringAttributeType),
        ]
        item.properties += [
            WebModel.attribute(
                "noteID", .UUIDAttributeType, userInfo: ["followParent": "id", "withoutParent": "blank"]),
            WebModel.attribute("createdAt", .dateAttributeType, userInfo: ["rebuild": "now"]),
            WebModel.attribute("secret", .stringAttributeType, userInfo: ["exclude": ""]),
        ]
        memo.properties += [
            WebModel.attribute(
                "noteID", .UUIDAttributeType, userInfo: ["followParent": "Note.id", "withoutParent": "keep"])
        ]
        WebModel.relate(note, "items", .toMany(ordered: true), item, "note", .toOne)
        WebModel.relate(item, "memo", .toOne, memo, "item", .toOne)
        WebModel.relate(memo, "tags", .toMany(ordered: false), tag, "memos", .toMany(ordered: false))
        change(note, item)
        let model = NSManagedObjectModel()
        model.entities = [note, item, memo, tag]
        return model
    }

    private func fill(_ context: NSManagedObjectContext) -> NSManagedObject {
        let note = context.insert("Note", ["id": UUID(), "title": "Health"])
        let tag = context.insert("Tag", ["name": "daily"])
        let items = (0..<3).map { number in
            let memo = context.insert(
                "Memo", ["text": "\(number)", "tags": NSSet(object: tag), "noteID": note.value(forKey: "id") as Any])
            return context.insert(
                "Item",
                [
                    "name": "\(number)", "secret": "x", "noteID": note.value(forKey: "id") as Any,
                    "createdAt": Date(timeIntervalSinceReferenceDate: 0), "memo": memo,
                ])
        }
        note.setValue(NSOrderedSet(array: items), forKey: "items")
        return note
    }

    @Test func `exclude, rebuild and followParent, down to grandchildren`() throws {
        let context = try makeContext(model())
        try context.performAndWait {
            let note = fill(context)
            try context.save()
            let copy = try note.deepCopy(shape: .moCloner)
            let id = try #require(copy.value(forKey: "id") as? UUID)
            #expect(id != note.value(forKey: "id") as? UUID)
            let items = (copy.value(forKey: "items") as? NSOrderedSet)?.array as? [NSManagedObject] ?? []
            #expect(items.map { $0.value(forKey: "name") as? String } == ["0", "1", "2"])
            for item in items {
                #expect(item.value(forKey: "noteID") as? UUID == id)
                #expect(item.value(forKey: "secret") == nil)
                #expect((item.value(forKey: "createdAt") as? Date ?? .distantPast).timeIntervalSinceNow > -60)
                let memo = try #require(item.value(forKey: "memo") as? NSManagedObject)
                #expect(memo.value(forKey: "noteID") as? UUID == id)
                // Tags are shared: a relationship whose inverse is to-many is linked.
                let tags = (memo.value(forKey: "tags") as? NSSet)?.allObjects as? [NSManagedObject] ?? []
                #expect(tags.count == 1 && tags.allSatisfy { !$0.isInserted })
            }
            let request = NSFetchRequest<NSManagedObject>(entityName: "Tag")
            #expect(try context.count(for: request) == 1)
            #expect(!note.isUpdated)
        }
    }

    @Test func `without a parent the value is kept or blank`() throws {
        let context = try makeContext(model())
        try context.performAndWait {
            let note = fill(context)
            try context.save()
            let item = try #require((note.value(forKey: "items") as? NSOrderedSet)?.firstObject as? NSManagedObject)
            var rules = CopyRules()
            rules.excludeRelationships(named: ["note"])
            let copy = try item.deepCopy(shape: .moCloner, rules: rules)
            #expect(copy.value(forKey: "note") == nil)
            #expect(copy.value(forKey: "noteID") == nil)
            let memo = try #require(copy.value(forKey: "memo") as? NSManagedObject)
            #expect(memo.value(forKey: "noteID") as? UUID == note.value(forKey: "id") as? UUID)
        }
    }

    @Test func `directives may have other names`() throws {
        let context = try makeContext(
            model { note, _ in note.attributesByName["title"]?.userInfo = ["skip": "1"] })
        try context.performAndWait {
            let note = fill(context)
            var rules = CopyRules()
            rules.directiveKeys.exclude = "skip"
            let copy = try note.deepCopy(shape: .moCloner, rules: rules)
            #expect(copy.value(forKey: "title") == nil)
            let item = (copy.value(forKey: "items") as? NSOrderedSet)?.firstObject as? NSManagedObject
            #expect(item?.value(forKey: "secret") as? String == "x")
        }
    }

    @Test(
        arguments: [
            ("name", ["rebuild": "now "], "Item.name"), ("name", ["rebuild": "uuid"], "Item.name"),
            ("name", ["followParent": "titel"], "Item.name"), ("name", ["followParent": "id"], "Item.name"),
            ("name", ["withoutParent": "keep"], "Item.name"),
            ("name", ["followParent": "title", "withoutParent": "maybe"], "Item.name"),
            ("memo", ["coral.copy": "clone"], "Item.memo"),
        ] as [(String, [String: String], String)])
    func `invalid directives are found before anything is created`(
        property: String, userInfo: [String: String], place: String
    ) throws {
        let context = try makeContext(
            model { _, item in
                item.relationshipsByName[property]?.userInfo = userInfo
                item.attributesByName[property]?.userInfo = userInfo
            })
        try context.performAndWait {
            // There is no item: the error is found nevertheless.
            let note = context.insert("Note", ["title": "Health"])
            try context.save()
            let error = #expect(throws: CopyError.self) { try note.deepCopy(shape: .moCloner) }
            #expect(error?.code == .wrongDirective)
            #expect(error?.place == place)
            #expect(error?.message.contains(place) == true)
            #expect(!context.hasChanges)
        }
    }

    @Test func `a required attribute without default cannot be excluded`() throws {
        let context = try makeContext(
            model { note, _ in
                note.properties.append(
                    WebModel.attribute("code", .stringAttributeType, optional: false, userInfo: ["exclude": ""]))
            })
        context.performAndWait {
            let note = context.insert("Note", ["code": "a"])
            let error = #expect(throws: CopyError.self) { try note.deepCopy() }
            #expect(error?.place == "Note.code")
        }
    }
}
