import Coral
import NotesModel
import Testing

@testable import Coral

/// A shape determines a part of the graph, and misspelt names are errors.
@Suite struct ShapeTests {
    private func plan(_ shape: GraphShape, _ entity: String) throws -> EntityPlan {
        let model = NSManagedObjectModel.notes()
        let description = try #require(model.entitiesByName[entity])
        return try ShapePlan(shape, model: model).plan(for: description)
    }

    @Test func `ownership follows the delete rules`() throws {
        let embedded = try plan(.ownership, "Note").relationships.filter(\.isEmbedded).map(\.name)
        #expect(embedded == ["items"])
    }

    @Test func `a rule in code takes precedence over the delete rule`() throws {
        let shape = GraphShape.ownership.with("Note.items", .reference).with("Item.note.tags", .embed)
        #expect(try plan(shape, "Note").relationships.filter(\.isEmbedded).map(\.name) == ["tags"])
        let without = GraphShape.ownership.with("Note.author", .omit)
        #expect(try plan(without, "Note").relationships.map(\.name) == ["items", "tags"])
    }

    @Test func `entities and properties are excluded, and relationships to excluded entities`() throws {
        let shape = GraphShape.everything.excluding("Person", "Note.body", "Note.items.price")
        let note = try plan(shape, "Note")
        #expect(!note.attributes.map(\.name).contains("body"))
        #expect(note.relationships.map(\.name) == ["items", "tags"])
        #expect(try plan(shape, "Item").attributes.map(\.name) == ["name", "quantity"])
    }

    @Test func `a misspelt name is an error with a suggestion`() {
        #expect(
            throws: ShapeError(.unknownEntity, #"The model has no entity "Nota". Did you mean "Note"?"#, at: "Nota")
        ) {
            try plan(.ownership.excluding("Nota"), "Note")
        }
        #expect(
            throws: ShapeError(
                .unknownProperty, #"Note has no property "itmes". Did you mean "items"?"#, at: "Note.itmes")
        ) {
            try plan(.ownership.with("Note.itmes", .embed), "Note")
        }
        #expect(throws: ShapeError(.wrongKind, "Note.title is not a relationship.", at: "Note.title")) {
            try plan(.ownership.with("Note.title", .embed), "Note")
        }
    }

    @Test func `primary keys are stored as ranges`() {
        var ranges = PrimaryKeyRanges()
        #expect(!ranges.contains(1))
        for key in [1, 2, 3, 5, 9, 9, .max] as [Int64] { ranges.append(key) }
        #expect([1, 2, 3, 5, 9, .max].allSatisfy(ranges.contains))
        #expect(![0, 4, 6, 8, 10].contains(where: ranges.contains))
    }
}
