import Coral
import NotesModel
import Testing

/// Every omission in documents and dictionaries is reported.
struct LossTests {
    @Test func `a dictionary that would nest too deeply is an error`() throws {
        let context = try makeContext(WebModel.make())
        try context.performAndWait {
            var last: NSManagedObject?
            var first: NSManagedObject?
            for number in 0..<6 {
                let thing = context.insert("Thing", ["number": number])
                last?.setValue(NSOrderedSet(object: thing), forKey: "children")
                first = first ?? thing
                last = thing
            }
            let root = try #require(first)
            var shape = GraphShape.everything
            #expect(try root.dictionary(shape: shape)["children"] != nil)
            shape.depthLimit = 6
            #expect(try root.dictionary(shape: shape)["children"] != nil)
            shape.depthLimit = 5
            let error = #expect(throws: ExportError.self) { try root.dictionary(shape: shape) }
            #expect(error?.code == .depthLimit)
            // Several dictionaries can contain the objects: the deeper ones follow.
            #expect(try [root].dictionaries(shape: shape).count == 2)
        }
    }

    @Test func `a property list dictionary can be archived`() throws {
        let context = try makeNotesContext()
        try context.performAndWait {
            let note = context.insert("Note", ["title": "Groceries"])
            let dictionary = try note.dictionary(style: .propertyList)
            let data = try NSKeyedArchiver.archivedData(
                withRootObject: NSDictionary(dictionary: dictionary), requiringSecureCoding: true)
            let back = try NSKeyedUnarchiver.unarchivedObject(
                ofClasses: [NSDictionary.self, NSArray.self, NSString.self, NSNumber.self, NSDate.self, NSData.self],
                from: data)
            #expect(back as? NSDictionary == NSDictionary(dictionary: dictionary))
            let other = try makeNotesContext()
            try other.performAndWait {
                let copy = try other.importObject(from: try #require(back as? [String: Any]))
                #expect(copy.value(forKey: "title") as? String == "Groceries")
                #expect(copy.value(forKey: "author") == nil)
            }
        }
    }

    @Test func `the null of earlier property lists is read`() throws {
        let context = try makeNotesContext()
        try context.performAndWait {
            let note = context.insert("Note", ["title": "Groceries", "rank": 2.0])
            let earlier: [String: Any] = ["$entity": "Note", "title": ["$null": true]]
            try note.populate(from: earlier)
            #expect(note.value(forKey: "title") == nil)
            #expect(note.value(forKey: "rank") as? Double == 2)
        }
    }

    @Test func `dates are displayed with all their digits`() {
        #expect(ValueText.text(.date(0.125)) == "2001-01-01T00:00:00.125Z")
        #expect(ValueText.text(.date(0.1234567)) != ValueText.text(.date(0.1234568)))
    }

    @Test func `a header with an invalid member is refused`() throws {
        let schema = GraphSchema(ShopModel.make())
        for version in ["\"abc\"", "1.5", "null", "0", "-1", "true", "[1]", "99"] {
            let json = #"{"$header": {"format": "coral-graph", "version": \#(version)}, "Remark": []}"#
            #expect(throws: DocumentError.self, "\(version)") {
                _ = try JSONDocumentReader(Data(json.utf8), schema: schema)
            }
        }
        for member in [
            #""store": 1"#, #""layout": 2"#, #""ids": null"#, #""modelIdentifiers": "a""#, #""entityHashes": []"#,
        ] {
            let json = #"{"$header": {\#(member)}, "Remark": []}"#
            #expect(throws: DocumentError.self, "\(member)") {
                _ = try JSONDocumentReader(Data(json.utf8), schema: schema)
            }
        }
        for (member, pointer) in [
            (#""layout": "zigzag""#, "/$header/layout"),
            (#""entityHashes": {"Note": "?"}"#, "/$header/entityHashes/Note"),
            (#""version": 99"#, "/$header/version"), (#""format": "other""#, "/$header/format"),
        ] {
            let json = #"{"$header": {\#(member)}, "Remark": []}"#
            let error = #expect(throws: DocumentError.self) {
                _ = try JSONDocumentReader(Data(json.utf8), schema: schema)
            }
            #expect(error?.place?.pointer == pointer)
        }
        let known = #"{"$header": {"format": "coral-graph", "version": 1, "later": 2}, "Remark": []}"#
        #expect(try JSONDocumentReader(Data(known.utf8), schema: schema).header?.version == 1)
    }

    @Test(arguments: GraphFormat.allCases) func `headers of every format are read`(format: GraphFormat) throws {
        let context = try makeNotesContext()
        let data = try context.performAndWait { try context.insert("Note").encoded(as: format) }
        #expect(try ImportSource.data(data).header(schema: GraphSchema(.notes()))?.version == 1)
    }

    @Test func `a suggestion is not searched for a very different name`() {
        let names = ["title", "body", "createdAt"]
        #expect(NameSuggestion.nearest(to: "titel", in: names) == "title")
        #expect(NameSuggestion.nearest(to: String(repeating: "x", count: 100_000), in: names) == nil)
        #expect(NameSuggestion.nearest(to: "bdoy", in: ["body", "bdy"].reversed()) == "bdy")
        // A part of a name is nearer than nothing.
        let long = ["LoggerNetworkRequestEntity", "LoggerMessageEntity", "LoggerMetadataEntity"]
        #expect(NameSuggestion.nearest(to: "loggerMessage", in: long) == "LoggerMessageEntity")
        #expect(NameSuggestion.nearest(to: "og", in: long) == nil)
    }
}
