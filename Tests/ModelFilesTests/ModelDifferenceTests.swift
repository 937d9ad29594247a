import ModelFiles
import Testing

/// The differences between two versions of a model.
@Suite struct ModelDifferenceTests {
    private func model(_ change: (inout Model) -> Void = { _ in }) -> Model {
        var base = ModelEntity(name: "Base", attributes: [ModelAttribute(name: "uuid", type: .uuid)])
        base.isAbstract = true
        var note = ModelEntity(name: "Note", attributes: [ModelAttribute(name: "title", type: .string)])
        note.parentName = "Base"
        note.relationships = [
            ModelRelationship(name: "items", destinationName: "Item", inverseName: "note", maximumCount: 0)
        ]
        let item = ModelEntity(
            name: "Item",
            relationships: [ModelRelationship(name: "note", destinationName: "Note", inverseName: "items")])
        var model = Model(entities: [base, note, item])
        change(&model)
        return model
    }

    @Test func `a model does not differ from itself`() {
        #expect(ModelDifference(from: model(), to: model()).isEmpty)
    }

    @Test func `settings of tools and classes change no hash`() {
        let difference = ModelDifference(from: model(), to: model { $0.entities[1].className = "MyNote" })
        #expect(difference.changes.map(\.kind) == [.changed(aspect: "class", old: "", new: "MyNote")])
        #expect(difference.differentHashes.isEmpty)
    }

    @Test func `a property with a renaming identifier is renamed, not removed and added`() {
        let renamed = model {
            $0.entities[1].attributes[0].name = "heading"
            $0.entities[1].attributes[0].renamingIdentifier = "title"
        }
        let difference = ModelDifference(from: model(), to: renamed)
        #expect(difference.changes.first?.kind == .renamed(from: "title"))
        #expect(difference.mapping.obstacles.isEmpty)
        #expect(difference.differentHashes == ["Note"])
    }

    @Test func `an attribute that moves down the hierarchy is the same attribute`() {
        let moved = model {
            $0.entities[1].parentName = nil
            $0.entities[1].attributes.append(ModelAttribute(name: "uuid", type: .uuid))
        }
        let difference = ModelDifference(from: model(), to: moved)
        #expect(difference.changes.contains { $0.kind == .changed(aspect: "declared by", old: "Base", new: "Note") })
        #expect(!difference.changes.contains { $0.kind == .added })
        #expect(difference.mapping.obstacles.isEmpty)
    }

    @Test func `changes that cannot be inferred are listed`() {
        let changed = model {
            $0.entities[1].attributes[0].type = .integer64
            $0.entities[1].relationships[0].maximumCount = 1
            $0.entities[2].attributes = [ModelAttribute(name: "price", type: .decimal)]
        }
        let obstacles = ModelDifference(from: model(), to: changed).mapping.obstacles
        #expect(obstacles.map { "\($0.entity).\($0.property ?? "")" } == ["Item.price", "Note.items", "Note.title"])
    }

    @Test func `warnings list likely mistakes`() {
        let careless = model {
            $0.entities[1].attributes.append(ModelAttribute(name: "description", type: .string))
            $0.entities[1].attributes.append(ModelAttribute(name: "Body", type: .string))
            $0.entities[1].relationships[0].inverseName = nil
            $0.entities[2].relationships = []
        }
        #expect(careless.warnings().map(\.code) == [.reservedName, .unusualName, .missingInverse])
        #expect(model().warnings().isEmpty)
    }

    @Test func `an inverse with the name of another entity than the destination is a likely mistake`() {
        func codes(_ name: String) -> [ModelError.Code] {
            model { $0.entities[1].relationships[0].inverseEntityName = name }.warnings().map(\.code)
        }
        #expect(codes("Item") == [])
        #expect(codes("Base") == [.inverseMismatch])
        #expect(codes("Nothing") == [.inverseMismatch])
    }

    @Test(
        "The sources of real apps name the destination as the entity of the inverse",
        arguments: Corpus.files("/contents"))
    func inverseEntities(_ path: String) throws {
        let model = try ModelSourceReader.read(Corpus.data(path))
        #expect(model.warnings().filter { $0.code == .inverseMismatch } == [])
    }
}
