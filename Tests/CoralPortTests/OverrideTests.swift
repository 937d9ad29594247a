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
    }
#endif
