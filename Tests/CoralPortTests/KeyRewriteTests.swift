#if Macros
    import Foundation
    import Testing

    @testable import CoralPort

    /// The rewriting of key paths, selectors and attributes of Objective-C.
    @Suite struct KeyRewriteTests {
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

        @Test("A computed property that key-value coding reads is not changed, since only Apple's platforms find it")
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

        @Test("An observer where Core Data is used stays one that its object removes")
        func ownedObservers() {
            let texts = rewritten(
                """
                import CoreData

                class Store {
                    func observe() {
                        center.addObserver(self, selector: #selector(didSave), name: .saved, object: context)
                        center.addObserver(self, selector: Selector(("merge:")), name: .saved, object: nil)
                        center.addObserver(self, selector: Selector(("missing:")), name: .saved, object: nil)
                    }
                    func didSave() {}
                    func merge(_ notification: Notification) {}
                    deinit { center.removeObserver(self) }
                }
                """,
                """
                import Foundation

                class Monitor {
                    init() {
                        center.addObserver(self, selector: #selector(changed(_:)), name: nil, object: nil)
                    }
                }
                """)
            #expect(
                texts == [
                    """
                    import CoreData

                    class Store {
                        func observe() {
                            #if canImport(ObjectiveC)
                            center.addObserver(self, selector: #selector(didSave), name: .saved, object: context)
                            #else
                            center.addObserver(self, name: .saved, object: context) { observer, _ in
                                observer.didSave()
                            }
                            #endif
                            #if canImport(ObjectiveC)
                            center.addObserver(self, selector: Selector(("merge:")), name: .saved, object: nil)
                            #else
                            center.addObserver(self, name: .saved, object: nil) { observer, notification in
                                observer.merge(notification)
                            }
                            #endif
                            center.addObserver(self, selector: Selector(("missing:")), name: .saved, object: nil)
                        }
                        func didSave() {}
                        func merge(_ notification: Notification) {}
                        deinit { center.removeObserver(self) }
                    }
                    """,
                    """
                    import CoreData
                    import Foundation

                    class Monitor {
                        init() {
                            #if canImport(ObjectiveC)
                            center.addObserver(self, selector: #selector(changed(_:)), name: nil, object: nil)
                            #else
                            center.addObserver(self, name: nil, object: nil) { observer, notification in
                                observer.changed(notification)
                            }
                            #endif
                        }
                    }
                    """,
                ])
        }

        @Test("An observer that a constant of a closure refers to")
        func observersInClosures() {
            let source = """
                import CoreData
                class Store {
                    func observe() {
                        perform { [weak self] in
                            guard let strongSelf = self else { return }
                            center.addObserver(strongSelf, selector: #selector(strongSelf.changed(note:)), name: .saved, object: nil)
                            center.addObserver(self, selector: #selector(other.changed(note:)), name: .saved, object: nil)
                        }
                    }
                    func changed(note: Notification) {}
                }
                """
            let texts = rewritten(source)
            #expect(
                texts[0].contains(
                    """
                                #else
                                center.addObserver(strongSelf, name: .saved, object: nil) { observer, notification in
                                    observer.changed(note: notification)
                                }
                                #endif
                                center.addObserver(self, selector: #selector(other.changed(note:)), name: .saved, object: nil)
                    """))
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
    }
#endif
