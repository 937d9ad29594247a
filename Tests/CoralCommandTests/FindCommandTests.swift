import Coral
import Foundation
import GRDB
import NotesModel
import Testing

@testable import CoralCommand

/// `coral find`: text in all values of a store.
@Suite struct FindCommandTests {
    private let store: NotesStore

    init() throws { store = try NotesStore() }

    private func find(_ arguments: String...) throws -> CommandRun { try CommandRun(["find", store.path] + arguments) }

    private func execute(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws {
        let queue = try DatabaseQueue(path: store.path)
        try queue.write { try $0.execute(sql: sql, arguments: arguments) }
        try queue.close()
    }

    @Test func `hits are grouped by object, with the display name and an excerpt`() throws {
        let before = try store.contents()
        let run = try find("garden")
        #expect(run.status == 0)
        #expect(run.output == "Note/p2  Garden, \"big\"\n  title: Garden, \"big\"\n", "\(run.output)")
        #expect(run.errors == "1 value of 1 object\n")
        #expect(try find("nowhere").output == "")
        #expect(try find("nowhere").errors.contains("0 values of 0 objects"))
        #expect(try find("title").errors.contains("In the model: Note.title"))
        #expect(try store.contents() == before)
    }

    @Test func `case and diacritics are ignored unless they must match`() throws {
        try execute("UPDATE ZNOTE SET ZTITLE = 'Crème BRÛLÉE' WHERE Z_PK = 1")
        for text in ["brulee", "BRÛLÉE", "creme", "Crème brûlée"] {
            #expect(try find(text).output.contains("Note/p1"), "\(text)")
        }
        #expect(try find("brulee", "--match-case").output == "")
        #expect(try find("BRÛLÉE", "--match-case").output.contains("Note/p1"))
        #expect(try find("rule", "--whole-word").output == "")
        #expect(try find("creme", "--whole-word").output.contains("Note/p1"))
        #expect(try find("br.l[eé]+", "--regex").output.contains("Note/p1"))
        let wrong = try find("(((", "--regex")
        #expect(wrong.status == 1 && wrong.errors.contains("is not a valid regular expression"))
        #expect(try find("").status == 64)
    }

    @Test func `numbers, dates, identifiers and addresses are found as they are written`() throws {
        let accounts = try AccountsStore()
        for (text, attribute) in [
            ("12.34", "balance"), ("01234567-89ab", "token"), ("1970-01-01T00:00:01", "createdAt"),
            ("example.com/a?b", "site"),
        ] {
            let run = try CommandRun("find", accounts.path, text, "--csv")
            #expect(
                run.output.contains("Account/p1,") && run.output.contains(",\(attribute),"), "\(text): \(run.output)")
        }
        #expect(try CommandRun("find", accounts.path, "12.34", "--entity", "Data").output == "")
        #expect(try CommandRun("find", accounts.path, "12.34", "--entity", "Dat").errors.contains("Did you mean"))
    }

    @Test(arguments: [false, true]) func `binary and archived values are searched, also in files`(isExternal: Bool)
        throws
    {
        let entity = NSEntityDescription()
        entity.name = "Blob"
        let data = NSAttributeDescription()
        (data.name, data.attributeType) = ("data", .binaryDataAttributeType)
        data.allowsExternalBinaryDataStorage = isExternal
        let words = NSAttributeDescription()
        (words.name, words.attributeType) = ("words", .transformableAttributeType)
        words.valueTransformerName = "NSSecureUnarchiveFromData"
        entity.properties = [data, words]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let url = URL(fileURLWithPath: store.file("Blobs.sqlite"))
        let opened = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            for (number, text) in ["a needle", String(repeating: "hay ", count: 100_000) + "needle", "hay"].enumerated()
            {
                let blob = NSEntityDescription.insertNewObject(forEntityName: "Blob", into: context)
                blob.setValue(Data(text.utf8), forKey: "data")
                if number == 2 { blob.setValue(["one", "Needle"], forKey: "words") }
                try context.save()
            }
        }
        try coordinator.remove(opened)
        let run = try CommandRun("find", url.path, "needle", "--csv")
        let hits = run.output.split(whereSeparator: \.isNewline).dropFirst().map { $0.split(separator: ",")[0] }
        #expect(hits == ["Blob/p1", "Blob/p2", "Blob/p3"], "\(run.output)\(run.errors)")
    }

    @Test func `documents contain the same hits`() throws {
        try execute("UPDATE ZNOTE SET ZBODY = 'a \"quoted\", body', ZTITLE = 'body' WHERE Z_PK = 1")
        let csv = try find("body", "--csv").output
        #expect(
            csv
                == "object,label,attribute,excerpt\r\nNote/p1,body,body,\"a \"\"quoted\"\", body\"\r\nNote/p1,body,title,body\r\n",
            "\(csv)")
        let json = try find("body", "--json").output
        let parsed = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [[String: Any]])
        #expect(parsed.count == 1 && parsed[0]["id"] as? String == "Note/p1")
        #expect((parsed[0]["values"] as? [[String: String]])?.map { $0["attribute"] } == ["body", "title"])
        #expect(try find("body", "-o", store.file("found.xlsx")).status == 1)
        #expect(try find("body", "-o", store.file("found.csv")).status == 0)
        #expect(try String(contentsOfFile: store.file("found.csv"), encoding: .utf8) == csv)
    }

    @Test(arguments: ["needle", "nädel", "n", "ee"]) func `the quick search agrees with Foundation's`(_ text: String)
        throws
    {
        var state: UInt64 = 7
        func next(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % limit
        }
        let alphabet = Array("nedlNEDLaÄä e\u{301}é😀")
        for matchesCase in [false, true] {
            let matcher = try TextMatcher(text, matchesCase: matchesCase)
            for _ in 0..<500 {
                var value = String((0..<next(30)).map { _ in alphabet[next(alphabet.count)] })
                if next(3) == 0 { value += [text, text.uppercased()][next(2)] }
                let expected = value.range(
                    of: text, options: matchesCase ? .literal : [.caseInsensitive, .diacriticInsensitive])
                var bytes = value
                let mayMatch = bytes.withUTF8 { matcher.mayMatch(UnsafeRawBufferPointer($0)) }
                #expect(expected == nil || mayMatch, "\(value)")
                #expect(matcher.range(in: value) == expected, "\(value)")
            }
        }
    }

    @Test(arguments: ["s", "ss", "i", "k", "σ", "ü", "å", "한", "ᄒ", "fi", "東", "ж"])
    func `the quick search misses no character that Foundation finds`(_ text: String) throws {
        let matcher = try TextMatcher(text)
        for scalar in (1...0x1_0FFF).compactMap(Unicode.Scalar.init) {
            var value = "a\(scalar)\(scalar)b"
            guard value.range(of: text, options: [.caseInsensitive, .diacriticInsensitive]) != nil else { continue }
            let mayMatch = value.withUTF8 { matcher.mayMatch(UnsafeRawBufferPointer($0)) }
            #expect(mayMatch, "\(scalar.value)")
        }
    }

    @Test func `the quick search decodes few texts with other letters`() throws {
        let matcher = try TextMatcher("Zürich")
        for (text, isFound) in [("in ZURICH", true), ("Zu\u{308}rich", true), ("Züricher 東京", true), ("Züri", false)] {
            var text = text
            #expect(text.withUTF8 { matcher.mayMatch(UnsafeRawBufferPointer($0)) } == isFound, "\(text)")
        }
        let bytes: [UInt8] = [0xFF, 0xC3, 0x5A, 0xC3, 0xBC, 0xE2, 0x82]
        #expect(bytes.withUnsafeBytes { try? TextMatcher("zu").mayMatch($0) } == true)
    }

    @Test func `objects are named by the attribute of --label, in every output`() throws {
        let store = try NotesStore()
        let label = ["--label", "Item.name"]
        let found = try CommandRun(["find", store.path, "Groceries", "--label", "Note.body"])
        #expect(found.status == 0 && found.output.hasPrefix("Note/p1\n"), "\(found.output)\(found.errors)")
        let page = store.file("page.html")
        #expect(try CommandRun(["export", store.path, "-o", page] + label).status == 0)
        #expect(try CommandRun(["timeline", store.path] + label).status == 0)
        for (words, sentence) in [
            (
                ["find", store.path, "x", "--label", "Note.titel"],
                "There is no attribute \"Note.titel\". Did you mean \"title\"?"
            ),
            (["find", store.path, "x", "--label", "Nite.title"], "Nite"),
            (["find", store.path, "x", "--label", "title"], "not of the form Entity.attribute"),
            (["timeline", store.path, "--label", "Note.rank"], "Note.rank is not an attribute with text."),
            (["export", store.path, "--format", "json"] + label, "--label requires --format html."),
        ] {
            let run = try CommandRun(words)
            #expect(run.status == 1 && run.errors.contains(sentence), "\(words): \(run.errors)")
        }
    }
}
