import Foundation
import Testing

@testable import ModelFiles

@Suite("Mistakes in models")
struct ModelValidationTests {
    private func mistakes(_ entities: ModelEntity...) -> [String] {
        Model(entities: entities).validate().map { "\($0.code.rawValue) \([$0.entity, $0.property].compactMap { $0 })" }
    }

    @Test("Names must be valid and unique")
    func names() {
        let twice = ModelEntity(
            name: "A", attributes: [ModelAttribute(name: "a", type: .string), ModelAttribute(name: "a", type: .date)])
        #expect(mistakes(twice) == ["duplicateName [\"A\", \"a\"]"])
        #expect(mistakes(ModelEntity(name: "A"), ModelEntity(name: "A")) == ["duplicateName [\"A\"]"])
        #expect(mistakes(ModelEntity(name: "1 A")) == ["invalidName [\"1 A\"]"])
        let inherited = ModelEntity(name: "B", parentName: "A", attributes: [ModelAttribute(name: "a", type: .string)])
        let parent = ModelEntity(name: "A", attributes: [ModelAttribute(name: "a", type: .string)])
        #expect(mistakes(parent, inherited) == ["duplicateName [\"B\", \"a\"]"])
    }

    @Test("Parents must exist and have no cycle")
    func parents() {
        #expect(mistakes(ModelEntity(name: "A", parentName: "X")) == ["unknownEntity [\"A\"]"])
        #expect(mistakes(ModelEntity(name: "A", parentName: "A")) == ["inheritanceCycle [\"A\"]"])
        #expect(
            mistakes(ModelEntity(name: "A", parentName: "B"), ModelEntity(name: "B", parentName: "A"))
                == ["inheritanceCycle [\"A\"]", "inheritanceCycle [\"B\"]"])
    }

    @Test("Relationships and their inverses must be consistent")
    func inverses() {
        func pair(_ inverse: ModelRelationship) -> [String] {
            mistakes(
                ModelEntity(
                    name: "A", relationships: [ModelRelationship(name: "b", destinationName: "B", inverseName: "a")]),
                ModelEntity(name: "B", relationships: [inverse]), ModelEntity(name: "C"))
        }
        #expect(pair(ModelRelationship(name: "a", destinationName: "A", inverseName: "b")) == [])
        #expect(
            pair(ModelRelationship(name: "a", destinationName: "A", inverseName: "x"))
                == ["inverseMismatch [\"A\", \"b\"]", "unknownProperty [\"B\", \"a\"]"])
        #expect(
            pair(ModelRelationship(name: "a", destinationName: "C", inverseName: "b"))
                == ["inverseMismatch [\"A\", \"b\"]", "unknownProperty [\"B\", \"a\"]"])
        #expect(
            pair(ModelRelationship(name: "z", destinationName: nil))
                == ["unknownProperty [\"A\", \"b\"]", "missingDestination [\"B\", \"z\"]"])
    }

    @Test("Limits, types, constraints and indexes must be valid")
    func properties() {
        var attribute = ModelAttribute(name: "a", type: .integer16, defaultValue: .integer(7))
        attribute.minimum = .integer(3)
        attribute.maximum = .integer(5)
        let entity = ModelEntity(
            name: "A", attributes: [attribute, ModelAttribute(name: "b", type: .undefined)],
            uniquenessConstraints: [["x"]],
            fetchIndexes: [ModelFetchIndex(name: "i", elements: [ModelFetchIndexElement(.property("y"))])])
        #expect(
            mistakes(entity) == [
                "contradictoryLimits [\"A\", \"a\"]", "missingType [\"A\", \"b\"]", "unknownProperty [\"A\"]",
                "unknownProperty [\"A\"]",
            ])
    }

    @Test("An error has its line")
    func line() throws {
        let text = "<model>\n<entity name='A'>\n<relationship name='b' destinationEntity='B'/>\n</entity>\n</model>"
        let error = try #require(try ModelSourceReader.read(Data(text.utf8), file: "contents").validate().first)
        #expect(error.description == "contents:3: The destination entity 'B' does not exist. (A.b)")
    }

    @Test("Composites that contain themselves are rejected")
    func composites() {
        let text = """
            <model><entity name='A'><attribute name='a' attributeType='Composite' composite='C'/></entity>
            <composite name='C'><attribute name='c' attributeType='Composite' composite='C'/></composite></model>
            """
        #expect(throws: ModelError.self) { try ModelSourceReader.read(Data(text.utf8)) }
    }
}
