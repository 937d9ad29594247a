/// What a read of a store needs: one snapshot or several, and whether it may take long.
package struct ReadScope: Sendable {
    /// Whether all statements read one snapshot. Otherwise each statement reads its own.
    package let isOneState: Bool
    /// Whether the work may take long, or execute code that writes: no write of the store waits for it, where that is possible.
    package let isLasting: Bool

    package static let statements = ReadScope(isOneState: false, isLasting: false)
    package static let state = ReadScope(isOneState: true, isLasting: false)
    package static let lastingStatements = ReadScope(isOneState: false, isLasting: true)
    package static let lastingState = ReadScope(isOneState: true, isLasting: true)

    /// The same for work that may take long.
    package var lasting: ReadScope { ReadScope(isOneState: isOneState, isLasting: true) }
}
