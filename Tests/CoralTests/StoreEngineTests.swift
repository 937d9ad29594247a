#if !canImport(Darwin)

    import Coral
    import CoralRows
    import Foundation
    import Testing

    @Suite struct StoreEngineTests {
        /// Tests of the work on rows are omitted where there is none: it must not be missing by mistake.
        @Test func `a program that has the module for rows uses it, unless its environment forbids it`() {
            #expect(Engine.hasRows == (ProcessInfo.processInfo.environment["CORAL_ROWS"] != "0"))
            #expect((Engine.current is RowEngine) == Engine.hasRows)
        }
    }
#endif
