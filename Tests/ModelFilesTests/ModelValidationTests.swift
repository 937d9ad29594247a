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

    @Test(
        "Defaults and limits must fit the integer's width",
        arguments: [
            (ModelAttributeType.integer16, Int64(Int16.min), Int64(Int16.max)),
            (.integer32, Int64(Int32.min), Int64(Int32.max)), (.integer64, .min, .max),
        ])
    func widths(type: ModelAttributeType, least: Int64, greatest: Int64) {
        func count(_ change: (inout ModelAttribute) -> Void) -> Int {
            var attribute = ModelAttribute(name: "a", type: type)
            change(&attribute)
            return mistakes(ModelEntity(name: "A", attributes: [attribute])).count
        }
        for value in [least, greatest, 0] { #expect(count { $0.defaultValue = .integer(value) } == 0) }
        #expect(count { ($0.minimum, $0.maximum) = (.integer(least), .integer(greatest)) } == 0)
        // Doubles do not distinguish these.
        #expect(count { ($0.minimum, $0.maximum) = (.integer(greatest), .integer(greatest - 1)) } == 1)
        #expect(count { ($0.defaultValue, $0.minimum) = (.integer(greatest - 1), .integer(greatest)) } == 1)
        guard type != .integer64 else { return }
        for value in [least - 1, greatest + 1, 70_000, .max] where value < least || value > greatest {
            #expect(count { $0.defaultValue = .integer(value) } == 1)
        }
        #expect(count { $0.minimum = .integer(greatest + 1) } == 1)
        #expect(count { $0.maximum = .integer(least - 1) } == 1)
        // Usual, and harmless.
        #expect(count { ($0.minimum, $0.maximum) = (.integer(0), .integer(greatest + 1)) } == 0)
    }

    @Test("The text of a default or limit must fit its type", arguments: ["16", "32", "64"])
    func texts(width: String) throws {
        let tooLarge = ["16": "70000", "32": "3000000000", "64": "9223372036854775808"][width] ?? ""
        func mistakes(_ attributes: String) throws -> Int {
            let text = """
                <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0"><entity name="A">
                <attribute name="a" attributeType="Integer \(width)" \(attributes)/></entity></model>
                """
            do { return try ModelSourceReader.read(Data(text.utf8)).validate().count } catch is ModelError { return 1 }
        }
        #expect(try mistakes(#"defaultValueString="7" minValueString="-7" maxValueString="70""#) == 0)
        for text in [tooLarge, "-\(tooLarge)1", "many"] {
            #expect(try mistakes(#"defaultValueString="\#(text)""#) == 1, "\(text)")
        }
        #expect(try mistakes(#"minValueString="\#(tooLarge)""#) == 1)
        #expect(try mistakes(#"maxValueString="-\#(tooLarge)1""#) == 1)
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
        #expect(
            error.description == "contents:3: The destination entity 'B' does not exist. There are: A. (A.b)")
    }

    @Test("An XML attribute without a meaning is a warning")
    func unknownAttributes() throws {
        let text = """
            <model>
            <entity name='A' isabstract='YES' syncable='YES'>
            <attribute name='day' attributeType='Date' optionl='YES' defaultDateTimeInterval='0' defaultValueString='x'/>
            <attribute name='sum' attributeType='Double' derived='YES' derivationExpression='b.@count'/>
            <relationship name='b' toMany='YES' orderd='YES' destinationEntity='A' elementID='c' renamingIdentifier='c'/>
            </entity>
            </model>
            """
        let model = try ModelSourceReader.read(Data(text.utf8), file: "contents")
        #expect(
            model.warnings().filter { $0.code == .unknownAttribute }.map(\.description) == [
                "contents:2: The XML attribute 'isabstract' is unknown and has no effect. (A)",
                "contents:3: The XML attribute 'optionl' is unknown and has no effect. (A.day)",
                "contents:5: The XML attribute 'orderd' is unknown and has no effect. (A.b)",
            ])
    }

    @Test("An unknown name gets a suggestion")
    func suggestions() {
        let title = ModelAttribute(name: "title", type: .string)
        let note = ModelEntity(
            name: "Note", attributes: [title],
            relationships: [ModelRelationship(name: "tag", destinationName: "Tga", inverseName: nil)],
            uniquenessConstraints: [["titel"]])
        let messages = Model(entities: [note, ModelEntity(name: "Tag")]).validate().map(\.message)
        #expect(
            messages.contains(
                "A uniqueness constraint contains the unknown property 'titel'. Did you mean \"title\"?"))
        #expect(messages.contains("The destination entity 'Tga' does not exist. Did you mean \"Tag\"?"))
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
