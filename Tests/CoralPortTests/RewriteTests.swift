#if Macros
    import Foundation
    import Testing

    @testable import CoralPort

    /// The rewriting of small texts.
    @Suite struct RewriteTests {
        /// The texts of the files of one module after rewriting; they must not change a second time.
        private func rewritten(_ texts: String...) -> [String] {
            func rewrite(_ texts: [String]) -> [String] {
                var package = PortedPackage(
                    texts.enumerated().map { SourceFile(text: $1, url: URL(fileURLWithPath: "/\($0).swift")) })
                #expect(package.omissions == [])
                package.rewrite(usesMacro: true)
                return package.files.map(\.text)
            }
            let once = rewrite(texts)
            #expect(rewrite(once) == once)
            return once
        }

        @Test("@NSManaged stays where the plugin implements it; only attributes of Objective-C become conditional")
        func managedStays() {
            var package = PortedPackage([
                SourceFile(
                    text: """
                        import CoreData
                        class Note: NSManagedObject {
                            @NSManaged var title: String?
                            @objc(addTagsObject:)
                            @NSManaged func addToTags(_ value: Tag)
                        }
                        """)
            ])
            package.rewrite()
            #expect(package.advice == [])
            #expect(
                package.files.map(\.text) == [
                    """
                    import CoreData
                    class Note: NSManagedObject {
                        @NSManaged var title: String?
                        #if canImport(ObjectiveC)
                        @objc(addTagsObject:)
                        #endif
                        @NSManaged func addToTags(_ value: Tag)
                    }
                    """
                ])
        }

        @Test("A type with a name of Foundation's gets its module where both are imported")
        func ambiguousNames() {
            var package = PortedPackage([
                SourceFile(
                    text: "import Foundation\npublic struct Predicate<Object> { let predicate: Predicate<Int>? }",
                    module: "/p/Sources/Queries"),
                SourceFile(
                    text: """
                        import XCTest
                        @testable import Queries
                        let a: Predicate<Int> = Predicate<Int>(b.Predicate, Queries.Predicate<Int>(), [Predicate<Int>]())
                        """, module: "/p/Tests/QueriesTests"),
            ])
            package.rewrite()
            #expect(!package.files[0].isChanged)
            #expect(
                package.files[1].text.split(separator: "\n").last
                    == "let a: Queries.Predicate<Int> = Queries.Predicate<Int>(b.Predicate, Queries.Predicate<Int>(), [Queries.Predicate<Int>]())"
            )
        }

        @Test("An array literal that is assigned to a set")
        func assignedLiterals() {
            let declaration =
                "import CoreData\nclass A { var tags: NSSet?; var names: [Int] }\nvar items: NSSet\nvar items: [Int]\n"
            #expect(
                rewritten(declaration + "a.tags = [b, c]\na.names = [b]\na.items = [b]") == [
                    declaration + "a.tags = NSSet(array: [b, c])\na.names = [b]\na.items = [b]"
                ])
        }

        @Test("Key paths become text, without the type and with names in Objective-C")
        func keyPaths() {
            #expect(
                rewritten(
                    """
                    import CoreData
                    class Note: NSManagedObject {
                        @objc(isDone) var done: Bool { true }
                    }
                    let a = #keyPath(Note.author.name)
                    let b = [#keyPath(App.Note.done): "\\(#keyPath(title))"]
                    let c = #keyPath(NSFetchedResultsController<Note>.fetchedObjects)
                    """) == [
                        """
                        import CoreData
                        class Note: NSManagedObject {
                            #if canImport(ObjectiveC)
                            @objc(isDone)
                            #endif
                            var done: Bool { true }
                        }
                        let a = "author.name"
                        let b = ["isDone": "\\("title")"]
                        let c = "fetchedObjects"
                        """
                    ])
        }

        @Test("A computed property that key-value coding reads is left, since only Apple's platforms find it")
        func computedKeyPaths() {
            let text = rewritten(
                """
                import CoreData
                class Note: NSManagedObject {
                    var initial: String { "A" }
                }
                let a = make(sectionNameKeyPath: #keyPath(Note.initial), cacheName: nil)
                let b = note.value(forKey: #keyPath(Note.initial))
                note.willChangeValue(forKey: #keyPath(Note.initial))
                """)[0]
            #expect(text.contains("sectionNameKeyPath: #keyPath(Note.initial)"))
            #expect(text.contains("value(forKey: #keyPath(Note.initial))"))
            #expect(text.contains("willChangeValue(forKey: \"initial\")"))
        }

        @Test("Properties in a class and in its extensions become those of one @Managed class")
        func managedClass() {
            #expect(
                rewritten(
                    """
                    import CoreData

                    @objc(Note)
                    public class Note: NSManagedObject {}
                    """,
                    """
                    import Foundation

                    public extension Note {
                        /// The title.
                        @NSManaged var title: String?  // first
                        @NSManaged internal var a, b: Int16
                        var isEmpty: Bool { title == nil }
                    }

                    extension Note {
                        @objc(addTagsObject:)
                        @NSManaged public func addToTags(_ value: Tag)
                    }
                    """) == [
                        """
                        import CoreData
                        import Foundation
                        import ManagedMacros

                        @Managed
                        #if canImport(ObjectiveC)
                        @objc(Note)
                        #endif
                        public class Note: NSManagedObject {
                            /// The title.
                            public var title: String?  // first
                            internal var a: Int16; internal var b: Int16
                        }
                        """,
                        """
                        import Foundation

                        public extension Note {
                            var isEmpty: Bool { title == nil }
                        }

                        extension Note {
                            #if canImport(ObjectiveC)
                            @objc(addTagsObject:)
                            @NSManaged public func addToTags(_ value: Tag)
                            #else
                            public func addToTags(_ value: Tag) { mutableSetValue(forKey: "tags").add(value) }
                            #endif
                        }
                        """,
                    ])
        }

        @Test("A variable that was not managed is not managed afterwards")
        func otherVariables() {
            #expect(
                rewritten(
                    """
                    import CoreData
                    class Note: NSManagedObject {
                        @NSManaged var title: String?
                        private var cache: [String]?
                        var count = 1
                    }
                    class Item: NSManagedObject {
                        @NSManaged var title: String?
                        let place: Int
                        var size: Int
                        init(size: Int) { self.size = size }
                    }
                    """) == [
                        """
                        import CoreData
                        import ManagedMacros
                        @Managed
                        class Note: NSManagedObject {
                            var title: String?
                            private var cache: [String]? = nil
                            var count = 1
                        }
                        class Item: NSManagedObject {
                            @ManagedValue var title: String?
                            let place: Int
                            var size: Int
                            init(size: Int) { self.size = size }
                        }
                        """
                    ])
        }

        @Test("A property whose name in Objective-C is another one is left")
        func otherName() {
            let text = """
                import CoreData
                class Note: NSManagedObject {
                    #if canImport(ObjectiveC)
                    @objc(isDone)
                    #endif
                    var other: Bool { true }
                    @NSManaged @objc(isDone) var done: Bool
                }
                """
            #expect(rewritten(text)[0].contains("    @NSManaged #if") == false)
            #expect(rewritten(text)[0].contains("@NSManaged"))
            #expect(!rewritten(text)[0].contains("@Managed"))
        }

        @Test("Overrides move from extensions into the class, unless they use what is private in their file")
        func overrides() {
            #expect(
                rewritten(
                    """
                    import CoreData
                    class Note: NSManagedObject {
                        func f() {}
                    }
                    """,
                    """
                    import CoreData

                    extension Note {
                        // Sets the date.
                        override func awakeFromInsert() {
                            super.awakeFromInsert()
                        }
                    }

                    extension Note: Identifiable {
                        override func willSave() { log() }
                        override func didSave() {}
                    }

                    extension Other {
                        override func awakeFromInsert() {}
                    }

                    private func log() {}
                    """) == [
                        """
                        import CoreData
                        class Note: NSManagedObject {
                            func f() {}

                            // Sets the date.
                            override func awakeFromInsert() {
                                super.awakeFromInsert()
                            }

                            override func didSave() {}
                        }
                        """,
                        """
                        import CoreData

                        extension Note: Identifiable {
                            override func willSave() { log() }
                        }

                        extension Other {
                            override func awakeFromInsert() {}
                        }

                        private func log() {}
                        """,
                    ])
        }

        @Test("Casts of requests")
        func requests() {
            #expect(
                rewritten(
                    """
                    import CoreData
                    func f(r: NSFetchRequest<NSFetchRequestResult>) {
                        let a = Note.fetchRequest() as! NSFetchRequest<Note>
                        let b = r as! NSFetchRequest<Note>
                        let c = r as? NSFetchRequest<Note>
                        if let d = Note.fetchRequest() as? NSFetchRequest<Note> {}
                    }
                    """) == [
                        """
                        import CoreData
                        func f(r: NSFetchRequest<NSFetchRequestResult>) {
                            let a = NSFetchRequest<Note>(entityName: Note.entity().name!)
                            #if canImport(ObjectiveC)
                            let b = r as! NSFetchRequest<Note>
                            #else
                            let b = NSFetchRequest<Note>(r)
                            #endif
                            let c = r as? NSFetchRequest<Note>
                            if let d = Optional(NSFetchRequest<Note>(entityName: Note.entity().name!)) {}
                        }
                        """
                    ])
        }

        @Test("Names with a module, unless the package declares them too")
        func moduleNames() {
            #expect(
                rewritten(
                    """
                    import CoreData.NSManagedObject
                    import class CoreData.NSPredicate
                    final class A: Foundation.ValueTransformer {
                        let p = Foundation.NSPredicate(format: "a"), d = Foundation.Date(), o = foundation.NSPredicate()
                    }
                    """) == [
                        """
                        import CoreData
                        import class CoreData.NSPredicate
                        final class A: ValueTransformer {
                            let p = NSPredicate(format: "a"), d = Foundation.Date(), o = foundation.NSPredicate()
                        }
                        """
                    ])
            let own = "import CoreData\nclass ValueTransformer: Foundation.ValueTransformer {}"
            #expect(rewritten(own) == [own])
        }

        @Test("The class of a type is the type; that of an object remains")
        func classForCoder() {
            #expect(
                rewritten("let a = [B.classForCoder(), C.B.classForCoder(), T.self.classForCoder()]")
                    == ["let a = [B.self, C.B.self, T.self]"])
            #expect(rewritten("let a = type(of: b).classForCoder()") == ["let a = type(of: b)"])
            let other = "let a = (b.classForCoder(), B.classForCoder(c), B.classForCoder)"
            #expect(rewritten(other) == [other])
        }

        @Test("Selectors of comparisons and of observers")
        func selectors() {
            #expect(
                rewritten(
                    """
                    class Store {
                        init() {
                            let a = #selector(NSString.localizedStandardCompare(_:))
                            center.addObserver(self, selector: #selector(didSave), name: .saved, object: context)
                            center.addObserver(self, selector: #selector(Store.change(note:)), name: .saved, object: nil)
                            button.addTarget(self, action: #selector(didSave), for: .touchUpInside)
                        }
                        func didSave() {}
                    }
                    """) == [
                        """
                        class Store {
                            init() {
                                let a = Selector(("localizedStandardCompare:"))
                                #if canImport(ObjectiveC)
                                center.addObserver(self, selector: #selector(didSave), name: .saved, object: context)
                                #else
                                _ = center.addObserver(forName: .saved, object: context, queue: nil) { [weak self] _ in
                                    self?.didSave()
                                }
                                #endif
                                #if canImport(ObjectiveC)
                                center.addObserver(self, selector: #selector(Store.change(note:)), name: .saved, object: nil)
                                #else
                                _ = center.addObserver(forName: .saved, object: nil, queue: nil) { [weak self] notification in
                                    self?.change(note: notification)
                                }
                                #endif
                                button.addTarget(self, action: #selector(didSave), for: .touchUpInside)
                            }
                            func didSave() {}
                        }
                        """
                    ])
        }

        @Test("A constant with a selector, if only observers use it")
        func selectorConstants() {
            #expect(
                rewritten(
                    """
                    class Store {
                        func observe() {
                            let save = #selector(Store.didSave(_:))
                            center.addObserver(self, selector: save, name: .saved, object: context)
                            let other = #selector(didSave(_:))
                            print(other)
                        }
                    }
                    """) == [
                        """
                        class Store {
                            func observe() {
                                #if canImport(ObjectiveC)
                                let save = #selector(Store.didSave(_:))
                                #endif
                                #if canImport(ObjectiveC)
                                center.addObserver(self, selector: save, name: .saved, object: context)
                                #else
                                _ = center.addObserver(forName: .saved, object: context, queue: nil) { [weak self] notification in
                                    self?.didSave(notification)
                                }
                                #endif
                                let other = #selector(didSave(_:))
                                print(other)
                            }
                        }
                        """
                    ])
        }

        @Test("Attributes of Objective-C become conditional, wherever they are in the line")
        func attributes() {
            #expect(
                rewritten(
                    """
                    @objc enum Kind: Int16 { case a }
                    @available(iOS 15, *) @objcMembers
                    class A { @objc dynamic var b = 1 }
                    """) == [
                        """
                        #if canImport(ObjectiveC)
                        @objc
                        #endif
                        enum Kind: Int16 { case a }
                        @available(iOS 15, *) 
                        #if canImport(ObjectiveC)
                        @objcMembers
                        #endif
                        class A { 
                        #if canImport(ObjectiveC)
                        @objc
                        #endif
                        dynamic var b = 1 }
                        """
                    ])
        }

        @Test("Literals of sets, and initialisers")
        func literals() {
            #expect(
                rewritten(
                    """
                    import CoreData
                    class A: NSManagedObject {
                        public override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
                            tags = [a, [b] as NSSet] as NSSet
                        }
                    }
                    """) == [
                        """
                        import CoreData
                        class A: NSManagedObject {
                            public override required init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
                                tags = NSSet(array: [a, NSSet(array: [b])])
                            }
                        }
                        """
                    ])
        }

        @Test("Waiting for expectations gets a time limit")
        func waits() {
            #expect(
                rewritten(
                    """
                    wait(for: [a])
                    await fulfillment(of: [a, b], enforceOrder: true)
                    self.wait(for: expectations)
                    wait(for: [a], timeout: 1)
                    wait(for: 3)
                    """) == [
                        """
                        wait(for: [a], timeout: 60)
                        await fulfillment(of: [a, b], timeout: 60, enforceOrder: true)
                        self.wait(for: expectations, timeout: 60)
                        wait(for: [a], timeout: 1)
                        wait(for: 3)
                        """
                    ])
        }

        @Test("The import is added where it belongs")
        func imports() {
            #expect(
                rewritten(
                    "// Header\n\n/// A class.\nclass A: NSManagedObject {}\n",
                    "import XCTest\nlet a: NSPredicate\n", "import Foundation\n\nlet a = x.NSManagedObject\n",
                    "@testable import App\nlet a: NSPredicate\n") == [
                        "// Header\n\nimport CoreData\n\n/// A class.\nclass A: NSManagedObject {}\n",
                        "import CoreData\nimport XCTest\nlet a: NSPredicate\n",
                        "import Foundation\n\nlet a = x.NSManagedObject\n",
                        "@testable import App\nimport CoreData\nlet a: NSPredicate\n",
                    ])
        }

        @Test("A file that loads URLs imports the module for it where it exists")
        func networking() {
            let lines = "#if canImport(FoundationNetworking)\nimport FoundationNetworking\n#endif\n"
            #expect(
                rewritten("import Foundation\n\nlet a = URLSession.shared\n", "// Header\n\nlet a: URLRequest\n") == [
                    "import Foundation\n\(lines)\nlet a = URLSession.shared\n",
                    "// Header\n\n\(lines)\nlet a: URLRequest\n",
                ])
        }

        @Test("Comments, strings, and code for Apple's platforms remain")
        func unchanged() {
            let text = #"""
                import CoreData
                // @objc #keyPath(A.b)
                let a = "@objc #keyPath(A.b) [a] as NSSet"
                let b = """
                    @NSManaged var a: Int
                    """
                #if canImport(ObjectiveC)
                @objc class A: NSManagedObject { @NSManaged var a: Int }
                #elseif os(Linux)
                class A: NSManagedObject {}
                #endif
                #if os(iOS) || os(macOS)
                let c = #selector(A.b)
                #endif
                """#
            #expect(rewritten(text) == [text])
        }
    }
#endif
