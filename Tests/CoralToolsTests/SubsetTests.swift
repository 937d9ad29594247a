import Coral
import CoralTools
import NotesModel
import Testing

/// Subsets of a store as new stores.
@Suite struct SubsetTests {
    private func withFolder(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder.appendingPathComponent("Part.sqlite"))
    }

    /// Five people with two notes of three items each, and two tags that all of them share.
    private func withPeople(_ body: (NSManagedObjectContext, [NSManagedObject]) throws -> Void) throws {
        let model = NSManagedObjectModel.notes()
        model.entitiesByName["Person"]?.relationshipsByName["notes"]?.deleteRule = .cascadeDeleteRule
        let context = try makeContext(model)
        try context.performAndWait {
            let tags = ["home", "work"].map { context.insert("Tag", ["name": $0]) }
            let people = (0..<5).map { number -> NSManagedObject in
                let person = context.insert("Person", ["name": number < 2 ? "Ada Lovelace" : "Person \(number)"])
                for index in 0..<2 {
                    let items = (0..<3).map { context.insert("Item", ["name": "item \($0)", "quantity": $0]) }
                    context.insert(
                        "Note",
                        [
                            "title": "Note \(index)", "author": person, "items": NSOrderedSet(array: items),
                            "tags": NSSet(array: tags), "identifier": UUID(),
                        ])
                }
                return person
            }
            try context.save()
            try body(context, people)
        }
    }

    private func objects(_ entity: String, in context: NSManagedObjectContext) throws -> [NSManagedObject] {
        try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity))
    }

    @Test(arguments: [
        "٠١٢٣٤٥٦٧٨٩", "۴۵۶", "१२३", "１２３４", "𝟏𝟐𝟑", "½ ④", "1\u{FE0F}\u{20E3}", "\u{600}٤٢", "Ж ж", "東京", "ⅷ",
    ])
    func `a shape has no letter or digit of the text, of any script`(_ text: String) throws {
        let redaction = Redaction(secret: "one")
        let shape = try #require(
            redaction.substitute(for: text, by: .shape, of: .stringAttributeType) as? String)
        #expect(shape.count == text.count)
        for (old, new) in zip(text, shape) {
            if old == " " { #expect(new == " ") } else { #expect(new.isASCII && new != old && new != " ", "\(shape)") }
        }
    }

    @Test func `an empty secret is a random one`() {
        func token(_ redaction: Redaction) -> String? {
            redaction.substitute(for: "Ada", by: .token, of: .stringAttributeType) as? String
        }
        #expect(token(Redaction(secret: "")) != nil)
        #expect(token(Redaction(secret: "")) != token(Redaction(secret: "")))
        #expect(token(Redaction(secret: "one")) == token(Redaction(secret: "one")))
    }

    @Test(arguments: [1, 7, 500]) func `three people and the objects they own`(batchSize: Int) throws {
        try withFolder { url in
            try withPeople { context, people in
                var subset = GraphSubset()
                subset.batchSize = batchSize
                let planned = try subset.plan(Array(people[1...3]))
                let plan = try subset.export(Array(people[1...3]), to: url)
                #expect(plan.counts == ["Person": 3, "Note": 6, "Item": 18])
                #expect(planned.counts == plan.counts)
                // The tags are not owned by any object.
                #expect(plan.omissions.count == 12)
                #expect(!context.hasChanges)
                #expect(throws: CocoaError.self) { try subset.export(people, to: url) }
            }
            let part = try makeContext(.notes(), at: url)
            try part.performAndWait {
                #expect(try objects("Tag", in: part).isEmpty)
                for note in try objects("Note", in: part) {
                    let items = (note.value(forKey: "items") as? NSOrderedSet)?.array as? [NSManagedObject]
                    #expect(items?.map { $0.value(forKey: "name") as? String } == ["item 0", "item 1", "item 2"])
                    #expect(note.value(forKey: "author") != nil)
                    #expect(note.value(forKey: "identifier") != nil)
                }
            }
        }
    }

    @Test func `linked objects are included on request, without the objects that they own`() throws {
        try withFolder { url in
            try withPeople { _, people in
                let plan = try GraphSubset(includesLinkedObjects: true).export([people[0]], to: url)
                #expect(plan.counts == ["Person": 1, "Note": 2, "Item": 6, "Tag": 2])
            }
            let part = try makeContext(.notes(), at: url)
            try part.performAndWait {
                let tags = try objects("Tag", in: part)
                #expect(tags.map { ($0.value(forKey: "notes") as? NSSet)?.count } == [2, 2])
            }
        }
    }

    @Test func `values are replaced, equal ones by equal ones, and others are kept`() throws {
        func names(secret: String) throws -> [String] {
            var names: [String] = []
            try withFolder { url in
                try withPeople { _, people in
                    var subset = GraphSubset()
                    subset.redaction = Redaction(secret: secret)
                    subset.redaction?.replace("Person.name", by: .name)
                    subset.redaction?.replace("Note.title", by: .shape)
                    subset.redaction?.replace("Item.quantity", by: .number(0...9))
                    subset.redaction?.replace("Note.identifier", by: .uuid)
                    subset.redaction?.replace("Note.body", by: .constant("gone"))
                    try subset.export(people, to: url)
                }
                let part = try makeContext(.notes(), at: url)
                try part.performAndWait {
                    names = try objects("Person", in: part).compactMap { $0.value(forKey: "name") as? String }
                    for note in try objects("Note", in: part) {
                        let title = note.value(forKey: "title") as? String ?? ""
                        #expect(title.count == 6 && title.first?.isUppercase == true && title.last?.isNumber == true)
                        #expect(title.dropFirst(4).first == " ")
                        #expect(note.value(forKey: "body") as? String == "gone")
                    }
                }
            }
            return names
        }
        let first = try names(secret: "one")
        #expect(first.count == 5)
        #expect(!first.contains { $0.contains("Lovelace") || $0.contains("Person") })
        // Two people had the same name.
        #expect(Set(first).count <= 4)
        #expect(try names(secret: "one").sorted() == first.sorted())
        #expect(try names(secret: "two").sorted() != first.sorted())
    }

    @Test func `invalid substitutes are refused before anything is created`() throws {
        try withFolder { url in
            try withPeople { _, people in
                var subset = GraphSubset()
                subset.redaction = Redaction()
                subset.redaction?.replace("Person.name", by: .uuid)
                #expect(throws: CopyError.self) { try subset.export(people, to: url) }
                subset.redaction = Redaction()
                subset.redaction?.replace("Person.nmae", by: .name)
                #expect(throws: ShapeError.self) { try subset.export(people, to: url) }
                #expect(!FileManager.default.fileExists(atPath: url.path))
            }
        }
    }

    @Test func `required objects are included, whichever objects own them`() throws {
        let model = NSManagedObjectModel.notes()
        model.entitiesByName["Note"]?.relationshipsByName["author"]?.isOptional = false
        let context = try makeContext(model)
        try withFolder { url in
            try context.performAndWait {
                let note = context.insert("Note", ["author": context.insert("Person", ["name": "Ada"])])
                try context.save()
                #expect(try GraphSubset().export([note], to: url).counts == ["Note": 1, "Person": 1])
            }
        }
    }
}
