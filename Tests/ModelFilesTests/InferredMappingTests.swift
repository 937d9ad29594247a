import Foundation
import ModelFiles
import Testing

/// The mappings that can be inferred from two models, and the obstacles. The rules are those of Apple's documentation of
/// lightweight migration; numeric conversions are those that shipped apps migrate without a mapping model.
@Suite struct InferredMappingTests {
    private func model(_ entities: ModelEntity...) -> Model { Model(entities: entities) }

    private func entity(
        _ name: String, parent: String? = nil, was identifier: String? = nil, _ attributes: ModelAttribute...
    ) -> ModelEntity {
        var entity = ModelEntity(name: name, parentName: parent, attributes: attributes)
        entity.renamingIdentifier = identifier
        return entity
    }

    private func attribute(
        _ name: String, _ type: ModelAttributeType = .string, optional: Bool = true, was identifier: String? = nil,
        default value: ModelValue? = nil
    ) -> ModelAttribute {
        var attribute = ModelAttribute(name: name, type: type, isOptional: optional, defaultValue: value)
        attribute.renamingIdentifier = identifier
        return attribute
    }

    private func obstacles(_ old: Model, _ new: Model) -> [String] {
        InferredMapping(from: old, to: new).obstacles.map { "\($0.entity).\($0.property ?? "")" }
    }

    @Test func `entity mappings are named as Apple's framework names them`() {
        let old = model(entity("Kept", attribute("a")), entity("Changed", attribute("a")), entity("Gone"))
        let new = model(
            entity("Kept", attribute("a")), entity("Changed", attribute("a"), attribute("b")), entity("New"))
        let mapping = InferredMapping(from: old, to: new)
        #expect(mapping.obstacles.isEmpty)
        #expect(
            mapping.entities.map(\.name) == [
                "IEM_Transform_Changed", "IEM_Copy_Kept", "IEM_Add_New", "IEM_Remove_Gone",
            ])
        #expect(
            mapping.entities[0].attributes == [.init(name: "a", sourceName: "a"), .init(name: "b", sourceName: nil)])
    }

    @Test func `renaming identifiers chain over several versions`() {
        let first = model(entity("A", attribute("x")))
        let second = model(entity("B", was: "A", attribute("y", was: "x")))
        let third = model(entity("C", was: "A", attribute("z", was: "x")))
        for (old, new) in [(first, second), (second, third), (first, third)] {
            let mapping = InferredMapping(from: old, to: new)
            #expect(mapping.entities.count == 1)
            #expect(mapping.entities.first?.sourceName == old.entities[0].name)
            #expect(mapping.entities.first?.attributes.first?.sourceName == old.entities[0].attributes[0].name)
        }
    }

    @Test func `an identifier takes precedence over an equal name`() {
        let old = model(entity("Note", attribute("text")))
        let new = model(entity("Note", attribute("text"), attribute("body", was: "text")))
        let attributes = InferredMapping(from: old, to: new).entities.first?.attributes
        #expect(attributes == [.init(name: "body", sourceName: "text"), .init(name: "text", sourceName: nil)])
    }

    /// The identifier is the name of a part that is newer than the renaming.
    @Test(arguments: [["name", "title"], ["title", "name"]])
    func `a renamed part stays the same when its former name is used again`(order: [String]) {
        func version(_ names: [String], _ others: ModelAttribute...) -> Model {
            let parts = ["title": attribute("title", was: "name"), "name": attribute("name")]
            let attributes = names.compactMap { parts[$0] } + others
            return Model(entities: [ModelEntity(name: "Note", attributes: attributes)])
        }
        let attributes = InferredMapping(from: version(order), to: version(order, attribute("new"))).entities.first?
            .attributes.sorted { $0.name < $1.name }
        #expect(
            attributes == [
                .init(name: "name", sourceName: "name"), .init(name: "new", sourceName: nil),
                .init(name: "title", sourceName: "title"),
            ])
        // The next renaming, with the same identifier, beside the other part.
        let renamed = InferredMapping(
            from: version(order), to: version(["name"], attribute("heading", was: "name"))
        ).entities.first?.attributes.sorted { $0.name < $1.name }
        #expect(
            renamed == [.init(name: "heading", sourceName: "title"), .init(name: "name", sourceName: "name")])
        func entities(_ names: [String]) -> [ModelEntity] {
            names.map { name in
                var made = entity(name, attribute("text"))
                if name == "title" { made.renamingIdentifier = "name" }
                return made
            }
        }
        let match = ModelMatch(
            from: Model(entities: entities(order)), to: Model(entities: entities(order) + [entity("new")]))
        #expect(match.oldName(of: "title") == "title" && match.oldName(of: "name") == "name")
    }

    @Test(arguments: [
        (ModelAttributeType.integer16, ModelAttributeType.integer64, true), (.integer16, .integer32, true),
        (.integer64, .double, true), (.float, .double, true), (.integer32, .integer16, false),
        (.double, .integer64, false), (.integer64, .decimal, false), (.string, .integer64, false),
        (.boolean, .integer16, false), (.string, .uri, false),
    ])
    func `numbers widen, and nothing else changes its type`(
        before: ModelAttributeType, after: ModelAttributeType, isInferred: Bool
    ) {
        let found = obstacles(
            model(entity("Note", attribute("value", before))), model(entity("Note", attribute("value", after))))
        #expect(found == (isInferred ? [] : ["Note.value"]))
    }

    @Test func `a required attribute needs a default where objects exist`() {
        let old = model(entity("Note", attribute("text")))
        let required = attribute("text", optional: false)
        let filled = attribute("text", optional: false, default: .string(""))
        #expect(obstacles(old, model(entity("Note", required))) == ["Note.text"])
        #expect(obstacles(old, model(entity("Note", filled))).isEmpty)
        #expect(
            obstacles(old, model(entity("Note", attribute("text"), attribute("new", optional: false)))) == ["Note.new"])
        // A new entity has no objects.
        #expect(obstacles(old, model(entity("Note", attribute("text")), entity("Item", required))).isEmpty)
        // A new parent's attribute is listed once, at the parent.
        let children = model(entity("Base", required), entity("Note", parent: "Base", attribute("body", was: "other")))
        #expect(obstacles(model(entity("Note")), children) == ["Base.text"])
    }

    @Test func `hierarchies can be created and divided, but not merged`() {
        let apart = model(entity("Snake"), entity("Mouse"))
        let together = model(entity("Animal"), entity("Snake", parent: "Animal"), entity("Mouse", parent: "Animal"))
        #expect(obstacles(apart, together) == ["Snake."])
        #expect(obstacles(together, apart).isEmpty)
        #expect(obstacles(model(entity("Snake")), model(entity("Animal"), entity("Snake", parent: "Animal"))).isEmpty)
        #expect(obstacles(apart, model(entity("Snake"), entity("Mouse", parent: "Snake"))) == ["Snake."])
    }

    @Test func `a property keeps its kind, but a former identifier may be the name of another kind`() {
        func note(_ attribute: ModelAttribute?, relationship name: String? = nil) -> ModelEntity {
            var note = ModelEntity(name: "Note", attributes: [attribute].compactMap(\.self))
            note.relationships = [name].compactMap(\.self).map { ModelRelationship(name: $0, destinationName: "Cover") }
            return note
        }
        let cover = ModelEntity(name: "Cover")
        let old = model(note(attribute("front", was: "cover")), cover)
        let new = model(note(attribute("front"), relationship: "cover"), cover)
        let mapping = InferredMapping(from: old, to: new)
        #expect(mapping.obstacles.isEmpty)
        let mapped = mapping.entities.first { $0.sourceName == "Note" }
        #expect(mapped?.attributes == [.init(name: "front", sourceName: "front")])
        #expect(mapped?.relationships == [])
        // Also without the attribute.
        #expect(obstacles(old, model(note(nil, relationship: "cover"), cover)).isEmpty)
        #expect(obstacles(old, model(note(nil, relationship: "front"), cover)) == ["Note.front"])
    }

    @Test func `relationships become to-many and ordered, not to-one`() {
        func notes(_ maximum: Int, ordered: Bool = false, to destination: String = "Item") -> Model {
            var note = ModelEntity(name: "Note")
            note.relationships = [
                ModelRelationship(
                    name: "items", destinationName: destination, maximumCount: maximum, isOrdered: ordered)
            ]
            return Model(entities: [
                note, ModelEntity(name: "Base"), ModelEntity(name: "Item", parentName: "Base"),
                ModelEntity(name: "Other"),
            ])
        }
        #expect(obstacles(notes(1), notes(0)).isEmpty)
        #expect(obstacles(notes(0), notes(0, ordered: true)).isEmpty)
        #expect(obstacles(notes(0, ordered: true), notes(0)).isEmpty)
        #expect(obstacles(notes(0), notes(1)) == ["Note.items"])
        #expect(obstacles(notes(1), notes(1, to: "Base")).isEmpty)
        #expect(obstacles(notes(1), notes(1, to: "Other")) == ["Note.items"])
    }
}
