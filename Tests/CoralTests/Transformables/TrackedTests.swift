import Coral
import CoralValues
import Testing

struct AlbumSettings: Codable, Equatable {
    var columns = 3
    var title = ""
}

/// A class as in an app.
final class Album: NSManagedObject {
    @Tracked("tags") var tags: [String] = []
    @Tracked("settings", coder: .json) var settings = AlbumSettings()
    @Tracked("nothing") var misspelt: [String] = ["initial"]
}

/// The reported conflicts, from any queue.
private final class Reports: @unchecked Sendable {  // because of its lock
    private let lock = NSLock()
    private var names: [String] = []

    func add(_ name: String) { lock.withLock { names.append(name) } }
    var all: [String] { lock.withLock { names } }
}

/// In-place changes are detected.
@Suite(.serialized) struct TrackedTests {
    private func model() -> NSManagedObjectModel {
        ValueTransformer.register([String].self, as: "CoralTestsTags")
        let album = WebModel.entity("Album", [("name", .stringAttributeType), ("settings", .binaryDataAttributeType)])
        album.managedObjectClassName = NSStringFromClass(Album.self)
        let tags = WebModel.attribute("tags", .transformableAttributeType)
        tags.valueTransformerName = "CoralTestsTags"
        let colours = WebModel.attribute("colours", .transformableAttributeType)
        colours.valueTransformerName = NSValueTransformerName.secureUnarchiveFromDataTransformerName.rawValue
        album.properties += [tags, colours]
        let model = NSManagedObjectModel()
        model.entities = [album]
        return model
    }

    private func withAlbum(_ body: (NSManagedObjectContext, Album) throws -> Void) throws {
        let context = try makeContext(model())
        try context.performAndWait {
            let album = try #require(context.insert("Album", ["colours": ["red"] as NSArray]) as? Album)
            album.tags = ["a"]
            try context.save()
            try body(context, album)
        }
    }

    @Test func `append is a change, is saved and read again`() throws {
        try withAlbum { context, album in
            #expect(!context.hasChanges)
            album.tags.append("b")
            album.settings.columns = 5
            #expect(context.hasChanges)
            #expect(Set(album.changedValues().keys) == ["tags", "settings"])
            try context.save()
            context.refresh(album, mergeChanges: false)
            #expect(album.tags == ["a", "b"])
            #expect(album.settings == AlbumSettings(columns: 5, title: ""))
            context.reset()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Album")
            let read = try #require(try context.fetch(request).first as? Album)
            #expect(read.tags == ["a", "b"])
            // An equal value is not a change.
            read.tags = ["a", "b"]
            #expect(!context.hasChanges)
        }
    }

    /// Canonically equivalent texts are equal in Swift, and stored as different texts.
    @Test func `a change to an equivalent text is saved`() throws {
        try withAlbum { context, album in
            album.tags = ["\u{e9}"]
            try context.save()
            album.tags = ["\u{e9}"]
            #expect(!context.hasChanges, "The same value is no change.")
            album.tags[0] = "e\u{301}"
            #expect(album.changedValues().keys.sorted() == ["tags"])
            try context.save()
            context.refresh(album, mergeChanges: false)
            #expect(album.tags.map { Array($0.utf8) } == [Array("e\u{301}".utf8)])
        }
    }

    @Test func `equality of values is that of what is stored`() {
        struct Point: Equatable {
            var x = 0.0
            var names: Set<String> = ["\u{e9}"]
            var more: [String: [String]] = [:]
        }
        indirect enum Outline: Equatable { case end, deeper(Outline) }
        func outline() -> Outline { (0..<100).reduce(.end) { outline, _ in .deeper(outline) } }
        let many = (0..<100).map { "\($0)" }
        let same: [(Any?, Any?)] = [
            (nil, nil), (Set(many), Set(many.reversed())), (Point(), Point()), (Data([1]), Data([1])),
            (Int64.max, Int64.max),
            (["a": 1, "b": ["c"]] as [String: Any], ["b": ["c"], "a": 1] as [String: Any]),
            (["\u{e9}"] as NSArray, ["\u{e9}"] as NSArray), (outline(), outline()), ([UInt8(1)], [UInt8(1)]),
            ([1.5 as Float], [1.5 as Float]), ([NSNumber(value: 1)] as NSArray, [NSNumber(value: 1)] as NSArray),
        ]
        for (one, other) in same { #expect(TransformableEquality.areSame(one, other), "\(one as Any)") }
        let different: [(Any?, Any?)] = [
            (nil, 0), (0.0, -0.0), ("\u{e9}", "e\u{301}"), (["\u{e9}"] as NSArray, ["e\u{301}"] as NSArray),
            ([0.0], [-0.0]), (["\u{e9}"], ["e\u{301}"]),
            (Set(["\u{e9}"]), Set(["e\u{301}"])), (["\u{e9}": 1], ["e\u{301}": 1]), (Point(), Point(x: -0.0)),
            (Point(), Point(names: ["e\u{301}"])), (Point(more: ["a": ["\u{e9}"]]), Point(more: ["a": ["e\u{301}"]])),
        ]
        for (one, other) in different { #expect(!TransformableEquality.areSame(one, other), "\(one as Any)") }
    }

    @Test func `undo, rollback and refresh revert an in-place change`() throws {
        try withAlbum { context, album in
            let undo = UndoManager()
            undo.groupsByEvent = false
            context.undoManager = undo
            undo.beginUndoGrouping()
            album.tags.append("b")
            context.processPendingChanges()
            undo.endUndoGrouping()
            undo.undo()
            #expect(album.tags == ["a"])
            undo.redo()
            #expect(album.tags == ["a", "b"])
            context.rollback()
            #expect(album.tags == ["a"])
            album.tags.append("c")
            context.refresh(album, mergeChanges: false)
            #expect(album.tags == ["a"])
        }
    }

    @Test func `an invalid value is an error and does not trap`() throws {
        try withAlbum { context, album in
            #expect(album.misspelt == ["initial"])
            album.misspelt = ["x"]
            #expect((album.$misspelt.error as? TransformableError)?.code == .unknownAttribute)
            #expect(throws: TransformableError.self) { try album.$misspelt.set(["x"]) }
            album.setValue(Data("no JSON".utf8), forKey: "settings")
            #expect(album.settings == AlbumSettings())
            #expect((album.$settings.error as? TransformableError)?.code == .decoding)
            #expect(throws: TransformableError.self) { try album.$settings.update { $0.columns = 1 } }
            #expect(album.value(forKey: "settings") as? Data == Data("no JSON".utf8))
            try album.$tags.update { $0.append("z") }
            #expect(album.tags == ["a", "z"])
            let transformer = try #require(
                ValueTransformer.register([Int].self, as: "CoralTestsNumbers", coder: .propertyList)
                    as? CodableTransformer<[Int]>)
            #expect(transformer.reverseTransformedValue(transformer.transformedValue([1, 2])) as? [Int] == [1, 2])
            #expect(transformer.transformedValue("text") == nil)
            #expect(transformer.lastError?.code == .wrongType)
            #expect(transformer.reverseTransformedValue(Data([1])) == nil)
            #expect(transformer.lastError?.code == .decoding)
        }
    }

    @Test func `a save from another context is merged, and conflicts are resolved and reported`() throws {
        let context = try makeContext(model())
        let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        other.persistentStoreCoordinator = context.persistentStoreCoordinator
        try context.performAndWait {
            let union = ValueConflictPolicy.merge { _, mine, theirs in
                Set((mine as? [String] ?? []) + (theirs as? [String] ?? [])).sorted()
            }
            for (policy, wanted) in [
                (.keepMine, ["a", "mine"]), (.takeTheirs, ["a", "theirs"]), (union, ["a", "mine", "theirs"]),
            ] as [(ValueConflictPolicy, [String])] {
                let album = try #require(context.insert("Album") as? Album)
                album.tags = ["a"]
                try context.save()
                let id = album.objectID
                let saved = try other.performAndWait { () throws -> Notification in
                    let theirs = try #require(try other.existingObject(with: id) as? Album)
                    theirs.tags.append("theirs")
                    theirs.settings.columns = 9
                    try other.save()
                    return Notification(
                        name: .NSManagedObjectContextDidSave, object: other,
                        userInfo: [NSUpdatedObjectsKey: Set([theirs as NSManagedObject])])
                }
                album.tags.append("mine")
                var rules = ValueConflictRules()
                rules.set("Album.tags", policy)
                let conflicts = try context.mergeChanges(fromContextDidSave: saved, resolvingBy: rules)
                #expect(conflicts.map(\.attribute) == ["tags"])
                #expect(conflicts.first?.base as? [String] == ["a"])
                #expect(album.tags == wanted)
                #expect(album.settings.columns == 9)
                try context.save()
                context.refresh(album, mergeChanges: false)
                #expect(album.tags == wanted)
            }
        }
    }

    @Test func `a save without merging resolves conflicts by the rules and reports them`() throws {
        let context = try makeContext(model())
        let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        other.persistentStoreCoordinator = context.persistentStoreCoordinator
        let reports = Reports()
        struct Stop: Error {}
        try context.performAndWait {
            let union = ValueConflictPolicy.merge { _, mine, theirs in
                Set((mine as? [String] ?? []) + (theirs as? [String] ?? [])).sorted()
            }
            for (policy, wanted) in [
                (.keepMine, ["a", "mine"]), (.takeTheirs, ["a", "theirs"]), (union, ["a", "mine", "theirs"]),
                (.merge { _, _, _ in throw Stop() }, nil),
            ] as [(ValueConflictPolicy, [String]?)] {
                let album = try #require(context.insert("Album", ["name": "first"]) as? Album)
                album.tags = ["a"]
                try context.save()
                let id = album.objectID
                try other.performAndWait {
                    let theirs = try #require(try other.existingObject(with: id) as? Album)
                    theirs.tags.append("theirs")
                    theirs.setValue("their name", forKey: "name")
                    try other.save()
                }
                album.tags.append("mine")
                var rules = ValueConflictRules()
                rules.set("Album.tags", policy)
                context.mergePolicy = ValueMergePolicy(rules) { reports.add($0.attribute) }
                guard let wanted else {
                    #expect(throws: Stop.self) { try context.save() }
                    continue
                }
                try context.save()
                context.refresh(album, mergeChanges: false)
                #expect(album.tags == wanted)
                #expect(album.value(forKey: "name") as? String == "their name")
            }
        }
        #expect(reports.all == ["tags", "tags", "tags"])
    }

    @Test func `changes of reference types are detected by comparison`() throws {
        try withAlbum { context, album in
            let colours = try context.mutableValues.value(of: album, forKey: "colours", as: NSMutableArray.self)
            try context.mutableValues.notice()
            #expect(!context.hasChanges)
            colours.add("blue")
            try context.mutableValues.notice()
            #expect(album.changedValues().keys.sorted() == ["colours"])
            colours.add("green")
            try context.mutableValues.save()
            context.refresh(album, mergeChanges: false)
            #expect(album.value(forKey: "colours") as? NSArray == ["red", "blue", "green"])
            // A save for another reason detects the change too.
            colours.add("white")
            album.setValue("x", forKey: "name")
            try context.save()
            context.refresh(album, mergeChanges: false)
            #expect((album.value(forKey: "colours") as? NSArray)?.count == 4)
            // Changed in both contexts.
            let later = try context.mutableValues.value(of: album, forKey: "colours", as: NSMutableArray.self)
            later.add("mine")
            album.setValue(["theirs"] as NSArray, forKey: "colours")
            context.mutableValues.rules = ValueConflictRules(.takeTheirs)
            try context.mutableValues.notice()
            #expect(album.value(forKey: "colours") as? NSArray == ["theirs"])
            #expect(context.mutableValues.conflicts.count == 1)
            #expect(throws: TransformableError.self) {
                try context.mutableValues.value(of: album, forKey: "colour", as: NSMutableArray.self)
            }
        }
    }

    @Test(arguments: ValueCoder.allCases) func `every coder keeps values exactly`(coder: ValueCoder) throws {
        struct Everything: Codable, Equatable {
            var text = "a\u{0}b é"
            var whole = Int64.max
            var real = 0.1
            var flag = true
            var day = Date(timeIntervalSinceReferenceDate: 12.5)
            var bytes = Data([0, 255])
            var list = ["a": [1, 2], "b": []]
            var none: String?
        }
        let data = try coder.encode([Everything()])
        #expect(try coder.decode([Everything].self, from: data) == [Everything()])
        #expect(throws: (any Error).self) { try coder.decode([Everything].self, from: Data("no".utf8)) }
    }

    @Test func `a change in place does not replace bytes that cannot be read`() throws {
        try withAlbum { context, album in
            let bytes = Data("not JSON".utf8)
            album.setValue(bytes, forKey: "settings")
            try context.save()
            album.settings.columns = 1
            #expect(album.value(forKey: "settings") as? Data == bytes && !context.hasChanges)
            #expect((album.$settings.error as? TransformableError)?.code == .decoding)
            // The value is replaced on request.
            try album.$settings.set(AlbumSettings(columns: 2))
            album.settings.columns += 1
            #expect(album.settings.columns == 3 && album.$settings.error == nil)
        }
    }

    #if !canImport(Darwin)
        @Test(.enabled(if: Engine.hasRows))
        func `bytes that cannot be read are an error with the attribute, and are kept`() throws {
            try withAlbum { context, album in
                ValueTransformer.register([Int].self, as: "CoralTestsTags")
                defer { ValueTransformer.register([String].self, as: "CoralTestsTags") }
                context.refresh(album, mergeChanges: false)
                #expect(album.value(forKey: "tags") == nil)
                let error = #expect(throws: TransformableError.self) {
                    try album.decodedValue(forKey: "tags", as: [Int].self)
                }
                #expect(error?.code == .decoding)
                #expect(error?.message.contains("Album.tags") == true)
                #expect((album.$tags.error as? TransformableError)?.code == .decoding)
                album.setValue("x", forKey: "name")
                try context.save()
                ValueTransformer.register([String].self, as: "CoralTestsTags")
                context.refresh(album, mergeChanges: false)
                #expect(try album.decodedValue(forKey: "tags", as: [String].self) == ["a"])
                #expect(throws: TransformableError.self) { try album.decodedValue(forKey: "tags", as: Int.self) }
            }
        }
    #endif
}
