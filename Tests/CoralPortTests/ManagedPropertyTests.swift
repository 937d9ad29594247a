#if Macros
    import Foundation
    import Testing

    @testable import CoralPort

    /// The rewriting of managed properties and their classes.
    @Suite struct ManagedPropertyTests {
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

        @Test("The properties of private and generic classes have accessors elsewhere")
        func hiddenClasses() {
            func property(_ name: String, _ type: String, _ indentation: String) -> String {
                [
                    "#if canImport(ObjectiveC)", "@NSManaged var \(name): \(type)", "#else", "var \(name): \(type) {",
                    "    get { ManagedProperty<\(type)>(\"\(name)\")[self] }",
                    "    set { ManagedProperty<\(type)>(\"\(name)\")[self] = newValue }", "}", "#endif",
                ].joined(separator: "\n" + indentation)
            }
            func text(_ property: (String, String, String) -> String) -> String {
                """
                import CoreData
                private final class Draft: NSManagedObject {
                    \(property("title", "String?", "    "))
                }
                extension Draft {
                    \(property("rank", "Int64", "    "))
                }
                fileprivate enum Shelf {
                    class Box: NSManagedObject {
                        \(property("name", "String?", "        "))
                    }
                }
                class Pair<Value>: NSManagedObject {
                    \(property("first", "String?", "    "))
                }
                private extension Note {
                    @NSManaged var hint: String?
                }
                """
            }
            var package = PortedPackage([SourceFile(text: text { name, type, _ in "@NSManaged var \(name): \(type)" })])
            for _ in 1...2 {
                package.rewrite()
                #expect(package.files.map(\.text) == [text(property)])
            }
        }

        /// core-data-model-description: a test declares the classes of its entities.
        @Test("The properties of a class in a function have accessors elsewhere")
        func localClass() {
            var package = PortedPackage([
                SourceFile(
                    text: """
                        import CoreData
                        func f() {
                            class Note: NSManagedObject {
                                @NSManaged fileprivate var title: String?
                                @objc(pages)
                                @NSManaged var pages: NSSet!
                            }
                        }
                        """)
            ])
            for _ in 1...2 {
                package.rewrite()
                #expect(
                    package.files.map(\.text) == [
                        """
                        import CoreData
                        func f() {
                            class Note: NSManagedObject {
                                #if canImport(ObjectiveC)
                                @NSManaged fileprivate var title: String?
                                #else
                                fileprivate var title: String? {
                                    get { ManagedProperty<String?>("title")[self] }
                                    set { ManagedProperty<String?>("title")[self] = newValue }
                                }
                                #endif
                                #if canImport(ObjectiveC)
                                @objc(pages)
                                @NSManaged var pages: NSSet!
                                #else
                                var pages: NSSet! {
                                    get { ManagedProperty<NSSet?>("pages")[self] }
                                    set { ManagedProperty<NSSet?>("pages")[self] = newValue }
                                }
                                #endif
                            }
                        }
                        """
                    ])
            }
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

                            #if !canImport(ObjectiveC)
                            required init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
                                Swift.fatalError("Use of unimplemented initializer 'init(entity:insertInto:)'")
                            }
                            #endif
                        }
                        """
                    ])
        }

        @Test("A property with another name in Objective-C is not changed")
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
    }
#endif
