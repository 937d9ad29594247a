import Foundation
import KeyedArchives
import PredicateLanguage
import Testing

@testable import ModelFiles

@Suite("Source models")
struct ModelSourceTests {
    private static let everything = """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" lastSavedToolsVersion="22758" \
        systemVersion="23E224" minimumToolsVersion="Automatic" sourceLanguage="Swift" \
        userDefinedModelVersionIdentifier="2">
            <entity name="Book" representedClassName=".Book" syncable="YES" codeGenerationType="class">
                <attribute name="cover" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
                <attribute name="isbn" attributeType="String" minValueString="0" maxValueString="13" \
        defaultValueString="" regularExpressionString="[0-9X]*"/>
                <attribute name="pageCount" optional="YES" attributeType="Integer 64" derived="YES" \
        derivationExpression="pages.@count" usesScalarValueType="NO"/>
                <attribute name="price" optional="YES" attributeType="Decimal" minValueString="0" \
        defaultValueString="9.99"/>
                <attribute name="printedAt" optional="YES" attributeType="Date" defaultDateTimeInterval="86400" \
        usesScalarValueType="NO"/>
                <attribute name="title" attributeType="String" elementID="name">
                    <userInfo>
                        <entry key="note" value="a &lt;b&gt; &amp; &quot;c&quot;&#10;d"/>
                    </userInfo>
                </attribute>
                <relationship name="pages" toMany="YES" minCount="1" maxCount="2000" deletionRule="Cascade" \
        ordered="YES" destinationEntity="Page" inverseName="book" inverseEntity="Page"/>
                <fetchedProperty name="twins" optional="YES">
                    <fetchRequest name="fetchedPropertyFetchRequest" entity="Book" \
        predicateString="title == $FETCH_SOURCE.title"/>
                </fetchedProperty>
                <fetchIndex name="byPrice">
                    <fetchIndexElement property="price" type="Binary" order="descending"/>
                    <fetchIndexElement expression="length(title)" expressionType="Integer 64" type="Binary" \
        order="ascending"/>
                </fetchIndex>
                <uniquenessConstraints>
                    <uniquenessConstraint>
                        <constraint value="isbn"/>
                    </uniquenessConstraint>
                </uniquenessConstraints>
            </entity>
            <entity name="Page" isAbstract="YES">
                <attribute name="place" optional="YES" attributeType="Composite" composite="Place"/>
                <relationship name="book" maxCount="1" deletionRule="No Action" destinationEntity="Book" \
        inverseName="pages" inverseEntity="Book"/>
            </entity>
            <composite name="Place">
                <attribute name="latitude" attributeType="Double" defaultValueString="0.5"/>
                <attribute name="note" optional="YES" transient="YES"/>
            </composite>
            <fetchRequest name="cheap" entity="Book" predicateString="price &lt; $LIMIT" fetchLimit="20"/>
            <configuration name="Cloud" usedWithCloudKit="YES">
                <memberEntity name="Book"/>
            </configuration>
        </model>
        """

    @Test("Every part of a source model is read")
    func reading() throws {
        let model = try ModelSourceReader.read(Data(Self.everything.utf8), file: "contents")
        let book = try #require(model.entity(named: "Book"))
        #expect(book.className == ".Book")
        #expect(book.codeGeneration == .classDefinition)
        #expect(book.position.line == 3)
        let attributes = Dictionary(uniqueKeysWithValues: book.attributes.map { ($0.name, $0) })
        #expect(attributes["cover"]?.allowsExternalBinaryDataStorage == true)
        #expect(attributes["isbn"]?.defaultValue == .string(""))
        #expect(attributes["isbn"]?.maximum == .integer(13))
        #expect(attributes["isbn"]?.validations.map(\.warning) == [.code(1670), .code(1660), .code(1680)])
        #expect(attributes["price"]?.defaultValue == .decimal(Decimal(string: "9.99") ?? 0))
        #expect(attributes["printedAt"]?.defaultValue == .date(Date(timeIntervalSinceReferenceDate: 86400)))
        #expect(attributes["title"]?.userInfo == ["note": "a <b> & \"c\"\nd"])
        #expect(attributes["title"]?.renamingIdentifier == "name")
        #expect(
            attributes["pageCount"]?.derivation?.expression == .function("count:", arguments: [.keyPath("pages")]))
        #expect(book.relationships[0].maximumCount == 2000)
        #expect(book.relationships[0].isOrdered)
        #expect(book.fetchIndexes[0].elements[0].isAscending == false)
        #expect(model.entity(named: "Page")?.attributes[0].elements.map(\.name) == ["latitude", "note"])
        #expect(model.fetchRequestTemplates[0].fetchRequest.fetchLimit == 20)
        #expect(model.configurations == [ModelConfiguration(name: "Cloud", entityNames: ["Book"], usesCloudKit: true)])
        #expect(model.validate() == [])
    }

    @Test("The output is that of the editor")
    func writing() throws {
        let model = try ModelSourceReader.read(Data(Self.everything.utf8))
        let text = String(decoding: try ModelSourceWriter.write(model), as: UTF8.self)
        let expected = Self.everything.replacingOccurrences(of: "length(title)", with: "length:(title)")
        #expect(text == expected)
        #expect(try ModelSourceReader.read(Data(text.utf8)) == model)
    }

    @Test("Reading, writing and reading again gives an equal model", arguments: Corpus.files("/contents"))
    func roundTrip(_ path: String) throws {
        let data = try Corpus.data(path)
        let model = try ModelSourceReader.read(data)
        #expect(model.validate() == [])
        let written = try ModelSourceWriter.write(model)
        #expect(try ModelSourceReader.read(written) == model)
        // Editors wrote numbers as both 0 and 0.0; everything else is equal byte for byte.
        func text(_ data: Data) -> String {
            String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
                .replacingOccurrences(of: "defaultValueString=\"0.0\"", with: "defaultValueString=\"0\"")
        }
        #expect(text(written) == text(data))
    }

    @Test("A bundle gives all versions and the current one", .enabled(if: Corpus.isPresent))
    func bundle() throws {
        let path = "duckduckgo+BrowserServicesKit/Sources/Bookmarks/BookmarksModel.xcdatamodeld"
        let file = try ModelFile.read(at: Corpus.url(path))
        #expect(file.kind == .sourceBundle)
        #expect(file.versions.count == 6)
        #expect(file.current.name == "BookmarksModel 6")
        let scratch = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString + ".xcdatamodeld")
        defer { try? FileManager.default.removeItem(at: scratch) }
        try file.writeSourceBundle(to: scratch)
        #expect(try ModelFile.read(at: scratch) == file)
        // The other versions are not read.
        let other = scratch.appendingPathComponent("BookmarksModel 2.xcdatamodel/contents")
        try Data("<model>".utf8).write(to: other)
        #expect(try ModelFile.readCurrentModel(at: scratch) == file.model)
        #expect(throws: ModelError.self) { try ModelFile.read(at: scratch) }
    }

    @Test("Errors are reported with their line")
    func mistakes() throws {
        func line(_ text: String) -> (ModelError.Code, Int?)? {
            do {
                _ = try ModelSourceReader.read(Data(text.utf8), file: "contents")
                return nil
            } catch {
                let error = error as? ModelError
                return error.map { ($0.code, $0.line) }
            }
        }
        let cases: [(String, ModelError.Code, Int)] = [
            ("<model>\n<entity/>\n</model>", .invalidName, 2),
            (
                "<model>\n<entity name='A'>\n<attribute name='a' attributeType='Colour'/></entity></model>",
                .invalidValue, 3
            ),
            ("<model>\n<entity name='A' isAbstract='maybe'/></model>", .invalidValue, 2),
            ("<model>\n<entity name='A'>\n", .malformedFile, 3),
            ("<model>\n<fetchRequest name='f' entity='A' predicateString='a =='/></model>", .invalidPredicate, 2),
            ("<plist/>", .unknownFormat, 1),
        ]
        for (text, code, expected) in cases {
            let found = line(text)
            #expect(found?.0 == code, "\(text)")
            #expect(found?.1 == expected, "\(text)")
        }
        #expect(line("")?.0 == .malformedFile)
        #expect(line(String(repeating: "<a>", count: 100_000))?.0 == .malformedFile)
    }

    @Test func `all invalid values are reported, each with its line`() throws {
        let source = """
            <model>
                <entity name="Note">
                    <attribute name="title" attributeType="Sting"/>
                    <attribute name="rank" attributeType="Double" optional="MAYBE"/>
                    <attribute name="text" attributeType="String"/>
                </entity>
                <entity name="Tag"><relationship name="notes" deletionRule="Explode"/></entity>
                <composite name="Place"><attribute name="x" attributeType="Dubble"/></composite>
            </model>
            """
        let error = try #require(throws: ModelError.self) { try ModelSourceReader.read(Data(source.utf8), file: "m") }
        #expect(
            error.all.map(\.description) == [
                "m:3: The attribute type 'Sting' is unknown. Did you mean \"String\"? (Note.title)",
                "m:4: optional is 'MAYBE', neither YES nor NO. (Note.rank)",
                "m:7: The delete rule 'Explode' is unknown. There are: Cascade, Deny, No Action, Nullify. (Tag.notes)",
                "m:8: The attribute type 'Dubble' is unknown. Did you mean \"Double\"? (x)",
            ])
        #expect(error.description.hasSuffix("3 more errors were found."))
    }
}
