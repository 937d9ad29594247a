import Coral
import CoralValues
import Testing

/// A mutable class as in an app.
public final class Swatch: NSObject, NSSecureCoding {
    public static var supportsSecureCoding: Bool { true }
    var name: String
    var shade: Int

    init(_ name: String, shade: Int) {
        self.name = name
        self.shade = shade
    }

    public init?(coder: NSCoder) {
        name = coder.decodeObject(of: NSString.self, forKey: "name").map { "\($0)" } ?? ""
        shade = coder.decodeInteger(forKey: "shade")
    }

    public func encode(with coder: NSCoder) {
        coder.encode(name as NSString, forKey: "name")
        coder.encode(shade, forKey: "shade")
    }
}

/// A palette that is valid with three swatches at most.
final class Palette: NSManagedObject {
    override func validateForUpdate() throws {
        try super.validateForUpdate()
        let count = (value(forKey: "list") as? NSArray)?.count ?? 0
        if count > 3 { throw CocoaError(.coderInvalidValue) }
    }
}

/// A transformer that returns values of a wrong class.
private final class StrangeTransformer: ValueTransformer {
    override class func transformedValueClass() -> AnyClass { NSData.self }
    override class func allowsReverseTransformation() -> Bool { true }
    override func transformedValue(_ value: Any?) -> Any? { "no data" }
    override func reverseTransformedValue(_ value: Any?) -> Any? { nil }
}

/// Transformers that are registered by one call, are missing or fail; values of reference types.
@Suite(.serialized) struct TransformerTests {
    private func model() -> NSManagedObjectModel {
        ValueTransformer.register(archivesOf: [Swatch.self, NSString.self], as: "CoralTestsSwatch")
        ValueTransformer.register(archivesOf: [Swatch.self, NSArray.self, NSString.self], as: "CoralTestsSwatches")
        ValueTransformer.setValueTransformer(StrangeTransformer(), forName: NSValueTransformerName("CoralTestsStrange"))
        let palette = WebModel.entity("Palette", [("name", .stringAttributeType)])
        palette.managedObjectClassName = NSStringFromClass(Palette.self)
        for (name, transformer) in [
            ("swatch", "CoralTestsSwatch"), ("list", "CoralTestsSwatches"), ("strange", "CoralTestsStrange"),
            ("lost", "CoralTestsNobody"),
        ] {
            let attribute = WebModel.attribute(name, .transformableAttributeType)
            attribute.valueTransformerName = transformer
            // Detected by the toolkit alone, as with Apple's Core Data.
            attribute.userInfo = ["coral.inPlaceChanges": "ignore"]
            palette.properties.append(attribute)
        }
        let model = NSManagedObjectModel()
        model.entities = [palette]
        return model
    }

    private func withPalette(_ body: (NSManagedObjectContext, NSManagedObject) throws -> Void) throws {
        let context = try makeContext(model())
        try context.performAndWait {
            let list = NSArray(array: [Swatch("red", shade: 1), Swatch("blue", shade: 2)])
            let palette = context.insert("Palette", ["swatch": Swatch("red", shade: 1), "list": list])
            try context.save()
            context.refresh(palette, mergeChanges: false)
            try body(context, palette)
        }
    }

    private func shades(_ palette: NSManagedObject) -> [Int] {
        (palette.value(forKey: "list") as? NSArray)?.compactMap { ($0 as? Swatch)?.shade } ?? []
    }

    @Test func `an object of a custom class is changed in place`() throws {
        try withPalette { context, palette in
            let values = context.mutableValues
            let swatch = try values.value(of: palette, forKey: "swatch", as: Swatch.self)
            #expect(try values.value(of: palette, forKey: "swatch", as: Swatch.self) === swatch)
            try values.notice()
            #expect(!context.hasChanges)
            swatch.shade = 9
            try values.notice()
            #expect(palette.changedValues().keys.sorted() == ["swatch"])
            try values.save()
            swatch.shade = 10
            try values.save()
            context.refresh(palette, mergeChanges: false)
            #expect((palette.value(forKey: "swatch") as? Swatch)?.shade == 10)
        }
    }

    @Test func `an element of a list is changed in place, and the change is undone`() throws {
        try withPalette { context, palette in
            let undo = UndoManager()
            undo.groupsByEvent = false
            context.undoManager = undo
            let list = try context.mutableValues.value(of: palette, forKey: "list", as: NSMutableArray.self)
            (list[0] as? Swatch)?.shade = 7
            list.add(Swatch("green", shade: 3))
            #expect(shades(palette) == [1, 2])
            undo.beginUndoGrouping()
            try context.mutableValues.notice()
            context.processPendingChanges()
            undo.endUndoGrouping()
            #expect(shades(palette) == [7, 2, 3])
            undo.undo()
            #expect(shades(palette) == [1, 2])
            undo.redo()
            try context.save()
            context.refresh(palette, mergeChanges: false)
            #expect(shades(palette) == [7, 2, 3])
        }
    }

    @Test func `a rollback withdraws in-place changes that were not detected`() throws {
        try withPalette { context, palette in
            let list = try context.mutableValues.value(of: palette, forKey: "list", as: NSMutableArray.self)
            list.add(Swatch("green", shade: 3))
            context.mutableValues.rollback()
            list.add(Swatch("blue", shade: 4))
            palette.setValue("changed", forKey: "name")
            try context.mutableValues.save()
            context.refresh(palette, mergeChanges: false)
            #expect(shades(palette) == [1, 2])
            #expect(palette.value(forKey: "name") as? String == "changed")
        }
    }

    @Test func `an in-place change is validated before it is saved`() throws {
        try withPalette { context, palette in
            let list = try context.mutableValues.value(of: palette, forKey: "list", as: NSMutableArray.self)
            for shade in 3..<6 { list.add(Swatch("more", shade: shade)) }
            #expect(throws: CocoaError.self) { try context.mutableValues.save() }
            list.removeLastObject()
            list.removeLastObject()
            try context.mutableValues.save()
            context.refresh(palette, mergeChanges: false)
            #expect(shades(palette) == [1, 2, 3])
        }
    }

    @Test(arguments: ["lost", "strange"])
    func `a transformer that is missing or returns no data is an error with the attribute`(attribute: String) throws {
        try withPalette { context, palette in
            palette.setValue(["x"] as NSArray, forKey: attribute)
            let error = #expect(throws: (any Error).self) { try context.save() }
            let message = (error as? NSError)?.localizedDescription ?? ""
            #expect(message.contains("Palette.\(attribute)"))
            context.rollback()
            #expect(palette.value(forKey: attribute) == nil)
            palette.setValue("still works", forKey: "name")
            try context.save()
            palette.setValue(["x"] as NSArray, forKey: attribute)
            let other = #expect(throws: TransformableError.self) {
                try context.mutableValues.value(of: palette, forKey: attribute, as: NSMutableArray.self)
            }
            #expect(other?.code == (attribute == "lost" ? .missingTransformer : .encoding))
            #expect(other?.message.contains("Palette.\(attribute)") == true)
            #expect(throws: (any Error).self) { try GraphExporter().encoded([palette]) }
        }
    }

    @Test func `an archive contains the allowed classes only, and invalid bytes give nil`() throws {
        let transformer = ValueTransformer.register(archivesOf: [Swatch.self, NSString.self], as: "CoralTestsOnly")
        let archive = try #require(transformer.transformedValue(Swatch("red", shade: 4)) as? Data)
        #expect((transformer.reverseTransformedValue(archive) as? Swatch)?.shade == 4)
        #expect(transformer.transformedValue(nil) == nil && transformer.reverseTransformedValue(nil) == nil)
        let foreign = try NSKeyedArchiver.archivedData(withRootObject: NSDateComponents(), requiringSecureCoding: true)
        #expect(transformer.reverseTransformedValue(foreign) == nil)
        // The same holds for Core Data's own transformer, and inside collections.
        let standard = NSSecureUnarchiveFromDataTransformer()
        for value in [NSDateComponents(), [NSDateComponents()] as NSArray, ["a": [NSOrderedSet()]] as NSDictionary] {
            let bytes = try NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: true)
            #expect(standard.transformedValue(bytes) == nil)
        }
        let plain = try #require(standard.reverseTransformedValue(["a": [1, Date(), "x"]]))
        #expect((standard.transformedValue(plain) as? NSDictionary)?.count == 1)
        for bytes in [Data(), Data([0]), Data("bplist00".utf8), Data(repeating: 0xFF, count: 300)] {
            #expect(transformer.reverseTransformedValue(bytes) == nil)
        }
        for length in archive.indices {
            #expect(transformer.reverseTransformedValue(archive.prefix(length)) == nil)
        }
    }
}
