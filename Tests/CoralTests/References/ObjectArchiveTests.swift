import Coral
import Testing

/// Managed objects in archives, defaults and Codable values.
@Suite struct ObjectArchiveTests {
    private func withThings(_ body: (NSManagedObjectContext, [NSManagedObject]) throws -> Void) throws {
        let context = try makeContext(WebModel.make())
        try context.performAndWait {
            try body(context, (0..<3).map { context.insert("Thing", ["name": "\($0)"]) })
        }
    }

    @Test func `an array is written to defaults or a file in one line and read back in order`() throws {
        try withThings { context, things in
            let wanted = [things[2], things[0], things[1], things[0]]
            let defaults = UserDefaults()
            let key = "coral-\(UUID().uuidString)"
            defer { defaults.removeObject(forKey: key) }
            try defaults.setReferences(to: wanted, forKey: key)
            try context.save()
            #expect(try defaults.objects(forReferencesKey: key, in: context).objects == wanted)
            let url = FileManager.default.temporaryDirectory.appendingPathComponent(key)
            defer { try? FileManager.default.removeItem(at: url) }
            try wanted.archivedReferences().write(to: url)
            #expect(try context.objects(fromReferences: Data(contentsOf: url)).objects == wanted)
            context.delete(things[0])
            try context.save()
            let found = try context.objects(fromReferences: Data(contentsOf: url))
            #expect(found.objects == [things[2], things[1]])
            #expect(found.missing.map(\.index) == [1, 3])
            #expect(found.missing.map(\.reason.code) == [.rowDeleted, .rowDeleted])
        }
    }

    @Test func `objects anywhere in an object graph`() throws {
        try withThings { context, things in
            let root: NSDictionary = [
                "selection": things as NSArray, "first": things[0], "scroll": 12, "nested": ["deep": [things[1]]],
            ]
            let data = try ObjectArchiver.archivedData(root)
            context.delete(things[2])
            let result = try ObjectArchiver.unarchive(data, in: context)
            let read = try #require(result.root as? NSDictionary)
            let selection = try #require(read["selection"] as? NSArray)
            #expect(selection[0] as? NSManagedObject === things[0])
            #expect(read["first"] as? NSManagedObject === things[0])
            #expect(selection[2] is ManagedObjectReference)
            #expect(result.missing.map(\.reason.code) == [.rowDeleted])
            let nested = (read["nested"] as? NSDictionary)?["deep"] as? NSArray
            #expect(nested?[0] as? NSManagedObject === things[1])
        }
    }

    @Test func `archives of the older convention are read`() throws {
        try withThings { context, things in
            try context.save()
            let old = things.map { OldObject($0.objectID.uriRepresentation()) }
            let archiver = NSKeyedArchiver(requiringSecureCoding: false)
            // A class that no longer exists, and one that is no longer secure.
            archiver.setClassName("SSNote", for: OldObject.self)
            archiver.encode(old as NSArray, forKey: NSKeyedArchiveRootObjectKey)
            archiver.finishEncoding()
            #expect(try context.objects(fromReferences: archiver.encodedData).objects == things)
        }
    }

    @Test func `hostile and damaged archives are errors`() throws {
        try withThings { context, things in
            #expect(throws: ReferenceError.self) { try context.objects(fromReferences: Data()) }
            #expect(throws: ReferenceError.self) { try context.objects(fromReferences: Data("bplist00".utf8)) }
            let archive = try things.archivedReferences()
            for length in stride(from: 0, to: archive.count, by: 7) {
                _ = try? context.objects(fromReferences: archive.prefix(length))
            }
            for place in 0..<archive.count {
                var bytes = archive
                bytes[place] ^= 0x55
                _ = try? context.objects(fromReferences: bytes)
            }
            #expect(throws: ReferenceError.self) {
                try ObjectArchiver.archivedData(["x": Unarchivable()] as NSDictionary)
            }
            // Classes are instantiated only if they are allowed.
            let foreign = try NSKeyedArchiver.archivedData(
                withRootObject: NSDateComponents(), requiringSecureCoding: true)
            #expect(throws: ReferenceError.self) { try ObjectArchiver.unarchive(foreign, in: context) }
            let allowed = try ObjectArchiver.unarchive(foreign, in: context, allowedClasses: [NSDateComponents.self])
            #expect(allowed.root is NSDateComponents)
        }
    }

    @Test func `in a Codable value, with the context in the decoder`() throws {
        struct Selection: Codable {
            @Referenced var thing: NSManagedObject?
            @Referenced var nothing: NSManagedObject?
        }
        try withThings { context, things in
            let data = try JSONEncoder().encode(Selection(thing: things[0], nothing: nil))
            let decoder = JSONDecoder()
            #expect(throws: ReferenceError.self) { try decoder.decode(Selection.self, from: data) }
            decoder.userInfo[.managedObjectContext] = context
            let read = try decoder.decode(Selection.self, from: data)
            #expect(read.thing === things[0] && read.nothing == nil && read.$thing == nil)
            context.delete(things[0])
            try context.save()
            let later = try decoder.decode(Selection.self, from: data)
            #expect(later.thing == nil)
            #expect(later.$thing?.code == .rowDeleted)
            // Unresolved references are kept.
            #expect(try decoder.decode(Selection.self, from: JSONEncoder().encode(later)).$thing?.code == .rowDeleted)
        }
    }

    @Test func `an array in a Codable value lacks the objects that do not exist, and keeps their references`() throws {
        struct Selection: Codable {
            @Referenced var things: [NSManagedObject] = []
        }
        try withThings { context, things in
            let decoder = JSONDecoder()
            decoder.userInfo[.managedObjectContext] = context
            #expect(try decoder.decode(Selection.self, from: Data("{}".utf8)).things.isEmpty)
            let data = try JSONEncoder().encode(Selection(things: things))
            #expect(try decoder.decode(Selection.self, from: data).things == things)
            context.delete(things[0])
            try context.save()
            var later = try decoder.decode(Selection.self, from: data)
            #expect(later.things == Array(things.dropFirst()))
            #expect(later.$things.map(\.code) == [.rowDeleted])
            #expect(try decoder.decode(Selection.self, from: JSONEncoder().encode(later)).$things.count == 1)
            later.things = [things[1]]
            #expect(later.$things.isEmpty)
            #expect(try decoder.decode(Selection.self, from: JSONEncoder().encode(later)).things == [things[1]])
            #expect(throws: DecodingError.self) {
                try decoder.decode(Selection.self, from: Data(#"{"things": 1}"#.utf8))
            }
        }
    }
}

/// An object as the older convention encoded it.
final class OldObject: NSObject, NSCoding {
    let uri: URL

    init(_ uri: URL) { self.uri = uri }
    init?(coder: NSCoder) { nil }
    func encode(with coder: NSCoder) { coder.encode(uri as NSURL, forKey: "URIRepresentation") }
}

private final class Unarchivable: NSObject {}
