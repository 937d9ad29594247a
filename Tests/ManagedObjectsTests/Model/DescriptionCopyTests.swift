import Foundation
import Testing

@testable import ManagedObjects

/// Copies of models whose descriptions are of a program's own classes.
@Suite struct DescriptionCopyTests {
    /// A class without `init()`.
    private final class Labelled: NSAttributeDescription, @unchecked Sendable {  // because its superclass is
        var label: String

        init(_ label: String) {
            self.label = label
            super.init()
        }

        required init?(coder: NSCoder) {
            label = coder.decodeObject(forKey: "label") as? String ?? "none"
            super.init(coder: coder)
        }

        override func copy(with zone: NSZone? = nil) -> Any {
            let copy = super.copy(with: zone)
            (copy as? Labelled)?.label = label
            return copy
        }
    }

    private final class Described: NSEntityDescription, @unchecked Sendable {}  // because its superclass is

    private final class Counted: NSManagedObjectModel, @unchecked Sendable {  // because its superclass is
        let count = 3
    }

    @Test func `a copy has the class of the original`() throws {
        let attribute = Labelled("first")
        attribute.name = "title"
        attribute.attributeType = .stringAttributeType
        let (base, note) = (Described(), Described())
        (base.name, note.name) = ("Base", "Note")
        base.subentities = [note]
        note.properties = [attribute]
        let model = Counted()
        model.entities = [base, note]
        let copy = try #require(model.copy() as? Counted)
        #expect(copy.count == 3)
        let copiedNote = try #require(copy.entitiesByName["Note"] as? Described)
        let copiedAttribute = try #require(copiedNote.attributesByName["title"] as? Labelled)
        #expect(copiedAttribute !== attribute)
        #expect(copiedAttribute.label == "first")
        #expect(copiedAttribute.attributeType == .stringAttributeType)
        #expect((base.copy() as? Described)?.subentities.first is Described)
        #expect(copy == model)
    }
}
