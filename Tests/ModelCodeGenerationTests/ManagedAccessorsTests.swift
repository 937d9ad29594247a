import Foundation
import Testing

@testable import ModelCodeGeneration

#if os(Linux)
    /// The accessors of `@NSManaged` properties, with the names that the compiler calls them by.
    @Suite struct ManagedAccessorsTests {
        private func accessors(of files: [String: String], module: String = "NotesApp") throws -> ManagedAccessors {
            let compiler = try SwiftCompiler.ofBuild()
            return try ManagedAccessors(
                of: files.map { ("/App/\($0.key)", $0.value) }, moduleName: module, compiler: compiler)
        }

        private static let note = """
            import CoreData

            public class Note: NSManagedObject {
                enum Kind: Int16 { case plain, list }
                @NSManaged public var title: String?
                @NSManaged public private(set) var created: Date
                @NSManaged fileprivate var primitiveTitle: String?
                @NSManaged var kind: Kind
                @NSManaged var tags: Set<Tag>?, `default`: NSSet!
                #if canImport(ObjectiveC)
                    @objc(addTagsObject:)
                #endif
                @NSManaged public func addToTags(_ value: Tag)
                #if os(iOS)
                    @NSManaged var color: UIColor?
                #endif
                // @NSManaged var comment: String
                var text: String { get { primitiveTitle ?? "" } set { title = newValue } }
            }
            """
        private static let tag = """
            @preconcurrency import CoreData
            typealias Notes = [String: [Note]]
            public final class Tag: NSManagedObject {
                @NSManaged var notes: Notes?
                @NSManaged dynamic var anything: Any?
                @NSManaged var owner: NSManagedObject
                final class Special: Note {
                    @NSManaged var second: Kind
                }
            }
            public extension Tag {
                @NSManaged var noteTag: Decimal?
                @NSManaged func removeFromNotes(_ values: NSSet)
            }
            """

        @Test("The accessors have the names that the compiler calls")
        func names() throws {
            let text = try accessors(of: ["Note.swift": Self.note, "Tag.swift": Self.tag]).text
            let names = text.matches(of: /@_silgen_name\("(.*?)"\)/).map { String($0.1) }
            #expect(Set(names).count == names.count)
            #expect(names.contains("$s8NotesApp4NoteC5titleSSSgvg") && names.contains("$s8NotesApp4NoteC5titleSSSgvs"))
            #expect(try called(by: [Self.note, Self.tag]).subtracting(names) == [])
        }

        /// The undefined symbols in the object file of a module that uses all its properties.
        private func called(by texts: [String]) throws -> Set<String> {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let compiler = try SwiftCompiler.ofBuild()
            func write(_ name: String, _ text: String) throws -> String {
                let file = folder.appendingPathComponent(name)
                try Data(text.utf8).write(to: file)
                return file.path
            }
            let engine = try write("Engine.swift", "import Foundation\nopen class NSManagedObject: NSObject {}\n")
            let facade = try write(
                "Facade.swift", "@_exported import Foundation\n@_exported import class ManagedObjects.NSManagedObject\n"
            )
            func module(_ name: String, _ file: String) throws {
                let path = folder.appendingPathComponent("\(name).swiftmodule").path
                try compiler.run(["-emit-module", "-module-name", name, "-I", folder.path, "-o", path, file])
            }
            try module("ManagedObjects", engine)
            try module("CoreData", facade)
            let use = """
                import CoreData
                func use(_ note: Note, _ tag: Tag, _ special: Tag.Special) {
                    note.title = note.title
                    note.kind = note.kind
                    note.tags = note.tags
                    note.default = note.default
                    note.addToTags(tag)
                    tag.notes = tag.notes
                    tag.anything = tag.anything
                    tag.owner = tag.owner
                    tag.noteTag = tag.noteTag
                    tag.removeFromNotes(NSSet())
                    special.second = special.second
                }
                """
            let files = try [write("Note.swift", texts[0]), write("Tag.swift", texts[1]), write("Use.swift", use)]
            let output = try compiler.run(
                ["-emit-silgen", "-wmo", "-parse-as-library", "-module-name", "NotesApp", "-I", folder.path, "-o", "-"]
                    + files)
            // A declaration without a body ends its line after the type.
            let declared = output.split(separator: "\n").filter { line in
                line.hasPrefix("sil ") && !line.hasSuffix("{") && line.contains("@$s8NotesApp")
            }
            return Set(
                declared.compactMap { line in
                    line.firstIndex(of: "@").map { String(line[line.index(after: $0)...].prefix { $0 != " " }) }
                })
        }

        @Test("The file has an accessor for each property, and the names of key paths")
        func text() throws {
            let text = try accessors(
                of: [
                    "Folder.swift":
                        "public import CoreData\nopen class Folder: NSManagedObject { @NSManaged open var name: String! }"
                ],
                module: "App"
            ).text
            #expect(
                text == """
                    // Generated from the declarations with @NSManaged. Do not edit.

                    import Foundation
                    public import CoreData

                    extension Folder {
                        private enum ManagedProperties {
                            static let name = ManagedProperty<String?>("name")
                        }

                        @_silgen_name("$s3App6FolderC4nameSSSgvg")
                        public final func _get_Folder_name() -> String? { ManagedProperties.name[self] }

                        @_silgen_name("$s3App6FolderC4nameSSSgvs")
                        public final func _set_Folder_name(_ value: __owned String?) { ManagedProperties.name[self] = value }

                        fileprivate static func _registerKeyPaths_Folder() {
                            func register<Object: Folder>(_: Object.Type) {
                                KeyPathRegistry.register(\\Object.name, as: "name")
                            }
                            register(Self.self)
                        }
                    }

                    final class ManagedKeyPaths_Folder: ManagedKeyPaths {
                        override class func register(of type: NSManagedObject.Type) {
                            (type as? Folder.Type)?._registerKeyPaths_Folder()
                        }
                    }

                    """)
        }

        /// Graph, by CosmicMind, has classes of these names: https://github.com/CosmicMind/Graph/tree/master/Sources
        @Test("A type of the module with the name of one of the engine's")
        func namesOfTheEngine() throws {
            let text = try accessors(
                of: [
                    "Property.swift":
                        "import CoreData\nclass ManagedProperty: NSManagedObject { @NSManaged var name: String }",
                    "Other.swift": "struct KeyPathRegistry {}\nenum Names { class ManagedKeyPaths {} }",
                ]
            ).text
            #expect(text.contains(" = CoreData.ManagedProperty<String>(\"name\")"))
            #expect(text.contains(" CoreData.KeyPathRegistry.register(\\Object.name"))
            #expect(text.contains("class ManagedKeyPaths_ManagedProperty: CoreData.ManagedKeyPaths {"))
        }

        /// Brave's lists of filters: https://github.com/brave/brave-ios/tree/development/Sources/Data/models
        @Test("The key paths of a class of the main actor are registered on any thread")
        func classesOfActors() throws {
            let text = try accessors(
                of: [
                    "Filter.swift":
                        "import CoreData\n@MainActor public class Filter: NSManagedObject { @NSManaged var name: String }",
                    "List.swift": "import CoreData\nfinal class List: Filter { @NSManaged var url: String }",
                ]
            ).text
            for name in ["Filter", "List"] {
                #expect(
                    text.contains(
                        """
                                guard let type = type as? \(name).Type else { return }
                                let register: @MainActor () -> Void = type._registerKeyPaths_\(name)
                                unsafeBitCast(register, to: (() -> Void).self)()
                        """))
            }
        }

        /// CoreDataModelDescription, by D. Anokhin: the classes of a test are nested in it.
        @Test("The types beside a nested class have their full names")
        func nestedClasses() throws {
            let text = """
                import CoreData
                final class Library {
                    enum Kind: Int16 { case plain }
                    class Shelf: NSManagedObject {
                        enum Size: Int16 { case small }
                        @NSManaged var books: Set<Book>
                        @NSManaged var sizes: [Size: Library.Kind?]
                        @NSManaged func addToBooks(_ value: Book)
                    }
                    final class Book: NSManagedObject {
                        @NSManaged var shelf: Shelf?
                    }
                }
                """
            let written = try accessors(of: ["Library.swift": text]).text
            for part in [
                "() -> Set<Library.Book> {", "() -> Library.Shelf? {", "() -> [Size: Library.Kind?] {",
                "(_ value: Library.Book) {", "as: \"shelf.books\"",
            ] {
                #expect(written.contains(part))
            }
        }

        @Test("Key paths through optional relationships to classes of the module have names")
        func optionalPaths() throws {
            let text = """
                import CoreData
                final class Line: NSManagedObject {
                    @NSManaged var order: Order?
                    @NSManaged var product: Shop.Product?
                    @NSManaged var title: String?
                    @NSManaged private var draft: Order?
                    @NSManaged var owner: Order
                }
                class Record: NSManagedObject { @NSManaged var `default`: Bool }
                class Order: Record {
                    @NSManaged var orderID: Int64
                    @NSManaged private var secret: String?
                    @NSManaged func addToLines(_ values: NSSet)
                    @NSManaged var lines: NSSet?
                }
                enum Shop {
                    class Product: NSManagedObject { @NSManaged var price: Int64, similar: Shop.Product? }
                }
                """
            let registered = try accessors(of: ["Line.swift": text]).text.matches(
                of: /register\(\\(\S+), as: "(\S+)"\)/
            ).map { "\($0.1) \($0.2)" }
            #expect(
                registered.filter { $0.contains("?") } == [
                    "Line.order?.orderID order.orderID", "Line.order?.lines order.lines",
                    "Line.order?.`default` order.default",
                    "Line.product?.price product.price", "Line.product?.similar product.similar",
                    "Object.similar?.price similar.price", "Object.similar?.similar similar.similar",
                ])
        }

        @Test("Properties that have keys by @objc have names of key paths, also in classes without @NSManaged")
        func ownProperties() throws {
            let note = """
                import CoreData
                class Note: NSManagedObject {
                    @NSManaged var title: String?
                    #if canImport(ObjectiveC)
                        @objc
                    #endif
                    var initial: String { var first = title ?? ""; return first }
                    var hidden = 0
                    #if canImport(ObjectiveC)
                    @objc dynamic
                    #endif
                    private var secret = 0
                    #if canImport(ObjectiveC)
                    @objc
                    #endif
                    static var shared: Note?
                }
                #if canImport(ObjectiveC)
                @objcMembers
                #endif
                final class Tag: CoreData.NSManagedObject {
                    var name: String { "" }
                    @MainActor var view: Int { 0 }
                }
                class Plain: NSObject {
                    #if canImport(ObjectiveC)
                    @objc
                    #endif
                    var name = ""
                }
                """
            let draft = """
                import Foundation
                class Draft: Note {}
                extension Draft {
                    #if canImport(ObjectiveC)
                    @objc
                    #endif
                    var place: String { "" }
                }
                """
            let accessors = try accessors(of: ["Note.swift": note, "Draft.swift": draft])
            let registered = accessors.text.matches(of: /register\((.*), as: "/).map { String($0.1) }
            #expect(
                registered == [
                    "implemented: \\Object.place", "\\Object.title", "implemented: \\Object.initial",
                    "implemented: \\Tag.name",
                ])
            #expect(
                accessors.text.matches(of: /class ManagedKeyPaths_(\w+)/).map { String($0.1) } == [
                    "Draft", "Note", "Tag",
                ])
            #expect(accessors.mistakes == [])
        }

        @Test("Declarations that can have no accessor are errors at their lines")
        func mistakes() throws {
            let text = """
                import CoreData
                private class Hidden: NSManagedObject {
                    @NSManaged var title: String
                }
                extension Other.Note { @NSManaged var title: String }
                class Note: NSManagedObject {
                    @NSManaged func count(of values: NSSet)
                    @NSManaged
                    let name: String
                }
                func make() { class Local: NSManagedObject { @NSManaged var title: String } }
                """
            #expect(
                try accessors(of: ["Note.swift": text]).mistakes.map(\.compilerMessage) == [
                    "/App/Note.swift:8: error: @NSManaged must be followed by a property or a function.",
                    "/App/Note.swift:11: error: A class in a function has no accessors. Declare it outside the function.",
                    "/App/Note.swift:3: error: “title” has no accessor, because “Hidden” is private. Remove `private`, or"
                        + " run coral-port --fix, which writes the accessors of properties.",
                    "/App/Note.swift:5: error: “title” has no accessor, because the class “Other.Note” is not in this module."
                        + " Declare the property in the class's module.",
                    "/App/Note.swift:7: error: “count” has no accessor, because it is not a function that Core Data implements,"
                        + " such as addToTags(_:).",
                ])
        }

        @Test("An unknown type is an error of the compiler at the property's line")
        func unknownTypes() throws {
            let text = "import Colors\nclass Note: NSManagedObject {\n    @NSManaged var color: Color?\n}"
            do {
                _ = try accessors(of: ["Note.swift": text])
                Issue.record("There is no error.")
            } catch let error as AccessorError {
                #expect(error.message.contains("/App/Note.swift:3:"))
                #expect(error.message.contains("cannot find type 'Color' in scope"))
            }
        }

        @Test("A module without such properties has an empty file")
        func noProperties() throws {
            let accessors = try accessors(of: ["A.swift": "let a = \"@NSManaged var a: Int\" // @NSManaged"])
            #expect(accessors.mistakes == [])
            #expect(!accessors.text.contains("extension"))
        }
    }
#endif
