/// The states of an object's to-many relationships, each created when it is first needed.
///
/// Unchanged members of a batch need no state, only their position in the batch. Since most objects have at most one
/// relationship in use, the entry of the first is stored inline and an array is created for the others only.
///
/// As a collection it contains the states that have been created: nil if there is none, and so no unsaved change.
struct ToManyStates: RandomAccessCollection, ExpressibleByArrayLiteral {
    private enum Entry {
        case none
        /// Unchanged since they were loaded.
        case run(MemberBatch.Run)
        case state(ToManyState)

        var state: ToManyState? {
            @inline(__always) get { if case .state(let state) = self { state } else { nil } }
        }

        var run: MemberBatch.Run? {
            @inline(__always) get { if case .run(let run) = self { run } else { nil } }
        }
    }

    private var first = Entry.none
    // Optional, because references to the empty array would be counted for every object.
    private var others: ContiguousArray<Entry>?

    init() {}

    init(_ states: some Sequence<ToManyState?>) {
        for (index, state) in states.enumerated() { setEntry(state.map { .state($0) } ?? .none, at: index) }
    }

    init(arrayLiteral states: ToManyState?...) { self.init(states) }

    var startIndex: Int { 0 }
    var endIndex: Int {
        if let others { return others.count + 1 }
        if case .none = first { return 0 }
        return 1
    }

    /// The state of a relationship by its index in the layout; nil if none has been created, and beyond the end.
    subscript(index: Int) -> ToManyState? { entry(at: index).state }

    /// Whether a state may have been created; most changed objects have none.
    @inline(__always)
    var hasStates: Bool { first.state != nil || others != nil }

    /// Calls a function with each state that has been created.
    @inline(__always)
    func forEachMade(_ body: (ToManyState) -> Void) {
        if case .state(let state) = first { body(state) }
        guard let others else { return }
        for case .state(let state) in others { body(state) }
    }

    // MARK: - One relationship

    /// The members as part of the batch that they were loaded with; nil if they are not loaded, or have a state.
    @inline(__always)
    func run(at index: Int) -> MemberBatch.Run? {
        index == 0 ? first.run : entry(at: index).run
    }

    /// Whether a relationship is neither loaded nor changed.
    @inline(__always)
    func isUnknown(at index: Int) -> Bool {
        if case .none = entry(at: index) { true } else { false }
    }

    mutating func setRun(_ run: MemberBatch.Run, at index: Int) { setEntry(.run(run), at: index) }

    mutating func setState(_ state: ToManyState, at index: Int) { setEntry(.state(state), at: index) }

    /// The state of a relationship, created if members have been loaded with a batch; nil if they are neither
    /// loaded nor changed.
    mutating func state(at index: Int) -> ToManyState? {
        switch entry(at: index) {
        case .none: return nil
        case .state(let state): return state
        case .run(let run):
            let state = ToManyState(isLoaded: false)
            state.load(run)
            setEntry(.state(state), at: index)
            return state
        }
    }

    @inline(__always)
    private func entry(at index: Int) -> Entry {
        if index == 0 { return first }
        guard let others, index <= others.count else { return .none }
        return others[index - 1]
    }

    private mutating func setEntry(_ entry: Entry, at index: Int) {
        guard index > 0 else {
            first = entry
            return
        }
        var entries = others ?? []
        others = nil
        while entries.count < index { entries.append(.none) }
        entries[index - 1] = entry
        others = entries
    }
}
