#if !canImport(Darwin)
    import Coral
    import Testing

    private let modelFile = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent(
            "../../../../shared/corpus/fatbobman+MOCloner/Tests/MOClonerTests/Resources/Model.xcdatamodeld"
        ).standardizedFileURL

    /// MOCloner's own model, made with Xcode: the copies are those of MOCloner, without its errors.
    @Suite(.enabled(if: FileManager.default.fileExists(atPath: modelFile.path), "The model of MOCloner is not here."))
    struct MOClonerModelTests {
        @Test func `a note is copied according to its directives`() throws {
            let context = try makeContext(try NSManagedObjectModel.model(contentsOf: modelFile))
            try context.performAndWait {
                let id = UUID()
                let note = context.insert(
                    "Note", ["id": id, "name": "note", "createDate": Date.distantPast, "index": 3])
                let (one, many) = (
                    context.insert("ToOneTag", ["name": "1"]), context.insert("ToManyTag", ["name": "n"])
                )
                for number in 0..<3 {
                    context.insert(
                        "Item",
                        [
                            "name": "\(number)", "index": 7, "note": note, "toOneTag": one,
                            "toManyTags": NSSet(object: many), "noteIDKeep": id, "noteIDBlank": id,
                        ])
                }
                note.setValue(
                    NSOrderedSet(array: (0..<3).map { context.insert("Memo", ["text": "\($0)"]) }), forKey: "memos")
                context.insert("NoteDescription", ["content": "about", "note": note])
                try context.save()

                let copies = try GraphCopier(shape: .moCloner).copy([note])
                #expect(copies.count == 8)
                let copy = try #require(copies[note])
                #expect(copy.value(forKey: "name") as? String == "note")
                #expect(copy.value(forKey: "index") as? Int32 == 3)
                #expect(copy.value(forKey: "id") as? UUID != id)
                #expect((copy.value(forKey: "createDate") as? Date ?? .distantPast).timeIntervalSinceNow > -60)
                let memos = (copy.value(forKey: "memos") as? NSOrderedSet)?.array as? [NSManagedObject] ?? []
                #expect(memos.map { $0.value(forKey: "text") as? String } == ["0", "1", "2"])
                #expect((copy.value(forKey: "noteDescription") as? NSManagedObject)?.isInserted == true)
                let items = (copy.value(forKey: "items") as? NSSet)?.allObjects as? [NSManagedObject] ?? []
                #expect(items.count == 3)
                for item in items {
                    #expect(item.value(forKey: "index") as? Int32 == 0)
                    #expect(item.value(forKey: "noteIDKeep") as? UUID == copy.value(forKey: "id") as? UUID)
                    #expect(item.value(forKey: "noteIDBlank") as? UUID == copy.value(forKey: "id") as? UUID)
                    #expect(item.value(forKey: "toOneTag") as? NSManagedObject === one)
                    #expect(item.value(forKey: "toManyTags") as? NSSet == NSSet(object: many))
                }
                #expect(context.updatedObjects == [one, many])
            }
        }

        @Test func `a copy starts in the middle of the chain`() throws {
            let context = try makeContext(try NSManagedObjectModel.model(contentsOf: modelFile))
            try context.performAndWait {
                let id = UUID()
                let note = context.insert("Note", ["id": id])
                let item = context.insert("Item", ["note": note, "noteIDKeep": id, "noteIDBlank": id])
                try context.save()
                var rules = CopyRules()
                rules.excludeRelationships(named: ["note"], passedDown: false)
                let copy = try GraphCopier(shape: .moCloner, rules: rules).copy(item)
                #expect(copy.value(forKey: "note") == nil)
                #expect(copy.value(forKey: "noteIDKeep") as? UUID == id)
                #expect(copy.value(forKey: "noteIDBlank") == nil)
                #expect(!context.hasChanges || context.updatedObjects.isEmpty)
            }
        }
    }
#endif
