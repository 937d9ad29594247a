#if Macros
    import Foundation
    import Testing

    @testable import CoralPort

    /// The rewriting of literals, casts and calls, and code that is not changed.
    @Suite struct ExpressionRewriteTests {
        @Test("An array literal that is assigned to a set")
        func assignedLiterals() {
            let declaration =
                "import CoreData\nclass A { var tags: NSSet?; var names: [Int] }\nvar items: NSSet\nvar items: [Int]\n"
            #expect(
                rewritten(declaration + "a.tags = [b, c]\na.names = [b]\na.items = [b]") == [
                    declaration + "a.tags = NSSet(array: [b, c])\na.names = [b]\na.items = [b]"
                ])
        }

        /// BrowserServicesKit.
        @Test("The process, keys of bundles, and ranges of indices in any string")
        func foundation() {
            #expect(
                rewritten(
                    """
                    let version = ProcessInfo().operatingSystemVersion
                    let names = [kCFBundleNameKey as String, String(kCFBundleVersionKey)]
                    extension StringProtocol {
                        subscript(_ range: NSRange) -> SubSequence? {
                            Range(range, in: self).map { self[$0] }
                        }
                        func part(_ range: NSRange) -> String? { Range(range, in: text).map { text[$0] } }
                    }
                    """) == [
                        """
                        let version = ProcessInfo.processInfo.operatingSystemVersion
                        let names = ["CFBundleName" as String, String("CFBundleVersion")]
                        extension StringProtocol {
                            subscript(_ range: NSRange) -> SubSequence? {
                                #if canImport(ObjectiveC)
                                Range(range, in: self).map { self[$0] }
                                #else
                                Range(range, in: String(self)).map { _ in utf16.index(startIndex, offsetBy: range.lowerBound)..<utf16.index(startIndex, offsetBy: range.upperBound) }.map { self[$0] }
                                #endif
                            }
                            func part(_ range: NSRange) -> String? { Range(range, in: text).map { text[$0] } }
                        }
                        """
                    ])
        }

        /// BrowserServicesKit.
        @Test("A path to a file of a type without an extension")
        func conformingPaths() {
            #expect(
                rewritten(
                    """
                    let a = folder.appendingPathComponent("a.sqlite", conformingTo: .database)
                    let b = folder.appendingPathComponent("b", conformingTo: .json)
                    """) == [
                        """
                        #if canImport(ObjectiveC)
                        let a = folder.appendingPathComponent("a.sqlite", conformingTo: .database)
                        #else
                        let a = folder.appendingPathComponent("a.sqlite")
                        #endif
                        let b = folder.appendingPathComponent("b", conformingTo: .json)
                        """
                    ])
        }

        /// CoreDataEvolution.
        @Test("The main thread is that of the main queue, where Core Data is imported")
        func mainThread() {
            let text = """
                func save() {
                    guard Thread.isMainThread else {
                        return
                    }
                }
                """
            #expect(
                rewritten("import Foundation\n" + text, "import CoreData\n" + text) == [
                    "import Foundation\n" + text,
                    """
                    import CoreData
                    func save() {
                        #if canImport(ObjectiveC)
                        guard Thread.isMainThread else {
                            return
                        }
                        #else
                        guard Thread.executesMainQueue else {
                            return
                        }
                        #endif
                    }
                    """,
                ])
        }

        @Test("The main thread in a long statement, behind the type's name")
        func mainThreadInLongStatement() {
            #expect(
                rewritten(
                    """
                    import CoreData
                    func save() {
                        if !Thread.isMainThread || Thread.current.isMainThread {
                            a()
                            b()
                            c()
                            d()
                            e()
                        }
                    }
                    """) == [
                        """
                        import CoreData
                        func save() {
                            if !Thread
                            #if canImport(ObjectiveC)
                            .isMainThread
                            #else
                            .executesMainQueue
                            #endif
                             || Thread
                            #if canImport(ObjectiveC)
                            .current.isMainThread
                            #else
                            .executesMainQueue
                            #endif
                             {
                                a()
                                b()
                                c()
                                d()
                                e()
                            }
                        }
                        """
                    ])
        }

        /// As DuckDuckGo's apps wait for a store that another queue loads (`RunLoop.ResumeCondition`).
        @Test("Ports within the process")
        func ports() {
            let own = "struct Port {}\nlet port = Port()"
            #expect(rewritten(own) == [own])
            #expect(
                rewritten("import Foundation\nlet port = Port()") == [
                    """
                    import CoreData
                    import Foundation
                    #if canImport(ObjectiveC)
                    let port = Port()
                    #else
                    let port = LocalPort()
                    #endif
                    """
                ])
        }

        /// As BNR's CoreDataStack observes entities (`EntityMonitor`).
        @Test("A selector that is a private property of a generic class")
        func selectorProperty() {
            #expect(
                rewritten(
                    """
                    final class Monitor<T: NSObject> {
                        private let change = #selector(Monitor<T>.changed(_:))
                        func begin() {
                            center.addObserver(self, selector: change, name: name, object: nil)
                        }
                        func changed(_ notification: Notification) {}
                    }
                    """) == [
                        """
                        final class Monitor<T: NSObject> {
                            #if canImport(ObjectiveC)
                            private let change = #selector(Monitor<T>.changed(_:))
                            #endif
                            func begin() {
                                #if canImport(ObjectiveC)
                                center.addObserver(self, selector: change, name: name, object: nil)
                                #else
                                _ = center.addObserver(forName: name, object: nil, queue: nil) { [weak self] notification in
                                    self?.changed(notification)
                                }
                                #endif
                            }
                            func changed(_ notification: Notification) {}
                        }
                        """
                    ])
        }

        @Test("Calls of methods that a delegate may lack")
        func optionalCalls() {
            let other = "a?.controller?(b)\n_ = d.controller?(c, sectionIndexTitleForSectionName: n)"
            #expect(
                rewritten(
                    """
                    import CoreData
                    func f() {
                        delegate?.controllerDidChangeContent?(controller)
                        d.controller?(
                            c, didChange: o, at: nil, for: .insert, newIndexPath: p)
                    }
                    """, other) == [
                        """
                        import CoreData
                        func f() {
                            #if canImport(ObjectiveC)
                            delegate?.controllerDidChangeContent?(controller)
                            #else
                            delegate?.controllerDidChangeContent(controller)
                            #endif
                            #if canImport(ObjectiveC)
                            d.controller?(
                                c, didChange: o, at: nil, for: .insert, newIndexPath: p)
                            #else
                            d.controller(
                                c, didChange: o, at: nil, for: .insert, newIndexPath: p)
                            #endif
                        }
                        """, other,
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

        @Test("A required initialiser is not private")
        func privateInitializers() {
            let source = """
                import CoreData
                public final class A: NSManagedObject {
                    override private init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
                        super.init(entity: entity, insertInto: context)
                    }
                }
                """
            #expect(rewritten(source) == [source.replacing("override private", with: "override required internal")])
        }

        @Test("Casts of requests")
        func requests() {
            #expect(
                rewritten(
                    """
                    import CoreData
                    func f(r: NSFetchRequest<NSFetchRequestResult>, s: NSPersistentStoreRequest) {
                        let a = Note.fetchRequest() as! NSFetchRequest<Note>
                        let b = r as! NSFetchRequest<Note>
                        let c = s as? NSFetchRequest<Note>
                        let d = r as? NSFetchRequest<Note>
                        inspect(r.copy() as! NSFetchRequest<Note>)
                        if let d = Note.fetchRequest() as? NSFetchRequest<Note> {}
                    }
                    """) == [
                        """
                        import CoreData
                        func f(r: NSFetchRequest<NSFetchRequestResult>, s: NSPersistentStoreRequest) {
                            let a = NSFetchRequest<Note>(entityName: Note.entity().name!)
                            #if canImport(ObjectiveC)
                            let b = r as! NSFetchRequest<Note>
                            #else
                            let b = NSFetchRequest<Note>(r)
                            #endif
                            let c = s as? NSFetchRequest<Note>
                            #if canImport(ObjectiveC)
                            let d = r as? NSFetchRequest<Note>
                            #else
                            let d = Optional(NSFetchRequest<Note>(r))
                            #endif
                            #if canImport(ObjectiveC)
                            inspect(r.copy() as! NSFetchRequest<Note>)
                            #else
                            inspect(NSFetchRequest<Note>(r))
                            #endif
                            if let d = Optional(NSFetchRequest<Note>(entityName: Note.entity().name!)) {}
                        }
                        """
                    ])
        }

        @Test("A class's own request keeps its predicate and its order")
        func ownRequests() {
            let text = rewritten(
                """
                import CoreData
                class Base: NSManagedObject {
                    override class func fetchRequest() -> NSFetchRequest<NSFetchRequestResult> { visible() }
                }
                class Note: Base {}
                class Tag: NSManagedObject {
                    class func fetchRequest() -> NSFetchRequest<Tag> { visible() }
                }
                class Plain: NSManagedObject {
                    func fetchRequest() {}
                    class func fetchRequest(of name: String) {}
                }
                extension Note {
                    static func all() -> NSFetchRequest<Note> {
                        fetchRequest() as! NSFetchRequest<Note>
                    }
                }
                func f<T: NSManagedObject>(_ type: T.Type) {
                    let a = Note.fetchRequest() as! NSFetchRequest<Note>
                    let b = Note.fetchRequest() as? NSFetchRequest<Note>
                    let c = Tag.fetchRequest() as! NSFetchRequest<Tag>
                    let d = Plain.fetchRequest() as! NSFetchRequest<Plain>
                    let e = T.fetchRequest() as! NSFetchRequest<T>
                }
                """)[0]
            for (apple, other) in [
                ("fetchRequest() as! NSFetchRequest<Note>", "NSFetchRequest<Note>(fetchRequest())"),
                (
                    "let a = Note.fetchRequest() as! NSFetchRequest<Note>",
                    "let a = NSFetchRequest<Note>(Note.fetchRequest())"
                ),
                (
                    "let b = Note.fetchRequest() as? NSFetchRequest<Note>",
                    "let b = Optional(NSFetchRequest<Note>(Note.fetchRequest()))"
                ),
                (
                    "let c = Tag.fetchRequest() as! NSFetchRequest<Tag>",
                    "let c = (Tag.fetchRequest() as NSFetchRequest<Tag>)"
                ),
                ("let e = T.fetchRequest() as! NSFetchRequest<T>", "let e = NSFetchRequest<T>(T.fetchRequest())"),
            ] {
                let lines = text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
                let branches = ["#if canImport(ObjectiveC)", apple, "#else", other, "#endif"]
                #expect(lines.indices.contains { lines[$0...].starts(with: branches) }, "\(apple)")
            }
            #expect(text.contains("let d = NSFetchRequest<Plain>(entityName: Plain.entity().name!)"))
        }

        @Test("Requests of methods, and the protocol of results as a value")
        func requestsOfMethods() {
            #expect(
                rewritten(
                    """
                    import CoreData
                    func f() throws {
                        let a = try unwrap(Note.list() as? NSFetchRequest<NSManagedObject>)
                        let b = make(
                            of: (NSFetchRequestResult.self, .managedObjectIDResultType))
                        let c = make(of: NSFetchRequestResult.self)
                        if let d = Note.listFetchRequest() as? NSFetchRequest<NSManagedObject> { g(d) }
                        guard let e = getFetchRequest() as? NSFetchRequest<NSFetchRequestResult> else { return }
                    }
                    """) == [
                        """
                        import CoreData
                        func f() throws {
                            let a = try unwrap(Note.list() as? NSFetchRequest<NSManagedObject>)
                            #if canImport(ObjectiveC)
                            let b = make(
                                of: (NSFetchRequestResult.self, .managedObjectIDResultType))
                            #else
                            let b = make(
                                of: (NSManagedObjectID.self, .managedObjectIDResultType))
                            #endif
                            let c = make(of: NSFetchRequestResult.self)
                            #if canImport(ObjectiveC)
                            if let d = Note.listFetchRequest() as? NSFetchRequest<NSManagedObject> { g(d) }
                            #else
                            if let d = Optional(NSFetchRequest<NSManagedObject>(Note.listFetchRequest())) { g(d) }
                            #endif
                            #if canImport(ObjectiveC)
                            guard let e = getFetchRequest() as? NSFetchRequest<NSFetchRequestResult> else { return }
                            #else
                            guard let e = Optional(NSFetchRequest<NSFetchRequestResult>(getFetchRequest())) else { return }
                            #endif
                        }
                        """
                    ])
        }

        @Test("An exception that is raised at once ends the program with its reason")
        func raisedExceptions() {
            #expect(
                rewritten(
                    """
                    import Foundation
                    func stop(_ reason: String) -> Never {
                        NSException(name: .genericException, reason: reason, userInfo: nil).raise()
                        fatalError("unreachable")
                    }
                    func check() {
                        NSException(name: .genericException, reason: "unchecked", userInfo: nil).raise()
                        let later = NSException(name: .genericException, reason: "a", userInfo: nil)
                    }
                    """) == [
                        """
                        import Foundation
                        func stop(_ reason: String) -> Never {
                            #if canImport(ObjectiveC)
                            NSException(name: .genericException, reason: reason, userInfo: nil).raise()
                            #else
                            fatalError(String(describing: reason))
                            #endif
                            fatalError("unreachable")
                        }
                        func check() {
                            #if canImport(ObjectiveC)
                            NSException(name: .genericException, reason: "unchecked", userInfo: nil).raise()
                            #else
                            fatalError("unchecked")
                            #endif
                            let later = NSException(name: .genericException, reason: "a", userInfo: nil)
                        }
                        """
                    ])
        }

        @Test("A transformer gets the initialiser that the superclass requires")
        func transformers() {
            #expect(
                rewritten(
                    """
                    import CoreData
                    public final class Cipher: ValueTransformer {
                        let key: Int

                        init(key: Int) {
                            self.key = key
                            super.init()
                        }
                    }
                    class Plain: ValueTransformer {
                        convenience init(a: Int) { self.init() }
                    }
                    """) == [
                        """
                        import CoreData
                        public final class Cipher: ValueTransformer {
                            let key: Int

                            init(key: Int) {
                                self.key = key
                                super.init()
                            }

                            #if !canImport(ObjectiveC)
                            public required init() {
                                Swift.fatalError("Use of unimplemented initializer 'init()'")
                            }
                            #endif
                        }
                        class Plain: ValueTransformer {
                            convenience init(a: Int) { self.init() }
                        }
                        """
                    ])
        }

        /// PredicateKit: a store of a test, with the arguments of the superclass.
        @Test("A store gets the initialiser that the superclass requires")
        func stores() {
            #expect(
                rewritten(
                    """
                    import CoreData
                    private class Shelf: NSAtomicStore {
                        init(_ url: URL) {
                            super.init(persistentStoreCoordinator: nil, configurationName: nil, at: url, options: nil)
                        }
                    }
                    """) == [
                        """
                        import CoreData
                        private class Shelf: NSAtomicStore {
                            init(_ url: URL) {
                                super.init(persistentStoreCoordinator: nil, configurationName: nil, at: url, options: nil)
                            }

                            #if !canImport(ObjectiveC)
                            required init(persistentStoreCoordinator root: NSPersistentStoreCoordinator?, \
                        configurationName name: String?, at url: URL, options: [AnyHashable: Any]? = nil) {
                                Swift.fatalError("Use of unimplemented initializer \
                        'init(persistentStoreCoordinator:configurationName:at:options:)'")
                            }
                            #endif
                        }
                        """
                    ])
        }

        @Test(
            "The initialiser of classes that models name is required",
            arguments: ["ValueTransformer", "NSEntityMigrationPolicy"])
        func namedClasses(superclass: String) {
            #expect(
                rewritten(
                    "import CoreData\nclass A: \(superclass) {\n    override init() {}\n}",
                    "class B: NSObject {\n    override init() {}\n}") == [
                        "import CoreData\nclass A: \(superclass) {\n    override required init() {}\n}",
                        "class B: NSObject {\n    override init() {}\n}",
                    ])
        }

        @Test("The standard streams of C")
        func standardStreams() {
            #expect(
                rewritten("import Foundation\n\nfputs(\"a\", stderr)", "import Foundation\n\nlet a = B(stderr: c)") == [
                    "#if canImport(Glibc)\n@preconcurrency import Glibc\n#endif\nimport Foundation\n\nfputs(\"a\", stderr)",
                    "import Foundation\n\nlet a = B(stderr: c)",
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
