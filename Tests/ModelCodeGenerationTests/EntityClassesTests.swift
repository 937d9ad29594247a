import Foundation
import ModelCodeGeneration
import ModelFiles
import Testing

/// The classes that Xcode generates, compared as text.
@Suite struct EntityClassesTests {
    private func classes(_ entities: String, moduleName: String? = "App") throws -> EntityClasses {
        let xml = "<?xml version=\"1.0\"?>\n<model>\n\(entities)\n</model>"
        let model = try ModelSourceReader.read(Data(xml.utf8), file: "Model/contents")
        return try EntityClasses(of: model, named: "Model.xcdatamodeld", moduleName: moduleName)
    }

    private func errors(_ entities: String) -> [String] {
        do {
            _ = try classes(entities)
            return []
        } catch let errors as EntityClassErrors {
            return errors.errors.map(\.compilerMessage)
        } catch {
            return ["\(error)"]
        }
    }

    @Test("A whole class: the parts for Apple's platforms and for others")
    func wholeClass() throws {
        let text = try classes(
            """
            <entity name="Note" representedClassName="Note" codeGenerationType="class">
                <attribute name="title" attributeType="String"/>
                <relationship name="folder" maxCount="1" destinationEntity="Folder" inverseName="notes"/>
            </entity>
            <entity name="Folder" representedClassName=".Folder" codeGenerationType="class">
                <attribute name="name" optional="YES" attributeType="String"/>
                <relationship name="notes" toMany="YES" destinationEntity="Note" inverseName="folder"/>
            </entity>
            """
        ).text()
        let expected = """
            // Generated from Model.xcdatamodeld. Do not edit: change the model instead.

            import CoreData
            import Foundation

            // MARK: - Note

            #if canImport(Darwin)
            @objc(Note)
            #endif
            public class Note: NSManagedObject {

            }

            extension Note {
                @nonobjc public class func fetchRequest() -> NSFetchRequest<Note> {
                    return NSFetchRequest<Note>(entityName: "Note")
                }
            }

            #if canImport(Darwin)
            extension Note {
                @NSManaged public var title: String?
                @NSManaged public var folder: Folder?
            }
            #else
            extension Note {
                private enum ManagedProperties {
                    static let title = ManagedProperty<String?>("title")
                    static let folder = ManagedProperty<Folder?>("folder")
                }

                public var title: String? {
                    get { ManagedProperties.title[self] }
                    set { ManagedProperties.title[self] = newValue }
                }

                public var folder: Folder? {
                    get { ManagedProperties.folder[self] }
                    set { ManagedProperties.folder[self] = newValue }
                }
            }

            extension Note: GeneratedManagedObject {
                public static func registerGeneratedKeyPaths() {
                    KeyPathRegistry.register(\\Note.title, as: "title")
                    KeyPathRegistry.register(\\Note.folder, as: "folder")
                    KeyPathRegistry.register(\\Note.folder?.name, as: "folder.name")
                }
            }
            #endif

            extension Note: Identifiable {

            }

            // MARK: - Folder

            """
        #expect(text.hasPrefix(expected))
        #expect(text.hasSuffix("extension Folder: Identifiable {\n\n}\n"))
    }

    @Test(
        "The type of each kind of attribute, as an object and as a scalar",
        arguments: [
            ("String", nil, "String?"), ("Integer 16", "YES", "Int16"), ("Integer 32", "YES", "Int32"),
            ("Integer 64", "YES", "Int64"), ("Integer 64", "NO", "NSNumber?"), ("Integer 64", nil, "NSNumber?"),
            ("Double", "YES", "Double"), ("Float", "YES", "Float"), ("Boolean", "YES", "Bool"),
            ("Boolean", "NO", "NSNumber?"), ("Decimal", "NO", "NSDecimalNumber?"), ("Date", "NO", "Date?"),
            ("Date", "YES", "TimeInterval"), ("Binary", nil, "Data?"), ("UUID", "NO", "UUID?"), ("URI", nil, "URL?"),
            ("Transformable", nil, "NSObject?"), ("ObjectID", nil, "NSManagedObjectID?"),
        ] as [(String, String?, String)])
    func attributeTypes(type: String, scalar: String?, expected: String) throws {
        let flag = scalar.map { " usesScalarValueType=\"\($0)\"" } ?? ""
        for optional in ["YES", "NO"] {
            let text = try classes(
                """
                <entity name="Note" representedClassName="Note" codeGenerationType="class">
                    <attribute name="value" optional="\(optional)" attributeType="\(type)"\(flag)/>
                </entity>
                """
            ).text()
            #expect(text.contains("@NSManaged public var value: \(expected)\n"))
            #expect(text.contains("    public var value: \(expected) {\n"))
        }
    }

    @Test("Composites, classes of transformables, fetched properties, and types with the name of an entity")
    func otherTypes() throws {
        let text = try classes(
            """
            <entity name="Date" representedClassName="Date" codeGenerationType="class">
                <attribute name="at" attributeType="Date" usesScalarValueType="NO"/>
                <attribute name="tags" attributeType="Transformable" customClassName="[String]"/>
                <attribute name="size" attributeType="Composite" composite="Size"/>
                <fetchedProperty name="others">
                    <fetchRequest entity="Date" predicateString="at == nil"/>
                </fetchedProperty>
            </entity>
            <composite name="Size">
                <attribute name="width" attributeType="Double"/>
            </composite>
            """
        ).text()
        #expect(text.contains("public var at: Foundation.Date?"))
        #expect(text.contains("public var tags: [String]?"))
        #expect(text.contains("public var size: [String: Any]?"))
        #expect(text.contains("public var others: [Date]? { value(forKey: \"others\") as? [Date] }"))
    }

    @Test("Accessors of to-many relationships, and more of ordered ones")
    func accessors() throws {
        let text = try classes(
            """
            <entity name="Note" representedClassName="Note" codeGenerationType="class">
                <relationship name="items" toMany="YES" ordered="YES" destinationEntity="Item"/>
                <relationship name="tags" toMany="YES" destinationEntity="Tag"/>
            </entity>
            <entity name="Item" representedClassName="Item"/>
            <entity name="Tag"/>
            """
        ).text()
        for signature in [
            "insertIntoItems(_ value: Item, at idx: Int)", "removeFromItems(at idx: Int)",
            "insertIntoItems(_ values: [Item], at indexes: NSIndexSet)", "removeFromItems(at indexes: NSIndexSet)",
            "replaceItems(at idx: Int, with value: Item)",
            "replaceItems(at indexes: NSIndexSet, with values: [Item])", "addToItems(_ value: Item)",
            "removeFromItems(_ value: Item)", "addToItems(_ values: NSOrderedSet)",
            "removeFromItems(_ values: NSOrderedSet)", "addToTags(_ value: NSManagedObject)",
            "addToTags(_ values: NSSet)", "removeFromTags(_ value: NSManagedObject)", "removeFromTags(_ values: NSSet)",
        ] {
            #expect(text.contains("@NSManaged public func \(signature)\n"))
            #expect(text.contains("public func \(signature) {\n"))
        }
        // Literals of NSSet exist on Apple's platforms only.
        #expect(text.contains("public func addToTags(_ values: [NSManagedObject]) {\n"))
        #expect(!text.contains("@NSManaged public func addToTags(_ values: [NSManagedObject])"))
        #expect(!text.contains("addToItems(_ values: [Item])"))
        #expect(text.contains("@objc(replaceItemsAtIndexes:withItems:)"))
        #expect(!text.contains("insertIntoTags"))
    }

    @Test("Each kind of code generation: a class, an extension only, nothing")
    func codeGeneration() throws {
        let classes = try classes(
            """
            <entity name="A" representedClassName="A" codeGenerationType="class"/>
            <entity name="B" representedClassName="B" codeGenerationType="category">
                <attribute name="b" attributeType="String"/>
            </entity>
            <entity name="C" representedClassName="C"/>
            <entity name="D" codeGenerationType="class"/>
            """)
        #expect(classes.classNames == ["A", "B"])
        let text = classes.text()
        #expect(text.contains("class A: NSManagedObject"))
        #expect(!text.contains("class B"))
        #expect(text.contains("extension B: Identifiable"))
        let files = classes.files()
        #expect(
            files.map(\.name) == ["A+CoreDataClass.swift", "A+CoreDataProperties.swift", "B+CoreDataProperties.swift"])
        #expect(files.map(\.isEditable) == [true, false, false])
    }

    @Test("A subentity's class inherits; the topmost generated class registers all key paths")
    func inheritance() throws {
        let text = try classes(
            """
            <entity name="Special" representedClassName="Special" parentEntity="Base" codeGenerationType="class">
                <attribute name="extra" attributeType="String"/>
            </entity>
            <entity name="Base" representedClassName="Base" isAbstract="YES" codeGenerationType="category">
                <attribute name="name" attributeType="String"/>
            </entity>
            """
        ).text()
        #expect(text.contains("public class Special: Base {"))
        #expect(!text.contains("extension Special: Identifiable"))
        #expect(!text.contains("extension Special: GeneratedManagedObject"))
        for path in ["Special.name", "Special.extra", "Base.name"] {
            #expect(text.components(separatedBy: "register(\\\(path), ").count == 2)
        }
    }

    @Test("Names that are reserved words of Swift are in backticks")
    func reservedWords() throws {
        let text = try classes(
            """
            <entity name="Note" representedClassName="Note" codeGenerationType="class">
                <attribute name="default" attributeType="String"/>
                <relationship name="class" toMany="YES" destinationEntity="Note"/>
            </entity>
            """
        ).text()
        #expect(text.contains("public var `default`: String? {"))
        #expect(text.contains("ManagedProperty<String?>(\"default\")"))
        #expect(text.contains("func addToClass(_ value: Note)"))
    }

    @Test("The same model gives the same text")
    func determinism() throws {
        let entities = (0..<20).map { number in
            """
            <entity name="E\(number)" representedClassName="E\(number)" codeGenerationType="class">
                <relationship name="next" maxCount="1" destinationEntity="E\((number + 1) % 20)"/>
            </entity>
            """
        }.joined()
        #expect(try classes(entities).text() == classes(entities).text())
    }

    @Test("A name of a class that would be other code is an error, and the types that Xcode accepts are not")
    func hostileNames() throws {
        func entity(_ className: String, _ type: String = "NSArray", isManual: Bool = false) -> String {
            "<entity name=\"A\" representedClassName=\"\(className)\""
                + (isManual ? "" : " codeGenerationType=\"class\"") + ">"
                + "<attribute name=\"value\" attributeType=\"Transformable\" customClassName=\"\(type)\"/></entity>"
        }
        #expect(
            errors(entity("My Class"))
                == ["Model/contents:3: error: \"My Class\" cannot be the name of a class. (A)"])
        #expect(errors(entity("A { } func f() { } class B")).count == 1)
        #expect(errors(entity("../A+B")).count == 1)
        #expect(errors(entity("Foo-Bar")).count == 1)
        #expect(errors(entity("_")).count == 1)
        #expect(try classes(entity("class")).text().contains("public class `class`: NSManagedObject {"))
        #expect(
            errors(entity("A", "NSArray? { get { nil } }"))
                == [
                    "Model/contents:3: error: \"NSArray? { get { nil } }\" cannot be the name of a type. (A.value)"
                ])
        let other = "<entity name=\"B\" representedClassName=\"B\" codeGenerationType=\"class\"/>"
        #expect(errors(entity("My Class", isManual: true) + other).count == 1)
        #expect(errors(entity("My Class", isManual: true)).isEmpty)
        let types = [
            "[String]", "[String: [Int]]", "Array&lt;Colour&gt;", "App.Colour", "(any NSCopying &amp; NSCoding)",
        ]
        for type in types {
            #expect(errors(entity(".A_1", type)).isEmpty, "\(type)")
        }
        #expect(errors(entity("Änderung")).isEmpty)
    }

    @Test("Errors are lines in the format of compilers")
    func mistakes() {
        #expect(
            errors(
                "<entity name=\"A\" representedClassName=\"A\" codeGenerationType=\"class\">\n"
                    + "<attribute name=\"description\" attributeType=\"String\"/></entity>")
                == [
                    "Model/contents:4: error: NSManagedObject has a member 'description': a property cannot have"
                        + " this name. (A.description)"
                ])
        #expect(
            errors("<entity name=\"A\">\n<relationship name=\"b\" maxCount=\"1\" destinationEntity=\"B\"/></entity>")
                == [
                    "Model/contents:4: error: The destination entity 'B' does not exist. There are: A. (A.b)"
                ])
        #expect(
            errors(
                "<entity name=\"A\" representedClassName=\"X\" codeGenerationType=\"class\"/>\n"
                    + "<entity name=\"B\" representedClassName=\"X\" codeGenerationType=\"class\"/>"
            ).first?.hasPrefix("Model/contents:4: error: The class 'X' is already generated for 'A'.") == true)
        #expect(
            errors("<entity name=\"A\" representedClassName=\"Other.A\" codeGenerationType=\"class\"/>")
                == [
                    "Model/contents:3: error: The class belongs to the module 'Other' and cannot be generated in"
                        + " 'App'. (A)"
                ])
    }
}
