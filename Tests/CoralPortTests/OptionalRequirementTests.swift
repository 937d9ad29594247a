#if Macros
    import Testing

    @testable import CoralPort

    /// Optional functions of the package's own protocols.
    @Suite struct OptionalRequirementTests {
        @Test("A function without a result that is only called gets a default implementation")
        func functionsThatAreOnlyCalled() {
            #expect(
                rewritten(
                    """
                    @objc public protocol LoaderDelegate {
                        func loaderDidBegin()
                        /// What was loaded.
                        @objc optional func loader(_ loader: Loader, didLoad items: [Item])
                        @objc optional func loaderDidEnd() -> Void
                        @objc optional var isPaused: Bool { get }
                        @objc optional func count() -> Int
                    }
                    """,
                    """
                    class Loader {
                        weak var delegate: LoaderDelegate?
                        func load() {
                            delegate?.loader?(self, didLoad: [])
                            queue.async { self.delegate?.loaderDidEnd?() }
                        }
                    }
                    class Screen: LoaderDelegate {
                        func loaderDidBegin() {}
                        func loaderDidEnd() {}
                    }
                    """) == [
                        """
                        #if canImport(ObjectiveC)
                        @objc
                        #endif
                        public protocol LoaderDelegate: AnyObject {
                            func loaderDidBegin()
                            /// What was loaded.
                            #if canImport(ObjectiveC)
                            @objc optional func loader(_ loader: Loader, didLoad items: [Item])
                            #else
                            func loader(_ loader: Loader, didLoad items: [Item])
                            #endif
                            #if canImport(ObjectiveC)
                            @objc optional func loaderDidEnd() -> Void
                            #else
                            func loaderDidEnd() -> Void
                            #endif
                            #if canImport(ObjectiveC)
                            @objc
                            #endif
                            optional var isPaused: Bool { get }
                            #if canImport(ObjectiveC)
                            @objc
                            #endif
                            optional func count() -> Int
                        }

                        #if !canImport(ObjectiveC)
                        extension LoaderDelegate {
                            public func loader(_ loader: Loader, didLoad items: [Item]) {}
                            public func loaderDidEnd() -> Void {}
                        }
                        #endif
                        """,
                        """
                        class Loader {
                            weak var delegate: LoaderDelegate?
                            func load() {
                                #if canImport(ObjectiveC)
                                delegate?.loader?(self, didLoad: [])
                                #else
                                delegate?.loader(self, didLoad: [])
                                #endif
                                #if canImport(ObjectiveC)
                                queue.async { self.delegate?.loaderDidEnd?() }
                                #else
                                queue.async { self.delegate?.loaderDidEnd() }
                                #endif
                            }
                        }
                        class Screen: LoaderDelegate {
                            func loaderDidBegin() {}
                            func loaderDidEnd() {}
                        }
                        """,
                    ])
        }

        @Test(
            "A function whose absence code can tell, or that a subclass alone implements, stays",
            arguments: [
                "func f(d: D) { if d.done != nil { d.done?() } }",
                "func f(d: D) { if d.done?() == nil {} }",
                "func f(d: D) -> Void? { return d.done?() }",
                "func f(d: D) { let done = d.done; done?() }",
                "class B: D {}; class C: B { func done() {} }",
                "extension D { func done() {} }",
                "struct Other { var done: (() -> Void)? }",
            ])
        func functionsWhoseAbsenceIsKnown(use: String) {
            let declaration = "@objc protocol D: AnyObject {\n    @objc optional func done()\n}"
            let texts = rewritten(declaration, use)
            #expect(!texts[0].contains("extension") && texts[0].contains("optional func done()\n}"))
            #expect(texts[1] == use)
        }

        @Test("Calls with labels are those of a function whose name a property has, too")
        func propertiesOfTheSameName() {
            let texts = rewritten(
                """
                @objc protocol D: AnyObject {
                    @objc optional func graph(_ graph: Graph, inserted: Node)
                    @objc optional func graph(_ graph: Graph, deleted: Node)
                }
                """,
                """
                class Watch {
                    let graph: Graph
                    weak var delegate: D?
                    func insert(_ node: Node) {
                        self.graph.count += 1
                        (delegate as? D)?.graph?(self.graph, inserted: node)
                        if delegate?.graph?(graph, deleted: node) == nil {}
                    }
                }
                """)
            #expect(texts[0].contains("extension D {\n    func graph(_ graph: Graph, inserted: Node) {}\n}"))
            #expect(texts[1].contains("#else\n        (delegate as? D)?.graph(self.graph, inserted: node)\n"))
            #expect(texts[1].contains("if delegate?.graph?(graph, deleted: node) == nil {}"))
        }

        @Test("A class that conforms by an extension or another protocol may implement it")
        func conformances() {
            let texts = rewritten(
                """
                @objc protocol D: AnyObject {
                    @objc optional func done()
                }
                """,
                "protocol E: D {}\nclass B: E { func done() {} }\nclass C {}\nextension C: D { func done() {} }")
            #expect(texts[0].contains("extension D {\n    func done() {}\n}"))
        }
    }
#endif
