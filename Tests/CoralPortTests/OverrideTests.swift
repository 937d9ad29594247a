#if Macros
    import Foundation
    import Testing

    @testable import CoralPort

    /// The moving of overrides from extensions into classes.
    @Suite struct OverrideTests {
        @Test("Overrides move from extensions into the class, unless they use private declarations of their file")
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

        @Test("Methods of migration policies that mapping models call are called by their selectors")
        func migrationFunctions() {
            let head = "import CoreData\n"
            let objc = "    #if canImport(ObjectiveC)\n    @objc\n    #endif\n"
            #expect(
                rewritten(
                    head + """
                        public class Base: NSEntityMigrationPolicy {}
                        public final class Policy: Base {
                            @objc func doubled(_ pages: NSNumber) -> NSNumber { pages }
                            @objc func joined(first: String, with last: String?) throws -> String { first }
                            @objc func title(forSource text: String) -> String { text }
                            @objc func convertedTo(unit: String) -> String { unit }
                            @objc func today() -> Date { Date() }
                            @objc func log(_ text: String) {}
                            func plain(_ text: String) -> String { text }
                        }
                        class Other: NSObject {
                            @objc func doubled(_ pages: NSNumber) -> NSNumber { pages }
                        }
                        """) == [
                        head + """
                            public class Base: NSEntityMigrationPolicy {}
                            public final class Policy: Base {
                            \(objc)    func doubled(_ pages: NSNumber) -> NSNumber { pages }
                            \(objc)    func joined(first: String, with last: String?) throws -> String { first }
                            \(objc)    func title(forSource text: String) -> String { text }
                            \(objc)    func convertedTo(unit: String) -> String { unit }
                            \(objc)    func today() -> Date { Date() }
                            \(objc)    func log(_ text: String) {}
                                func plain(_ text: String) -> String { text }

                                #if !canImport(ObjectiveC)
                                // What mapping models call by selectors.
                                public override func value(forFunction selector: String, arguments: [Any?]) throws -> Any? {
                                    switch selector {
                                    case "doubled:":
                                        if arguments.count == 1, let value0 = arguments[0] as? NSNumber {
                                            return doubled(value0)
                                        }
                                    case "joinedWithFirst:with:":
                                        if arguments.count == 2, let value0 = arguments[0] as? String {
                                            return try joined(first: value0, with: arguments[1] as? String)
                                        }
                                    case "titleForSource:":
                                        if arguments.count == 1, let value0 = arguments[0] as? String {
                                            return title(forSource: value0)
                                        }
                                    case "convertedToUnit:":
                                        if arguments.count == 1, let value0 = arguments[0] as? String {
                                            return convertedTo(unit: value0)
                                        }
                                    case "today":
                                        return today()
                                    default: break
                                    }
                                    return try super.value(forFunction: selector, arguments: arguments)
                                }
                                #endif
                            }
                            class Other: NSObject {
                            \(objc)    func doubled(_ pages: NSNumber) -> NSNumber { pages }
                            }
                            """
                    ])
        }

        /// CoreDataEvolution: its macros ask for `@objc(Name)` or `@_objcRuntimeName(Name)`, and find no attribute inside `#if`.
        @Test("A class with a macro keeps its name in Objective-C, where the macro finds it")
        func runtimeNames() {
            #expect(
                rewritten(
                    """
                    import CoreData

                    @objc(Note) @PersistentModel(count: true)
                    final class Note: NSManagedObject {}
                    @MainActor
                    @objc(Tag)
                    final class Tag: NSManagedObject {}
                    """) == [
                        """
                        import CoreData

                        @_objcRuntimeName(Note) @PersistentModel(count: true)
                        final class Note: NSManagedObject {}
                        @MainActor
                        #if canImport(ObjectiveC)
                        @objc(Tag)
                        #endif
                        final class Tag: NSManagedObject {}
                        """
                    ])
        }
    }
#endif
