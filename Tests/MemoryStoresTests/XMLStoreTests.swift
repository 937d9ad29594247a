import Foundation
import Testing

@testable import EngineTesting

@testable import FoundationAdditions
@testable import ManagedObjects

/// XML stores, written by Xcode and by the engine.
@Suite struct XMLStoreTests {
    // MARK: - Files by Xcode

    /// The mapping models of the corpus, which are XML stores, and those in the folder `CORAL_MAPPING_MODELS`.
    static let mappingModels: [URL] = {
        let further = ProcessInfo.processInfo.environment["CORAL_MAPPING_MODELS"].map(URL.init(fileURLWithPath:))
        var found: [URL] = []
        for folder in [CorpusStores.directory, further].compactMap(\.self) {
            let all = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
            while let url = all?.nextObject() as? URL {
                if url.lastPathComponent == "xcmapping.xml" { found.append(url) }
            }
        }
        return found.sorted { $0.path < $1.path }
    }()

    /// The entities of Xcode's mapping models, with the names in the files. The version hashes in the files are those of other
    /// names, so such a store is opened without a check of its hashes.
    private static func mappingModel() -> NSManagedObjectModel {
        let property = NotesModel.entity(
            "XDDevPropertyMapping",
            [
                NotesModel.attribute("name", .stringAttributeType),
                NotesModel.attribute("valueexpressiondata", .binaryDataAttributeType),
            ])
        let attribute = NotesModel.entity("XDDevAttributeMapping", [])
        let relationship = NotesModel.entity(
            "XDDevRelationshipMapping",
            [
                NotesModel.attribute("autogenerateexpression", .booleanAttributeType),
                NotesModel.attribute("sourcekeypath", .stringAttributeType),
                NotesModel.attribute("sourcemappingname", .stringAttributeType),
            ])
        property.subentities = [attribute, relationship]
        let entity = NotesModel.entity(
            "XDDevEntityMapping",
            [
                NotesModel.attribute("autogenerateexpression", .booleanAttributeType),
                NotesModel.attribute("destinationname", .stringAttributeType),
                NotesModel.attribute("mappingnumber", .integer16AttributeType),
                NotesModel.attribute("mappingtypename", .stringAttributeType),
                NotesModel.attribute("migrationpolicyclassname", .stringAttributeType),
                NotesModel.attribute("sourcename", .stringAttributeType),
            ])
        let model = NotesModel.entity(
            "XDDevMappingModel",
            [
                NotesModel.attribute("destinationmodeldata", .binaryDataAttributeType),
                NotesModel.attribute("destinationmodelpath", .stringAttributeType),
                NotesModel.attribute("sourcemodeldata", .binaryDataAttributeType),
                NotesModel.attribute("sourcemodelpath", .stringAttributeType),
            ])
        NotesModel.relate(
            entity, "attributemappings", many: true, attribute, "entitymapping", many: false, rule: .cascadeDeleteRule)
        NotesModel.relate(
            entity, "relationshipmappings", many: true, relationship, "entitymapping", many: false,
            rule: .cascadeDeleteRule)
        NotesModel.relate(
            model, "entitymappings", many: true, entity, "mappingmodel", many: false, rule: .cascadeDeleteRule)
        let whole = NSManagedObjectModel()
        whole.entities = [property, attribute, relationship, entity, model]
        return whole
    }

    private func open(
        _ url: URL, model: NSManagedObjectModel, type: String = NSXMLStoreType
    ) throws -> (NSPersistentStoreCoordinator, NSManagedObjectContext) {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: type, configurationName: nil, at: url, options: [NSIgnorePersistentStoreVersioningOption: true])
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return (coordinator, context)
    }

    /// A copy of a file in a temporary folder.
    private func copy(_ url: URL) throws -> StoreFolder {
        let folder = try StoreFolder(name: "xcmapping.xml")
        try Data(contentsOf: url).write(to: folder.url)
        return folder
    }

    @Test(
        .enabled(if: !XMLStoreTests.mappingModels.isEmpty, "The corpus is not beside the package."),
        arguments: XMLStoreTests.mappingModels)
    func whatXcodeWroteIsWrittenToTheByte(original: URL) throws {
        let folder = try copy(original)
        let before = try Data(contentsOf: original)
        let (coordinator, context) = try open(folder.url, model: Self.mappingModel())
        let store = try #require(coordinator.persistentStores.first)
        // The values are set again, so that there is a change to save.
        let metadata = store.metadata
        store.metadata = metadata
        try context.save()
        #expect(try Data(contentsOf: folder.url) == before)
        // A value that is changed and changed back is written twice.
        let mapping = try #require(try context.all("XDDevEntityMapping", sortedBy: "mappingnumber").first)
        let key = mapping.value(forKey: "destinationname") == nil ? "sourcename" : "destinationname"
        let name = try #require(mapping.value(forKey: key) as? String)
        mapping.setValue("Other", forKey: key)
        try context.save()
        #expect(try Data(contentsOf: folder.url) != before)
        mapping.setValue(name, forKey: key)
        try context.save()
        #expect(try Data(contentsOf: folder.url) == before)
    }

    @Test(
        .enabled(if: !XMLStoreTests.mappingModels.isEmpty, "The corpus is not beside the package."),
        arguments: XMLStoreTests.mappingModels)
    func whatXcodeWroteIsFetchedAndChanged(original: URL) throws {
        let folder = try copy(original)
        let (coordinator, context) = try open(folder.url, model: Self.mappingModel())
        let store = try #require(coordinator.persistentStores.first)
        #expect((store.metadata["NSStoreModelVersionHashes"] as? [String: Data])?.count == 5)
        let model = try #require(try context.all("XDDevMappingModel").first)
        let entities = try context.all("XDDevEntityMapping", sortedBy: "mappingnumber")
        #expect((model.value(forKey: "entitymappings") as? NSSet)?.count == entities.count)
        #expect((model.value(forKey: "sourcemodeldata") as? Data)?.starts(with: Array("bplist00".utf8)) == true)
        let all = try context.all("XDDevPropertyMapping")
        let attributes = try context.all("XDDevAttributeMapping")
        let relationships = try context.all("XDDevRelationshipMapping")
        #expect(all.count == attributes.count + relationships.count)
        let first = try #require(entities.first)
        let request = NSFetchRequest<NSManagedObject>(entityName: "XDDevAttributeMapping")
        request.predicate = NSPredicate(format: "entitymapping == %@", first)
        #expect(try context.fetch(request).count == (first.value(forKey: "attributemappings") as? NSSet)?.count)

        let new = context.insert("XDDevAttributeMapping", ["name": "<added & new>"])
        new.setValue(first, forKey: "entitymapping")
        if entities.count > 1 { context.delete(entities[entities.count - 1]) }
        try context.save()
        let number = try #require(Int(new.objectID.uriRepresentation().lastPathComponent.dropFirst()))
        let (_, again) = try open(folder.url, model: Self.mappingModel())
        #expect(try again.all("XDDevEntityMapping").count == max(1, entities.count - 1))
        let added = try #require(
            try again.all("XDDevAttributeMapping").first { $0.value(forKey: "name") as? String == "<added & new>" })
        #expect(added.objectID.uriRepresentation().lastPathComponent == "p\(number)")
        let owner = added.value(forKey: "entitymapping") as? NSManagedObject
        #expect((owner?.value(forKey: "mappingnumber") as? NSNumber)?.intValue == 1)
        #expect(try String(contentsOf: folder.url, encoding: .utf8).contains("<nextObjectID>\(number)</nextObjectID>"))
    }

    // MARK: - Files written by the engine

    /// Every type of attribute, every kind of relationship, texts that XML escapes.
    @Test(arguments: [NSXMLStoreType, NSPersistentStore.StoreType.archive.rawValue])
    func everyValueIsReadBack(type: String) throws {
        let folder = try StoreFolder(name: "Notes.file")
        let (coordinator, context) = try open(folder.url, model: NotesModel.make(), type: type)
        #expect(FileManager.default.fileExists(atPath: folder.url.path))
        let values: [String: Any] = [
            "title": "a <b> & \"c\"\n\td\re", "rank": 0.1 + 0.2, "count": Int64.min, "small": 7, "isPinned": true,
            "createdAt": Date(timeIntervalSinceReferenceDate: 445_103_622.25),
            "identifier": try #require(UUID(uuidString: "0D4A1B6E-91C2-4C7E-8E7A-2F00D2B6F001")),
            "price": NSDecimalNumber(string: "12.34567890123456789"),
            "link": try #require(URL(string: "https://example.com/a?b=c&d")), "blob": Data((0..<200).map { UInt8($0) }),
        ]
        let note = context.insert("Note", values)
        _ = context.insert("Note", ["title": "", "rank": Double.infinity, "blob": Data()])
        let items = (0..<3).map { context.insert($0 == 1 ? "SpecialItem" : "Item", ["name": "i\($0)"]) }
        note.setValue(NSOrderedSet(array: items.reversed()), forKey: "items")
        note.setValue(items[0], forKey: "cover")
        items[1].setValue(NSSet(array: [context.insert("Tag", ["name": "t"])]), forKey: "tags")
        try context.save()
        try coordinator.remove(#require(coordinator.persistentStores.first))

        let (_, again) = try open(folder.url, model: NotesModel.make(), type: type)
        let read = try #require(try again.all("Note", sortedBy: "title").last)
        for (key, value) in values { #expect(Self.isSame(read.value(forKey: key), value), "\(key)") }
        let empty = try #require(try again.all("Note", sortedBy: "title").first)
        #expect(empty.value(forKey: "title") as? String == "")
        #expect(empty.value(forKey: "blob") as? Data == Data())
        #expect((empty.value(forKey: "rank") as? NSNumber)?.doubleValue == .infinity)
        let names = (read.value(forKey: "items") as? NSOrderedSet)?.array.compactMap {
            ($0 as? NSManagedObject)?.value(forKey: "name") as? String
        }
        #expect(names == ["i2", "i1", "i0"])
        #expect((read.value(forKey: "cover") as? NSManagedObject)?.value(forKey: "name") as? String == "i0")
        #expect(try again.all("SpecialItem").count == 1)
    }

    private static func isSame(_ read: Any?, _ value: Any) -> Bool {
        switch value {
        case let value as String: read as? String == value
        case let value as Data: read as? Data == value
        case let value as Date: read as? Date == value
        case let value as UUID: read as? UUID == value
        case let value as URL: read as? URL == value
        case let value as NSDecimalNumber: (read as? NSDecimalNumber)?.compare(value) == .orderedSame
        case let value as Bool: (read as? NSNumber)?.boolValue == value
        case let value as Double: (read as? NSNumber)?.doubleValue == value
        case let value as Int64: (read as? NSNumber)?.int64Value == value
        case let value as Int: (read as? NSNumber)?.intValue == value
        default: false
        }
    }

    @Test func `the file has Core Data's format`() throws {
        let folder = try StoreFolder(name: "Notes.xml")
        let (_, context) = try open(folder.url, model: NotesModel.make())
        let note = context.insert("Note", ["title": "One", "isPinned": true, "rank": 2.5])
        note.setValue(NSOrderedSet(array: [context.insert("Item", ["name": "First"])]), forKey: "items")
        try context.save()
        let text = try String(contentsOf: folder.url, encoding: .utf8)
        #expect(
            text.hasPrefix(
                """
                <?xml version="1.0" standalone="yes"?>
                <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">

                <database>
                    <databaseInfo>
                        <version>134481920</version>
                        <UUID>
                """))
        #expect(
            text.hasSuffix(
                """
                    <object type="NOTE" id="z1">
                        <attribute name="ispinned" type="bool">1</attribute>
                        <attribute name="rank" type="double">2.5</attribute>
                        <attribute name="title" type="string">One</attribute>
                        <relationship name="cover" type="1/1" destination="ITEM"></relationship>
                        <relationship name="folder" type="1/1" destination="FOLDER"></relationship>
                        <relationship name="items" type="0/0" destination="ITEM" idrefs="z2"></relationship>
                        <relationship name="related" type="0/0" destination="NOTE"></relationship>
                        <relationship name="relatedby" type="0/0" destination="NOTE"></relationship>
                    </object>
                    <object type="ITEM" id="z2">
                        <attribute name="name" type="string">First</attribute>
                        <relationship name="coverof" type="1/1" destination="NOTE"></relationship>
                        <relationship name="note" type="1/1" destination="NOTE" idrefs="z1"></relationship>
                        <relationship name="tags" type="0/0" destination="TAG"></relationship>
                    </object>
                </database>
                """))
    }

    @Test func `control characters are refused and nothing is written`() throws {
        let folder = try StoreFolder(name: "Notes.xml")
        let (_, context) = try open(folder.url, model: NotesModel.make())
        let before = try Data(contentsOf: folder.url)
        let note = context.insert("Note", ["title": "a\u{1}b"])
        let error = #expect(throws: CocoaError.self) { try context.save() }
        #expect(error?.errorCode == 134030)
        #expect(try Data(contentsOf: folder.url) == before)
        note.setValue("ab", forKey: "title")
        try context.save()
        #expect(try Data(contentsOf: folder.url) != before)
    }

    /// Two coordinators with one file: the second one to save would overwrite the first one's changes.
    @Test(arguments: [NSXMLStoreType, NSPersistentStore.StoreType.archive.rawValue])
    func aFileThatOthersHaveChangedIsNotOverwritten(type: String) throws {
        let folder = try StoreFolder(name: "Notes.file")
        let (_, one) = try open(folder.url, model: NotesModel.make(), type: type)
        let (_, other) = try open(folder.url, model: NotesModel.make(), type: type)
        _ = one.insert("Note", ["title": "One"])
        try one.save()
        _ = other.insert("Note", ["title": "Other"])
        let error = #expect(throws: CocoaError.self) { try other.save() }
        #expect(error?.errorCode == 134030)
        let (_, again) = try open(folder.url, model: NotesModel.make(), type: type)
        #expect(try again.all("Note").compactMap { $0.value(forKey: "title") as? String } == ["One"])
    }

    @Test(arguments: [NSPersistentStore.StoreType.xml, .archive])
    func metadataAreReadAndSetWithoutAModel(type: NSPersistentStore.StoreType) throws {
        let folder = try StoreFolder(name: "Notes.file")
        let (_, context) = try open(folder.url, model: NotesModel.make(), type: type.rawValue)
        _ = context.insert("Note", ["title": "One"])
        try context.save()
        var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: type, at: folder.url)
        #expect(metadata[NSStoreTypeKey] as? String == type.rawValue)
        #expect((metadata[NSStoreModelVersionHashesKey] as? [String: Data])?.isEmpty == false)
        metadata["mine"] = ["a", "b"]
        try NSPersistentStoreCoordinator.setMetadata(metadata, type: type, at: folder.url)
        let changed = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: type, at: folder.url)
        #expect(changed["mine"] as? [String] == ["a", "b"])
        #expect(changed[NSStoreUUIDKey] as? String == metadata[NSStoreUUIDKey] as? String)
        let (_, again) = try open(folder.url, model: NotesModel.make(), type: type.rawValue)
        #expect(try again.all("Note").count == 1)
    }

    @Test func aStoreOfAnotherModelIsRefused() throws {
        let folder = try StoreFolder(name: "Notes.xml")
        _ = try open(folder.url, model: NotesModel.make())
        let other = NSManagedObjectModel()
        other.entities = [NotesModel.entity("Other", [])]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: other)
        let error = #expect(throws: CocoaError.self) {
            try coordinator.addPersistentStore(type: .xml, at: folder.url)
        }
        #expect(error?.errorCode == 134100)
    }

    @Test(arguments: [NSPersistentStore.StoreType.xml, .archive])
    func filesAreReplacedAndDestroyed(type: NSPersistentStore.StoreType) throws {
        let folder = try StoreFolder(name: "Notes.file")
        let (coordinator, context) = try open(folder.url, model: NotesModel.make(), type: type.rawValue)
        _ = context.insert("Note", ["title": "One"])
        try context.save()
        let copy = folder.directory.appendingPathComponent("copy.file")
        try coordinator.replacePersistentStore(at: copy, withPersistentStoreFrom: folder.url, type: type)
        let (_, again) = try open(copy, model: NotesModel.make(), type: type.rawValue)
        #expect(try again.all("Note").count == 1)
        try coordinator.destroyPersistentStore(at: copy, type: type)
        #expect(!FileManager.default.fileExists(atPath: copy.path))
    }

    /// `setURL(_:for:)`: the next save is written to the new location.
    @Test func `a moved store saves to its new location`() throws {
        let folder = try StoreFolder(name: "Notes.xml")
        let (coordinator, context) = try open(folder.url, model: NotesModel.make())
        let before = try Data(contentsOf: folder.url)
        let place = folder.directory.appendingPathComponent("moved.xml")
        let store = try #require(coordinator.persistentStores.first)
        #expect(coordinator.setURL(place, for: store))
        _ = context.insert("Note", ["title": "One"])
        try context.save()
        #expect(try Data(contentsOf: folder.url) == before)
        let (_, again) = try open(place, model: NotesModel.make())
        #expect(try again.all("Note").count == 1)
    }

    /// Names in the format are case-insensitive.
    @Test func `names that differ in case are refused`() throws {
        let folder = try StoreFolder(name: "Notes.xml")
        let model = NSManagedObjectModel()
        model.entities = [
            NotesModel.entity(
                "Note",
                [
                    NotesModel.attribute("name", .stringAttributeType),
                    NotesModel.attribute("Name", .stringAttributeType),
                ])
        ]
        let error = #expect(throws: CocoaError.self) { try open(folder.url, model: model) }
        #expect(error?.errorCode == 134020)
        #expect(throws: Never.self) { try open(folder.url, model: model, type: "Archive") }
    }

    // MARK: - Hostile files

    static let base = """
        <?xml version="1.0"?>
        <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">

        <database>
            <databaseInfo>
                <version>134481920</version>
                <UUID>7DFA6DAB-A071-4B34-8DFB-BAC65DD66FDE</UUID>
                <nextObjectID>3</nextObjectID>
                <metadata>
                    <plist version="1.0"><dict></dict></plist>
                </metadata>
            </databaseInfo>
            <object type="NOTE" id="z1">
                <attribute name="title" type="string">One</attribute>
                <attribute name="small" type="int16">7</attribute>
                <relationship name="cover" type="1/1" destination="ITEM" idrefs="z2"></relationship>
            </object>
            <object type="ITEM" id="z2"></object>
        </database>
        """

    @Test func `the hostile files are changes of a valid one`() throws {
        let folder = try StoreFolder(name: "Notes.xml")
        try Data(Self.base.utf8).write(to: folder.url)
        let (_, context) = try open(folder.url, model: NotesModel.make())
        let note = try #require(try context.all("Note").first)
        #expect((note.value(forKey: "small") as? NSNumber)?.intValue == 7)
        #expect(note.value(forKey: "cover") is NSManagedObject)
        #expect(try context.all("Item").count == 1)
    }

    static let changes: [(String, String)] = [
        ("CoreData.dtd\">", "x"), ("</database>", ""), ("<database>", "<data>"),
        ("CoreData.dtd\">", "CoreData.dtd\" [<!ENTITY a \"b\">]>"), ("134481920", "1"),
        ("<nextObjectID>3", "<nextObjectID>x"),
        ("z1\"", "y1\""), ("z1\"", "z2\""), ("z1\"", "z99999999999999999999\""), ("idrefs=\"z2\"", "idrefs=\"z9\""),
        ("idrefs=\"z2\"", "idrefs=\"z1\""), ("idrefs=\"z2\"", "idrefs=\"z2 z2\""), ("\"NOTE\"", "\"NONE\""),
        ("\"title\"", "\"none\""), ("\"cover\"", "\"none\""), (">7<", ">seven<"), ("<dict></dict>", "<array></array>"),
        ("<dict></dict>", "<dict><key>a</dict>"), ("<dict></dict>", ""), ("One", "<b>One</b>"), ("One", "&unknown;"),
        ("<object type=\"ITEM\" id=\"z2\"></object>", "text"),
        ("<UUID>7DFA6DAB-A071-4B34-8DFB-BAC65DD66FDE</UUID>", ""),
        ("<databaseInfo>", "<databaseInfo><databaseInfo>"), ("One", "\u{0}"),
    ]

    @Test(arguments: XMLStoreTests.changes)
    func damagedFilesAreRefused(change: (String, String)) throws {
        let folder = try StoreFolder(name: "Notes.xml")
        let range = try #require(Self.base.range(of: change.0))
        try Data(Self.base.replacingCharacters(in: range, with: change.1).utf8).write(to: folder.url)
        let error = #expect(throws: CocoaError.self) { try open(folder.url, model: NotesModel.make()) }
        #expect([259, 134020].contains(error?.errorCode ?? 0), "\(String(describing: error))")
    }

    /// Truncated files, and files with a changed byte, are read or refused.
    @Test(arguments: [NSXMLStoreType, NSPersistentStore.StoreType.archive.rawValue])
    func noByteStopsTheProgram(type: String) throws {
        let folder = try StoreFolder(name: "Notes.file")
        let (coordinator, context) = try open(folder.url, model: NotesModel.make(), type: type)
        let note = context.insert("Note", ["title": "One", "blob": Data([1, 2, 3]), "price": 1.5])
        note.setValue(NSOrderedSet(array: [context.insert("Item", ["name": "First"])]), forKey: "items")
        try context.save()
        try coordinator.remove(#require(coordinator.persistentStores.first))
        let good = try Data(contentsOf: folder.url)
        let model = NotesModel.make()
        var refused = 0
        for step in stride(from: 0, to: good.count, by: max(1, good.count / 150)) {
            for variant in 0..<2 {
                var bytes = good
                if variant == 0 { bytes = bytes.prefix(step) } else { bytes[step] ^= UInt8(1 << (step % 8)) }
                if bytes.isEmpty { continue }
                try bytes.write(to: folder.url)
                do { _ = try open(folder.url, model: model, type: type) } catch { refused += 1 }
            }
        }
        #expect(refused > 100)
    }
}
