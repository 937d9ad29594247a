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
