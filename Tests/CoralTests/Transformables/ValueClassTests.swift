import Coral
import CoralValues
import Testing

/// Values of transformable attributes that are not of the class that the model declares.
struct ValueClassTests {
    private func model(checked: Bool = true) -> NSManagedObjectModel {
        let palette = WebModel.entity("Palette", [("name", .stringAttributeType)])
        for (name, className) in [("colours", "NSMutableArray"), ("words", "[String]"), ("table", "[String: Int]")] {
            let attribute = WebModel.attribute(name, .transformableAttributeType)
            if checked { attribute.attributeValueClassName = className }
            palette.properties.append(attribute)
        }
        let model = NSManagedObjectModel()
        model.entities = [palette]
        return model
    }

    private func document(_ members: String) -> Data { Data(#"{"Palette":[{"name":"p",\#(members)}]}"#.utf8) }

    @Test func `an imported array becomes the mutable array that the attribute declares`() throws {
        let context = try makeContext(model())
        try context.performAndWait {
            let palette = try context.importObject(from: document(#""colours":["red"],"words":["a"],"table":{"a":1}"#))
            #expect(palette.value(forKey: "colours") is NSMutableArray)
            try context.save()
            context.refreshAllObjects()
            #expect(palette.value(forKey: "colours") as? NSMutableArray == ["red"])
            #expect(palette.value(forKey: "words") as? [String] == ["a"])
            try palette.populate(from: ["colours": ["blue"]])
            #expect(palette.value(forKey: "colours") as? NSMutableArray == ["blue"])
        }
    }

    @Test(arguments: [
        #""colours":"red""#, #""colours":{"a":1}"#, #""words":[1]"#, #""words":"a""#, #""table":{"a":"b"}"#,
        #""table":["a"]"#,
    ])
    func `a value of another class is an error with its place`(members: String) throws {
        let context = try makeContext(model())
        try context.performAndWait {
            let error = #expect(throws: ImportError.self) { try context.importObjects(from: document(members)) }
            #expect(error?.code == .wrongValue, "\(error as Any)")
            #expect(error?.place?.document?.pointer.hasPrefix("/Palette/0") == true, "\(error as Any)")
            #expect(!context.hasChanges)
            let palette = context.insert("Palette", ["name": "q"])
            let values = try JSONSerialization.jsonObject(with: Data("{\(members)}".utf8)) as? [String: Any] ?? [:]
            #expect(throws: ImportError.self) { try palette.populate(from: values) }
        }
    }

    @Test func `values changed in place keep the declared class`() throws {
        let context = try makeContext(model())
        try context.performAndWait {
            let palette = context.insert("Palette", ["colours": NSMutableArray(array: ["red"])])
            try context.save()
            let colours = try context.mutableValues.value(of: palette, forKey: "colours", as: NSMutableArray.self)
            colours.add("blue")
            try context.mutableValues.save()
            #expect(palette.value(forKey: "colours") as? NSMutableArray == ["red", "blue"])
        }
    }

    #if !canImport(Darwin)
        @Test(.enabled(if: Engine.hasRows)) func `a stored value of another class is nil, and its bytes are kept`()
            throws
        {
            let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).sqlite")
            defer { try? FileManager.default.removeItem(at: url) }
            let writer = try makeContext(model(checked: false), at: url)
            try writer.performAndWait {
                writer.insert("Palette", ["colours": "red" as NSString, "words": [1, 2] as NSArray])
                try writer.save()
            }
            let reader = try makeContext(model(), at: url)
            try reader.performAndWait {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Palette")
                let palette = try #require(try reader.fetch(request).first)
                #expect(ManagedProperty<NSMutableArray?>("colours")[palette] == nil)
                #expect(ManagedProperty<[String]?>("words")[palette] == nil)
                let error = #expect(throws: TransformableError.self) {
                    try palette.decodedValue(forKey: "words", as: [String].self)
                }
                #expect(error?.code == .wrongType)
                palette.setValue("changed", forKey: "name")
                try reader.save()
            }
            let again = try makeContext(model(checked: false), at: url)
            try again.performAndWait {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Palette")
                let palette = try #require(try again.fetch(request).first)
                #expect(palette.value(forKey: "colours") as? String == "red")
                // A property of another type than the value is nil, also where the model declares no class.
                #expect(ManagedProperty<NSMutableArray?>("colours")[palette] == nil)
                #expect(throws: TransformableError.self) {
                    try palette.decodedValue(forKey: "colours", as: NSMutableArray.self)
                }
            }
        }

        /// A property of a type that the stored value does not have, and that is not optional.
        @Test(.enabled(if: Engine.hasRows), arguments: [true, false])
        func `mutating a collection property does not overwrite a stored value of another type`(isDeclared: Bool) throws
        {
            let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).sqlite")
            defer { try? FileManager.default.removeItem(at: url) }
            let writer = try makeContext(model(checked: false), at: url)
            try writer.performAndWait {
                writer.insert("Palette", ["words": [1, 2] as NSArray])
                try writer.save()
            }
            let reader = try makeContext(model(checked: isDeclared), at: url)
            let words = ManagedProperty<[String]>("words")
            let request = NSFetchRequest<NSManagedObject>(entityName: "Palette")
            try reader.performAndWait {
                let palette = try #require(try reader.fetch(request).first)
                #expect(words[palette] == [] && !reader.hasChanges)
                words[palette].append("a")
                #expect(words[palette] == [] && reader.hasChanges)
                #expect(isDeclared || palette.value(forKey: "words") as? [Int] == [1, 2])
                palette.setValue("changed", forKey: "name")
                let error = #expect(throws: CocoaError.self) { try reader.save() }
                #expect(
                    error?.code.rawValue == 1550
                        && error?.localizedDescription.contains("\"words\" has a value") == true)
                #expect(palette.value(forKey: "name") as? String == "changed")
                // The save of a child fails, too, and passes nothing on.
                reader.refresh(palette, mergeChanges: false)
                let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
                child.parent = reader
                child.performAndWait {
                    words[child.object(with: palette.objectID)].append("b")
                    #expect(throws: CocoaError.self) { try child.save() }
                }
                #expect(!reader.hasChanges)
                // Refreshing and rolling back discard the change.
                words[palette].append("b")
                reader.rollback()
                palette.setValue("changed", forKey: "name")
                try reader.save()
            }
            let check = try makeContext(model(checked: false), at: url)
            try check.performAndWait {
                let palette = try #require(try check.fetch(request).first)
                #expect(
                    palette.value(forKey: "words") as? [Int] == [1, 2]
                        && palette.value(forKey: "name") as? String == "changed")
            }
            try reader.performAndWait {
                let palette = try #require(try reader.fetch(request).first)
                words[palette].append("c")
                palette.setValue(nil, forKey: "words")
                words[palette].append("d")
                try reader.save()
                reader.refreshAllObjects()
                #expect(words[palette] == ["d"])
            }
        }
    #endif
}
